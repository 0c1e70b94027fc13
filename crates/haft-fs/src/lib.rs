//! Opens, lists and tests files: real, in memory, mounted.
//!
//! Everything haft does with a file by its path goes through one small trait, [`FileSystem`]. Three
//! implementations come with it:
//!
//! - [`Local`], the machine's own files;
//! - [`Memory`], a tree in memory with a byte budget, where a write beyond the budget fails with the system's
//!   own "No space left on device";
//! - [`Mounts`], several of them under one root, the longest prefix deciding.
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
//! Paths are bytes, and absolute: a working directory is a field of whoever has one, never of the process. A relative path
//! is refused as invalid input. `.`, `..`, repeated and trailing slashes mean what they mean to the system: `..` is the
//! parent of what stands before it, symbolic links followed.
//!
//! # Real and virtual
//!
//! A path knows whether it is real: [`FileSystem::real_path`] answers where on the machine it is, or `None` if an
//! external program could not open it. An open [`File`] is either a descriptor or a virtual file.
//!
//! # Errors
//!
//! Errors are [`std::io::Error`]s with the system's numbers, also from memory, so what is printed reads like the
//! system's: [`message`] gives the bare text.
//!
//! # Limits
//!
//! [`Memory`] has one user, to whom everything belongs: permission is decided by the owner's bits. It has no sockets,
//! no named pipes and no hard links. [`Mounts`] follows symbolic links itself, so that a link's
//! target is looked up among the mounts; between that and the operation another program may change the link, so this is
//! a namespace and not a confinement.

mod error;
mod file;
mod local;
mod memory;
mod metadata;
mod mounts;
mod options;
mod path;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

pub use error::message;
pub use file::{File, VirtualFile};
pub use local::Local;
pub use memory::Memory;
pub use metadata::{DirEntry, FileType, Metadata, Timestamp, descriptor_metadata};
pub use mounts::Mounts;
pub use options::{Access, OpenOptions};

/// The entries of a directory, in no order, without `.` and `..`.
pub type Entries = Box<dyn Iterator<Item = io::Result<DirEntry>> + Send>;

/// What can be done with files by their paths. All paths are absolute.
pub trait FileSystem: Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// As `open(2)`.
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File>;

    /// What is at `path`, symbolic links followed.
    ///
    /// # Errors
    /// As `stat(2)`.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// What is at `path`; of a symbolic link, the link itself.
    ///
    /// # Errors
    /// As `lstat(2)`.
    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// The entries of the directory at `path`.
    ///
    /// # Errors
    /// As `open(2)` of a directory.
    fn read_dir(&self, path: &Path) -> io::Result<Entries>;

    /// Whether the effective user may do all of `access`.
    ///
    /// # Errors
    /// As `faccessat(2)` with `AT_EACCESS`.
    fn access(&self, path: &Path, access: Access) -> io::Result<()>;

    /// Makes a directory with exactly these permission bits, whatever the process's own mask.
    ///
    /// # Errors
    /// As `mkdir(2)`.
    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Makes a symbolic link at `path`.
    ///
    /// # Errors
    /// As `symlink(2)`.
    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()>;

    /// Removes a file, a symbolic link or an empty directory.
    ///
    /// # Errors
    /// As `unlink(2)` and `rmdir(2)`.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another path, replacing what may be there.
    ///
    /// # Errors
    /// As `rename(2)`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// What a symbolic link points to.
    ///
    /// # Errors
    /// As `readlink(2)`.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// The one path of what is at `path`, without symbolic links, `.` and `..`.
    ///
    /// # Errors
    /// As `realpath(3)`.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;

    /// Where on the machine `path` is, whether or not anything is there; `None` if it is virtual.
    fn real_path(&self, path: &Path) -> Option<PathBuf>;

    /// Whether anything is at `path`, symbolic links followed.
    fn exists(&self, path: &Path) -> bool {
        self.metadata(path).is_ok()
    }

    /// Whether a directory is at `path`, symbolic links followed.
    fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }
}
