//! The files of the machine below another root directory.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::fail;
use crate::local::{self, Local};
use crate::metadata::{from_stat, system_birth_time};
use crate::path::{require_absolute, requires_directory};
use crate::{
    AccessMode, DirectoryEntries, File, FileSystem, FileTimes, FileType, Metadata, OpenOptions, Timestamp,
};

/// The files below a root directory other than that of this process, such as the root of a mount namespace.
///
/// Absolute paths, symbolic links and `..` are resolved below that root, with `openat2(2)`, so that no path leads out of it.
#[derive(Debug)]
pub struct Rooted {
    root: OwnedFd,
    /// Whether nothing outside the root can be reached.
    is_confined: bool,
}

impl Rooted {
    /// Uses the root directory of a mount namespace, which may be opened with `O_PATH`. `/proc` and `/dev` are those of this
    /// process: their links to open files cannot be followed from another root.
    #[must_use]
    pub fn new(root: OwnedFd) -> Rooted {
        Rooted { root, is_confined: false }
    }

    /// Confines all paths to the directory `root`. Device files and sockets in it cannot be opened. Paths of this file system
    /// are not paths of the machine, so programs cannot open them.
    #[must_use]
    pub fn confined(root: OwnedFd) -> Rooted {
        Rooted { root, is_confined: true }
    }

    /// Opens a directory by its path on the machine, and confines all paths to it.
    ///
    /// # Errors
    /// Fails like `open(2)` of a directory.
    pub fn open_confined(directory: &Path) -> io::Result<Rooted> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self::confined(rustix::fs::open(directory, flags, Mode::empty())?))
    }

    /// Whether the path is in a file system that is the same in every mount namespace of this machine, and whose links refer to
    /// this process.
    pub(crate) fn is_of_process(&self, path: &Path) -> bool {
        !self.is_confined && (path.starts_with("/proc") || path.starts_with("/dev"))
    }

    fn open_below(&self, path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        loop {
            let opened = rustix::fs::openat2(
                self.root.as_fd(),
                path,
                flags | OFlags::CLOEXEC,
                mode,
                ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
            );
            match opened {
                // A directory on the way was moved meanwhile.
                Err(Errno::AGAIN) => {}
                other => return other,
            }
        }
    }

    /// A handle of the file at `path`, which is neither read nor written.
    pub(crate) fn handle(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.open_below(path, OFlags::PATH | flags, Mode::empty())
    }

    /// A handle of the directory that contains `path`, and the name in it.
    pub(crate) fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        require_absolute(path)?;
        let bytes = path.as_os_str().as_bytes();
        let end = bytes.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
        let start = bytes[..end].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        // A trailing slash stays: the system checks that the name is a directory.
        let (parent, name) = (OsStr::from_bytes(&bytes[..start]), OsStr::from_bytes(&bytes[start..]));
        match name.as_bytes() {
            b"" => fail(Errno::BUSY),
            _ => Ok((self.handle(Path::new(parent), OFlags::DIRECTORY)?, name)),
        }
    }
}

