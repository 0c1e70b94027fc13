//! Finding tools: which files may be some, and what they say when asked.

mod ask;
mod cache;
mod prober;
mod stamp;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use haft_config::Layer;

pub(crate) use ask::{Ask, end_rest};
pub(crate) use prober::{Probe, Prober};
pub(crate) use stamp::Stamp;

use crate::tool::name_of_file;

/// A file that would be a tool, by its name and mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) layer: Layer,
    pub(crate) path: PathBuf,
}

/// All candidates in the directories, in the order in which later ones win. A directory that is missing has none.
pub(crate) fn scan(directories: &[(Layer, PathBuf)]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (layer, directory) in directories {
        let entries = directory.read_dir().into_iter().flatten().flatten();
        let mut here: Vec<Candidate> = entries
            .filter_map(|entry| {
                let name = name_of_file(entry.file_name().to_str()?)?;
                let path = entry.path();
                is_executable(&path).then_some(Candidate { name, layer: *layer, path })
            })
            .collect();
        here.sort_by(|one, other| one.path.cmp(&other.path));
        found.extend(here);
    }
    found
}

/// The candidates of one name, the one that wins first. Only where none has the usual file name are directories read.
pub(crate) fn scan_for(name: &str, directories: &[(Layer, PathBuf)]) -> Vec<Candidate> {
    let mut usual = [format!("{}-tool", name.replace('_', "-")), format!("{name}-tool")].to_vec();
    usual.dedup();
    let mut found = Vec::new();
    for (layer, directory) in directories.iter().rev() {
        let paths = usual.iter().map(|file| directory.join(file)).filter(|path| is_executable(path));
        found.extend(paths.map(|path| Candidate { name: name.to_owned(), layer: *layer, path }));
    }
    if found.is_empty() {
        found = scan(directories).into_iter().filter(|candidate| candidate.name == name).collect();
        found.reverse();
    }
    found
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
