//! Private temporary files of a launch.
//!
//! Each launch that needs files has its own directory below a base directory that only the user can access.
//! The name contains the process id, its start time and its PID namespace. The agent keeps all three because
//! it is the same process after `execve`, so a later launch can tell whether the agent still runs.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use haft_process::{process_start, reason};

use crate::error::{Error, ErrorKind};

/// Retention of files whose PID namespace is not visible.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// The directory for the files of a launch. It is created by the first write and removed on drop.
#[derive(Debug)]
pub struct LaunchFiles {
    base: PathBuf,
    path: PathBuf,
    made: bool,
    private_base: bool,
}

impl LaunchFiles {
    /// A directory that is kept until this process ends, including after `execve`.
    pub fn for_process(base: &Path) -> LaunchFiles {
        let pid = std::process::id();
        let start = process_start(pid.cast_signed()).unwrap_or_default();
        LaunchFiles::named(base, &format!("launch-{pid}-{start}-{}-{:016x}", pid_namespace(), random()))
    }

    /// A directory that the user names. It must not exist.
    pub fn saved_in(path: &Path) -> LaunchFiles {
        let base = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        LaunchFiles { base, path: path.to_path_buf(), made: false, private_base: false }
    }

    fn named(base: &Path, name: &str) -> LaunchFiles {
        LaunchFiles { base: base.to_path_buf(), path: base.join(name), made: false, private_base: true }
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a file in the directory.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let cannot = |error: io::Error| {
            let message = format!("cannot write '{}': {}", path.display(), reason(&error));
            Error::new(ErrorKind::File, message)
        };
        if !self.made {
            if self.private_base {
                private_directory(&self.base).map_err(cannot)?;
            }
            DirBuilder::new().mode(0o700).create(&self.path).map_err(cannot)?;
            self.made = true;
        }
        let mut file: File =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(cannot)?;
        file.write_all(bytes).map_err(cannot)
    }

    /// Keeps the directory on drop.
    pub fn keep(mut self) {
        self.made = false;
    }
}

impl Drop for LaunchFiles {
    /// Not reached after a successful `execve`, so the agent keeps its files.
    fn drop(&mut self) {
        if self.made {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Creates a directory with mode 0700, or checks that the existing one is private.
fn private_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let metadata = fs::symlink_metadata(path)?;
    let own = fs::metadata("/proc/self")?.uid();
    if !metadata.is_dir() || metadata.uid() != own || metadata.mode() & 0o022 != 0 {
        let why = format!("'{}' is not private", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// Removes directories of launches whose agents have ended. Returns how many were removed.
pub fn remove_stale_files(base: &Path) -> usize {
    if private_directory_exists(base).is_err() {
        return 0;
    }
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let stale =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| is_stale(name, &entry.path())));
    stale.filter(|entry| fs::remove_dir_all(entry.path()).is_ok()).count()
}

fn private_directory_exists(base: &Path) -> io::Result<()> {
    fs::symlink_metadata(base)?;
    private_directory(base)
}

/// Returns true if the owner of the directory has ended, or if the directory is too old.
fn is_stale(name: &str, path: &Path) -> bool {
    let Some(rest) = name.strip_prefix("launch-") else { return false };
    let mut fields = rest.split('-');
    let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok());
    let (Some(pid), Some(start), Some(namespace)) = (number(), number(), number()) else { return false };
    if namespace != pid_namespace() {
        return is_old(path);
    }
    i32::try_from(pid).ok().and_then(process_start) != Some(start)
}

fn is_old(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > MAX_AGE))
}

/// Inode of the PID namespace of this process.
fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino())
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_private_and_removed_with_their_process() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().join("haft");
        let mut files = LaunchFiles::for_process(&base);
        assert!(!base.exists(), "nothing is made before it is needed");
        let path = files.path().join("prompt.md");
        files.write(&path, b"text").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(files.path()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(remove_stale_files(&base), 0, "we are still here");
        let pid = std::process::id();
        let namespace = pid_namespace();
        for name in [
            format!("launch-{pid}-1-{namespace}-0"),
            format!("launch-4194399-1-{namespace}-0"),
            format!("launch-1-1-{}-0", namespace + 1),
            "launch-x".to_owned(),
            "run-1-abc".to_owned(),
        ] {
            fs::create_dir(base.join(name)).unwrap();
        }
        assert_eq!(remove_stale_files(&base), 2, "one of another start, one of no process");
        assert_eq!(fs::read_dir(&base).unwrap().count(), 4);
        drop(files);
        assert!(!path.exists());
    }

    #[test]
    fn a_base_directory_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let base = tempfile::tempdir().unwrap();
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut files = LaunchFiles::for_process(base.path());
        let path = files.path().join("x");
        assert!(files.write(&path, b"").is_err());
        assert_eq!(remove_stale_files(base.path()), 0);
    }
}
