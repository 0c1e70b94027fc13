//! File systems: local, in memory, and mounted.
//!
//! haft accesses files by path only through the trait [`FileSystem`]. There are five implementations:
//!
//! - [`Local`]: the files of the machine;
//! - [`Rooted`]: the files below another root directory, such as that of a mount namespace, or confined to a directory;
//! - [`Guarded`]: the files of the machine as far as [rules](FileRules) allow;
//! - [`Memory`]: a tree in memory with a budget in bytes. Writes beyond the budget fail with "No space left on device";
//! - [`Mounts`]: several file systems under one root. The mount point with the longest prefix determines the file system.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::path::Path;
//! use std::sync::Arc;
//! use haft_fs::{FileSystem, Local, Memory, Mounts, OpenOptions};
//!
//! # fn main() -> std::io::Result<()> {
//! let files = Mounts::new(Arc::new(Memory::new(1 << 20))).mount("/tmp", Arc::new(Local), "/tmp");
//!
//! let mut note = files.open(Path::new("/note"), &OpenOptions::new().write(true).create(true))?;
//! note.write_all(b"kept in memory")?;
//!
//! let mut text = String::new();
//! files.open(Path::new("/note"), &OpenOptions::new().read(true))?.read_to_string(&mut text)?;
//! assert_eq!(text, "kept in memory");
//!
//! assert_eq!(files.real_path(Path::new("/note")), None);
//! assert_eq!(files.real_path(Path::new("/tmp/x")).as_deref(), Some(Path::new("/tmp/x")));
//! # Ok(())
//! # }
//! ```
//!
//! # Paths
//!
//! Paths must be absolute, because the working directory belongs to a session and not to the process. Relative paths are
//! rejected with `EINVAL`. `.`, `..`, repeated and trailing slashes have the meaning of `path_resolution(7)`: `..` is the
//! parent of the directory before it, after symbolic links were followed.
//!
//! # Real and virtual files
//!
//! [`FileSystem::real_path`] returns the path of a file on the machine, or `None` if other programs cannot open it. An open
//! [`File`] is either a descriptor or a virtual file.
//!
//! # Errors
//!
//! All file systems return [`std::io::Error`]s with errno values, so their messages are those of the system. [`message`]
//! returns the text without the number.
//!
//! # Limits
//!
//! [`Memory`] has a single user, so only the owner's permission bits apply. It has no sockets and no named pipes. [`Mounts`] follows symbolic links itself, so that targets can be in other mounts. Another program may change a link
//! between its resolution and the operation, so mounts are a namespace and not a sandbox.

mod error;
mod file;
mod guarded;
mod local;
mod memory;
mod metadata;
mod mounts;
mod options;
mod path;
mod rooted;
mod size;
mod times;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

pub use error::message;
pub use file::{File, VirtualFile};
pub use guarded::{FileRules, Guarded, GuardedAccess};
pub use local::Local;
pub use memory::Memory;
pub use metadata::{DirEntry, FileType, Metadata, Timestamp, descriptor_metadata};
pub use mounts::Mounts;
pub use options::{AccessMode, OpenOptions};
pub use rooted::Rooted;
pub use size::ByteSize;
pub use times::{FileTimes, TimeChange};

/// The entries of a directory, in any order, without `.` and `..`.
pub type DirectoryEntries = Box<dyn Iterator<Item = io::Result<DirEntry>> + Send>;

/// Operations on files by path. All paths are absolute.
pub trait FileSystem: Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// Fails like `open(2)`.
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File>;

    /// Returns the metadata of the file at `path`. Follows symbolic links.
    ///
    /// # Errors
    /// Fails like `stat(2)`.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// Returns the metadata of the file at `path`. Does not follow a symbolic link at the end of the path.
    ///
    /// # Errors
    /// Fails like `lstat(2)`.
    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// Returns the entries of the directory at `path`.
    ///
    /// # Errors
    /// Fails like `open(2)` of a directory.
    fn read_dir(&self, path: &Path) -> io::Result<DirectoryEntries>;

    /// Checks whether the effective user has all of the permissions in `access`.
    ///
    /// # Errors
    /// Fails like `faccessat(2)` with `AT_EACCESS`.
    fn access(&self, path: &Path, access: AccessMode) -> io::Result<()>;

    /// Creates a directory with exactly these permission bits, independent of the process's umask.
    ///
    /// # Errors
    /// Fails like `mkdir(2)`.
    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Creates a symbolic link at `path`.
    ///
    /// # Errors
    /// Fails like `symlink(2)`.
    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()>;

    /// Creates another name for the file at `from`. Does not follow a symbolic link at the end of `from`.
    ///
    /// # Errors
    /// Fails like `link(2)`.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Sets the permission bits, exactly. Follows symbolic links.
    ///
    /// # Errors
    /// Fails like `chmod(2)`.
    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Sets the times of a file.
    ///
    /// # Errors
    /// Fails like `utimensat(2)`.
    fn set_times(&self, path: &Path, times: &FileTimes) -> io::Result<()>;

    /// Sets the owner and the group. Does not follow a symbolic link at the end of the path.
    ///
    /// # Errors
    /// Fails like `lchown(2)`.
    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> io::Result<()>;

    /// Removes a file, a symbolic link or an empty directory.
    ///
    /// # Errors
    /// Fails like `unlink(2)` and `rmdir(2)`.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// Fails like `rmdir(2)`.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Renames a file. Replaces an existing file at the new path.
    ///
    /// # Errors
    /// Fails like `rename(2)`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns the target of a symbolic link.
    ///
    /// # Errors
    /// Fails like `readlink(2)`.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the time when the file was created. `None` if the file system does not keep it. Does not follow a symbolic
    /// link at the end of the path unless `follow` is set.
    ///
    /// # Errors
    /// Fails like `statx(2)`.
    fn birth_time(&self, path: &Path, follow: bool) -> io::Result<Option<Timestamp>>;

    /// Returns the path without symbolic links, `.` and `..`.
    ///
    /// # Errors
    /// Fails like `realpath(3)`.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the path on the machine, or `None` if the path is virtual. The file need not exist.
    fn real_path(&self, path: &Path) -> Option<PathBuf>;

    /// Whether a file exists at `path`. Follows symbolic links.
    fn exists(&self, path: &Path) -> bool {
        self.metadata(path).is_ok()
    }

    /// Whether `path` is a directory. Follows symbolic links.
    fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }
}
