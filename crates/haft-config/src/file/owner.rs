//! Ownership checks, like those of `ssh` (`StrictModes`) and `git` (`safe.directory`).
//!
//! Another user may have planted a file that haft finds by searching, for example in `/tmp` or a shared
//! directory. Therefore the file and every directory above it must belong to the user or to root, and other
//! users must not be able to write to them. In a directory with the sticky bit, other users may add files but
//! not replace the user's.

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
/// System groups (`staff`, `wheel`, `adm`) have numbers below this one. Their members administer the machine.
const FIRST_ORDINARY_GROUP: u32 = 100;

/// Users whose files are accepted, and directories that are exempt from the check.
#[derive(Clone)]
pub struct Owners {
    users: Vec<u32>,
    /// Called only when a file would be refused.
    exempt: Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>,
    /// The user id that stands for unmapped users, if this process is in a user namespace.
    unmapped: Option<u32>,
}

impl Owners {
    /// Accepts the effective user of this process and root.
    pub fn of_process() -> Owners {
        let user = rustix::process::geteuid().as_raw();
        Owners { users: vec![user, 0], exempt: Arc::new(Vec::new), unmapped: unmapped_user() }
    }

    /// Exempts these directories and everything beneath them. The function is called only when a file would
    /// be refused.
    #[must_use]
    pub fn except(mut self, directories: impl Fn() -> Vec<PathBuf> + Send + Sync + 'static) -> Owners {
        self.exempt = Arc::new(directories);
        self
    }

    /// Checks a file or directory, and every directory above it, after resolving symbolic links.
    ///
    /// # Errors
    /// Fails if one of them belongs to another user, or if other users may write to it.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        let real = path.canonicalize().map_err(|error| FileError::from_io(path, error))?;
        self.check_real(path, &real)
    }

    /// Like [`check`](Owners::check), and also requires that only the owner may read the file.
    ///
    /// # Errors
    /// Fails as [`check`](Owners::check), or if the group or other users may read the file.
    pub fn check_secret(&self, path: &Path) -> Result<(), FileError> {
        self.check(path)?;
        let metadata = path.metadata().map_err(|error| FileError::from_io(path, error))?;
        if metadata.mode() & GROUP_OR_WORLD == 0 {
            return Ok(());
        }
        let reason = format!("other users may read it (mode {:04o})", metadata.mode() & 0o7777);
        Err(FileError::unsafe_file(path, reason, format!("chmod 600 '{}'", printable(path))))
    }

    pub(super) fn check_real(&self, path: &Path, real: &Path) -> Result<(), FileError> {
        for component in real.ancestors() {
            let metadata = component.symlink_metadata().map_err(|error| FileError::from_io(path, error))?;
            let is_parent = component != real;
            if let Some(problem) = self.problem(&metadata, is_parent) {
                let exempt = (self.exempt)().iter().any(|exempt| real.starts_with(exempt));
                return if exempt { Ok(()) } else { Err(refusal(path, real, component, &problem)) };
            }
        }
        Ok(())
    }

    fn problem(&self, metadata: &Metadata, is_parent: bool) -> Option<OwnershipProblem> {
        let (owner, mode) = (metadata.uid(), metadata.mode());
        let known = self.users.contains(&owner) || (is_parent && self.unmapped == Some(owner));
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

/// Returns true if write access of this group adds no other user: a user's private group has the user's
/// number, and for root's files, system groups are accepted.
fn is_own_group(group: u32, owner: u32) -> bool {
    group == owner || (owner == 0 && group < FIRST_ORDINARY_GROUP)
}

/// Why a file or directory is refused.
enum OwnershipProblem {
    Foreign(u32),
    Writable(u32),
}

/// Creates the error for a path component. The hint allows the narrowest directory that helps.
fn refusal(path: &Path, real: &Path, component: &Path, problem: &OwnershipProblem) -> FileError {
    let shown = printable(component);
    let subject = if component == real { "it".to_owned() } else { format!("'{shown}'") };
    let (reason, hint) = match problem {
        OwnershipProblem::Foreign(owner) => {
            (format!("{subject} belongs to another user ({owner})"), "if you trust its owner".to_owned())
        }
        OwnershipProblem::Writable(mode) => (
            format!("other users may write to {subject} (mode {mode:04o})"),
            format!("run `chmod go-w '{shown}'`, or if you trust everyone who may"),
        ),
    };
    let directory = if real.is_dir() { real } else { real.parent().unwrap_or(real) };
    let hint = format!("{hint}, run `haft trust --owner '{}'`", printable(directory));
    FileError::unsafe_file(path, reason, hint)
}

/// The user id that stands for unmapped users. In a user namespace, files of all users outside it appear
/// under this id. Directories above a file may belong to it, but not the file itself.
fn unmapped_user() -> Option<u32> {
    static UNMAPPED: OnceLock<Option<u32>> = OnceLock::new();
    *UNMAPPED.get_or_init(find_unmapped_user)
}

fn find_unmapped_user() -> Option<u32> {
    let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    let numbers: Vec<&str> = map.split_whitespace().collect();
    if numbers == ["0", "0", "4294967295"] {
        return None;
    }
    std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()
}