impl FileSystem for Rooted {
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.open(path, options);
        }
        let open = || local::open_with(options, |flags, mode| self.open_below(path, flags, mode));
        if !self.is_confined {
            return open();
        }
        if let Ok(handle) = self.handle(path, OFlags::empty()) {
            refuse_device(from_stat(&rustix::fs::fstat(handle)?).kind)?;
        }
        // Another process may have moved a device there meanwhile.
        let file = open()?;
        refuse_device(file.metadata()?.kind)?;
        Ok(file)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.metadata(path);
        }
        Ok(from_stat(&rustix::fs::fstat(self.handle(path, OFlags::empty())?)?))
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.symlink_metadata(path);
        }
        let follow = if requires_directory(path) { OFlags::empty() } else { OFlags::NOFOLLOW };
        Ok(from_stat(&rustix::fs::fstat(self.handle(path, follow)?)?))
    }

    fn read_dir(&self, path: &Path) -> io::Result<DirectoryEntries> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.read_dir(path);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        local::entries_of(self.open_below(path, flags, Mode::empty())?)
    }

    fn access(&self, path: &Path, access: AccessMode) -> io::Result<()> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.access(path, access);
        }
        let handle = self.handle(path, OFlags::empty())?;
        Local.access(&own_link(&handle), access)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        create_dir_at(&parent, name, mode)
    }

    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::symlinkat(target, &parent, name)?)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_parent, from_name) = self.parent(from)?;
        let (to_parent, to_name) = self.parent(to)?;
        Ok(rustix::fs::linkat(&from_parent, from_name, &to_parent, to_name, AtFlags::empty())?)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.set_permissions(path, mode);
        }
        Local.set_permissions(&own_link(&self.handle(path, OFlags::empty())?), mode)
    }

    fn set_times(&self, path: &Path, times: &FileTimes) -> io::Result<()> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.set_times(path, times);
        }
        if times.keep_link && !requires_directory(path) {
            let (parent, name) = self.parent(path)?;
            return Ok(rustix::fs::utimensat(&parent, name, &times.to_system(), local::last_link(false))?);
        }
        let handle = self.handle(path, OFlags::empty())?;
        Local.set_times(&own_link(&handle), &FileTimes { keep_link: false, ..*times })
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        require_absolute(path)?;
        let follow = if requires_directory(path) { OFlags::empty() } else { OFlags::NOFOLLOW };
        local::set_owner_at(self.handle(path, follow)?, c"", uid, gid, AtFlags::EMPTY_PATH)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        local::remove_with(|flags| rustix::fs::unlinkat(&parent, name, flags))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_parent, from_name) = self.parent(from)?;
        let (to_parent, to_name) = self.parent(to)?;
        Ok(rustix::fs::renameat(&from_parent, from_name, &to_parent, to_name)?)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        if self.is_of_process(path) {
            return Local.read_link(path);
        }
        let (parent, name) = self.parent(path)?;
        let target = rustix::fs::readlinkat(&parent, name, Vec::new())?;
        Ok(std::ffi::OsString::from_vec(target.into_bytes()).into())
    }

    fn birth_time(&self, path: &Path, follow: bool) -> io::Result<Option<Timestamp>> {
        require_absolute(path)?;
        let follow = follow || requires_directory(path);
        let handle = self.handle(path, if follow { OFlags::empty() } else { OFlags::NOFOLLOW })?;
        system_birth_time(&handle, Path::new(""), AtFlags::EMPTY_PATH)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        if self.is_of_process(path) {
            return Local.canonicalize(path);
        }
        // The system names an open file by its path below the root of its mount namespace.
        let whole = Local.read_link(&own_link(&self.handle(path, OFlags::empty())?))?;
        if !self.is_confined {
            return Ok(whole);
        }
        let root = Local.read_link(&own_link(&self.root))?;
        match whole.strip_prefix(root) {
            Ok(inner) => Ok(Path::new("/").join(inner)),
            Err(_) => fail(Errno::NOENT),
        }
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        if self.is_confined { None } else { Local.real_path(path) }
    }
}

/// Creates a directory in an open one, with exactly these permission bits.
pub(crate) fn create_dir_at(parent: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<()> {
    let bits = Mode::from_raw_mode(mode);
    rustix::fs::mkdirat(parent, name, bits)?;
    if !local::is_masked(bits) {
        return Ok(());
    }
    // Meanwhile another process may have replaced the directory by a symbolic link.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    Local.set_permissions(&own_link(&directory), mode)
}

/// Fails with `EACCES` for a device or a socket.
fn refuse_device(kind: FileType) -> io::Result<()> {
    match kind {
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Socket => fail(Errno::ACCESS),
        _ => Ok(()),
    }
}

/// The link by which this process can name an open file.
pub(crate) fn own_link(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
