//! Where things of haft are, found from what haft was started with.

use std::path::{Path, PathBuf};

use haft_config::{Places, Sources};

use crate::surroundings::Surroundings;

/// The places of the installation, the user and the project.
pub(crate) fn find(surroundings: &Surroundings) -> Places {
    let variable = |name| surroundings.variable(name).map(Path::new);
    let system = variable("HAFT_LIBEXEC").map(Path::to_path_buf).or_else(beside_the_program);
    Places::find(&Sources {
        system: system.as_deref(),
        home: variable("HOME"),
        config_home: variable("XDG_CONFIG_HOME"),
        state_home: variable("XDG_STATE_HOME"),
        cache_home: variable("XDG_CACHE_HOME"),
        working_directory: surroundings.working_directory.as_deref(),
    })
}

/// `libexec/haft` beside the directory of the program; else that directory itself, unless it is one where programs of
/// everybody are.
fn beside_the_program() -> Option<PathBuf> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let directory = program.parent()?;
    let shared = directory.file_name().is_some_and(|name| name == "bin" || name == "sbin");
    let libexec = directory.parent().map(|above| above.join("libexec/haft"));
    if shared { libexec } else { libexec.filter(|place| place.is_dir()).or(Some(directory.to_path_buf())) }
}
