//! Whose files are read, as `ssh` (`StrictModes`) and `git` (`safe.directory`) ask it.
//!
//! A file that is found rather than named may have been put there by another user of the machine: in `/tmp`, in a shared
//! directory, in a directory that everybody may write to. So the file and every directory above it must belong to the user
//! or to root, and nobody else may write to them. In a directory with the sticky bit others may add files of their own,
//! but cannot replace the user's.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::FileError;
use crate::printable::printable;

const GROUP_WRITE: u32 = 0o020;
const WORLD_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;
const GROUP_OR_WORLD: u32 = 0o077;
/// Groups below this number administer the machine (`staff`, `wheel`, `adm`); people are not put into them lightly.
const FIRST_ORDINARY_GROUP: u32 = 100;

/// The users whose files are read, and the directories that are exempt.
#[derive(Clone)]
pub struct Owners {
    users: Vec<u32>,
    /// Asked only when something would be refused.
    exempt: Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>,
    /// The number that stands for users outside this user namespace, if it is not the machine's own.
    unmapped: Option<u32>,
}

impl Owners {
    /// The user of this process, and root.
    pub fn of_process() -> Owners {
        let user = rustix::process::geteuid().as_raw();
        Owners { users: vec![user, 0], exempt: Arc::new(Vec::new), unmapped: unmapped_user() }
    }

    /// The same, with the owner of the file that this process runs: its owner decides what haft does anyway.
    #[must_use]
    pub fn or_of_program(mut self) -> Owners {
        self.users.extend(std::fs::metadata("/proc/self/exe").map(|metadata| metadata.uid()));
        self
    }

    /// The same, except for these directories and everything beneath them. The function is called only when something
    /// would be refused.
    #[must_use]
    pub fn except(mut self, directories: impl Fn() -> Vec<PathBuf> + Send + Sync + 'static) -> Owners {
        self.exempt = Arc::new(directories);
        self
    }

    /// Checks a file or directory, and every directory above it, with all symbolic links followed.
    ///
    /// # Errors
    /// If one of them belongs to somebody else, or others may write to it.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        let real = path.canonicalize().map_err(|error| FileError::from_io(path, error))?;
        self.check_real(path, &real)
    }

    /// Checks in addition that nobody else may read the file, as is due for a secret.
    ///
    /// # Errors
    /// As [`check`](Owners::check), or if the file can be read by its group or by everybody.
    pub fn check_secret(&self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        let metadata = path.metadata().map_err(|error| FileError::from_io(path, error))?;
        if metadata.mode() & GROUP_OR_WORLD == 0 {
            return Ok(());
        }
        let reason = format!("other users may read it (mode {:04o})", metadata.mode() & 0o7777);
        Err(FileError::unsafe_place(path, reason, format!("chmod 600 '{}'", printable(path))))
    }

    pub(super) fn check_real(&self, path: &Path, real: &Path) -> Result<(), FileError> {
        for place in real.ancestors() {
            let metadata = place.symlink_metadata().map_err(|error| FileError::from_io(path, error))?;
            let on_the_way = place != real;
            if let Some(fault) = self.fault(&metadata, on_the_way) {
                let exempt = (self.exempt)().iter().any(|exempt| real.starts_with(exempt));
                return if exempt { Ok(()) } else { Err(refusal(path, real, place, &fault)) };
            }
        }
        Ok(())
    }

    fn fault(&self, metadata: &Metadata, on_the_way: bool) -> Option<OwnershipProblem> {
        let (owner, mode) = (metadata.uid(), metadata.mode());
        let known = self.users.contains(&owner) || (on_the_way && self.unmapped == Some(owner));
        if !known {
            return Some(OwnershipProblem::Foreign(owner));
        }
        let sticky = metadata.is_dir() && mode & STICKY != 0;
        let group = mode & GROUP_WRITE != 0 && !is_own_group(metadata.gid(), owner);
        if sticky || (!group && mode & WORLD_WRITE == 0) {
            return None;
        }
        Some(OwnershipProblem::Writable(mode & 0o7777))
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Owners").field("users", &self.users).finish_non_exhaustive()
    }
}

/// Whether a group adds nobody: the private group of a user has the user's number, and on what root owns, groups of
/// administrators may write.
fn is_own_group(group: u32, owner: u32) -> bool {
    group == owner || (owner == 0 && group < FIRST_ORDINARY_GROUP)
}

/// What is wrong with a place.
enum OwnershipProblem {
    Foreign(u32),
    Writable(u32),
}

/// Says what is wrong with a place on the way to a file, and how to allow the narrowest directory that helps.
fn refusal(path: &Path, real: &Path, place: &Path, fault: &OwnershipProblem) -> FileError {
    let shown = printable(place);
    let subject = if place == real { "it".to_owned() } else { format!("\"{shown}\"") };
    let (reason, hint) = match fault {
        OwnershipProblem::Foreign(owner) => {
            (format!("{subject} belongs to another user ({owner})"), "if you trust its owner".to_owned())
        }
        OwnershipProblem::Writable(mode) => (
            format!("other users may write to {subject} (mode {mode:04o})"),
            format!("run `chmod go-w '{shown}'`, or if you trust all who may"),
        ),
    };
    let directory = if real.is_dir() { real } else { real.parent().unwrap_or(real) };
    let hint = format!("{hint}, run `haft trust --owner '{}'`", printable(directory));
    FileError::unsafe_place(path, reason, hint)
}

/// In a user namespace of its own, a process sees the files of all users outside it as those of one user. A directory on
/// the way may be such a one; what lies in it has to belong to the user all the same.
fn unmapped_user() -> Option<u32> {
    static USER: OnceLock<Option<u32>> = OnceLock::new();
    *USER.get_or_init(find_unmapped_user)
}

fn find_unmapped_user() -> Option<u32> {
    let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    let numbers: Vec<&str> = map.split_whitespace().collect();
    if numbers == ["0", "0", "4294967295"] {
        return None;
    }
    std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()
}
