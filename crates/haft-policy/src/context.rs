//! The places that patterns refer to.

use std::path::{Path, PathBuf};

/// The directories behind `./`, `~/` and the variables of path patterns. This crate never reads the environment, so
/// the caller supplies them.
#[derive(Clone, Debug, Default)]
pub struct PolicyContext {
    /// The root of the project: `./` and `$project`.
    pub project: Option<PathBuf>,
    /// The home directory: `~/` and `$home`.
    pub home: Option<PathBuf>,
    /// Directories for temporary files: `$temp`.
    pub temp: Vec<PathBuf>,
    /// The directory with the repository's data, which for a worktree is outside the project: `$git`.
    pub git: Option<PathBuf>,
}

/// Devices without lasting content, which every program may expect to write: `$devices`.
pub(crate) const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/fd",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/proc/self/fd",
];

/// The variables of path patterns.
pub(crate) const VARIABLES: &[&str] = &["project", "home", "temp", "git", "devices"];

impl PolicyContext {
    /// Returns the directories of a variable; `None` if there is no such variable.
    pub(crate) fn variable(&self, name: &str) -> Option<Vec<PathBuf>> {
        let one = |path: &Option<PathBuf>| path.iter().cloned().collect();
        Some(match name {
            "project" => one(&self.project),
            "home" => one(&self.home),
            "temp" => self.temp.clone(),
            "git" => one(&self.git),
            "devices" => DEVICES.iter().map(PathBuf::from).collect(),
            _ => return None,
        })
    }

    /// Whether commands of a run usually can change a file: it is in the project or among temporary files.
    pub(crate) fn is_changeable(&self, path: &Path) -> bool {
        self.project.iter().chain(&self.temp).any(|directory| path.starts_with(directory))
    }
}
