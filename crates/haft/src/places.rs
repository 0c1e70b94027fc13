//! The directories of haft: installation, user, project.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use haft_config::trust::TrustStore;
use haft_config::{Directories, DirectoryInputs};

use crate::failure::{print_hint, print_message};
use crate::process_context::ProcessContext;

/// The directories of the installation, the user and the project. A project that another user could have written is left
/// out, with one message.
pub(crate) fn find(process: &ProcessContext) -> Directories {
    let mut places = unchecked(process);
    let trust = TrustStore::open(places.state.as_deref());
    places.project = places.project.filter(|project| is_safe(project, &trust));
    places
}

fn is_safe(project: &Path, trust: &TrustStore) -> bool {
    static WARNED: AtomicBool = AtomicBool::new(false);
    let Err(error) = trust.owners().check(project) else { return true };
    if !WARNED.swap(true, Ordering::Relaxed) {
        let shown = haft_config::printable(project);
        print_message(format_args!("the project '{shown}' is ignored: {}", error.reason()));
        error.hint().iter().for_each(print_hint);
    }
    false
}

/// The same directories without the check of the project's owner.
pub(crate) fn unchecked(process: &ProcessContext) -> Directories {
    let variable = |name| process.variable(name).map(Path::new);
    let system = variable("HAFT_LIBEXEC").map(Path::to_path_buf).or_else(installation_directory);
    Directories::resolve(&DirectoryInputs {
        system: system.as_deref(),
        home: variable("HOME"),
        config_home: variable("XDG_CONFIG_HOME"),
        state_home: variable("XDG_STATE_HOME"),
        cache_home: variable("XDG_CACHE_HOME"),
        working_directory: process.working_directory.as_deref(),
    })
}

/// The installation directory: `libexec/haft` beside the program, or beside the program's directory.
fn installation_directory() -> Option<PathBuf> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let above = program.ancestors().skip(1).take(2);
    above.map(|directory| directory.join("libexec/haft")).find(|directory| directory.is_dir())
}
