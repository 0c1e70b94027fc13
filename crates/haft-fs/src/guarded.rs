//! The files of the machine, as far as rules allow.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::error::fail;
use crate::local::{self, Local};
use crate::path::{require_absolute, requires_directory};
use crate::rooted::{Rooted, create_dir_at, own_link};
use crate::{AccessMode, DirectoryEntries, File, FileSystem, FileTimes, Metadata, OpenOptions, Timestamp};

/// Symbolic links that an operation follows to create their target.
const MAX_LINKS: usize = 40;

/// A kind of access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardedAccess {
    /// Reading a file or listing a directory.
    Read,
    /// Changing the content or the attributes of a file.
    Write,
    /// Creating a file, directory or link.
    Create,
    /// Removing a file or directory.
    Delete,
}

/// Decides which files may be accessed.
pub trait FileRules: Debug + Send + Sync {
    /// Checks access to a file. The path has no symbolic links.
    ///
    /// # Errors
    /// `EACCES` if the access is not allowed.
    fn check(&self, access: GuardedAccess, path: &Path) -> io::Result<()>;
}

/// The files below a root directory, as far as rules allow.
///
/// Every operation first opens the file or its directory with `O_PATH`, asks the rules about the place where that file really
/// is, and then works on the open file. No symbolic link, `..`, or file that is moved meanwhile leads around the rules.
/// Metadata can always be read, as under Landlock.
#[derive(Debug)]
pub struct Guarded {
    files: Rooted,
    rules: Arc<dyn FileRules>,
}

impl Guarded {
    /// Guards the files below a root directory, which may be opened with `O_PATH`: that of this process, or that of a mount
    /// namespace.
    #[must_use]
    pub fn new(root: OwnedFd, rules: Arc<dyn FileRules>) -> Guarded {
        Guarded { files: Rooted::new(root), rules }
    }

    /// Guards the files that this process sees.
    ///
    /// # Errors
    /// If the root directory cannot be opened.
    pub fn of_process(rules: Arc<dyn FileRules>) -> io::Result<Guarded> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self::new(rustix::fs::open("/", flags, Mode::empty())?, rules))
    }

    /// A handle of the file at `path`, which is neither read nor written. Links of `/proc` to open files are followed: the
    /// rules decide about the file that they lead to.
    fn handle(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        match self.files.is_of_process(path) {
            true => rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty()),
            false => self.files.handle(path, flags),
        }
    }

    /// Checks access to an open file.
    fn check(&self, access: GuardedAccess, file: &OwnedFd) -> io::Result<()> {
        self.check_place(access, &place(file)?)
    }

    fn check_place(&self, access: GuardedAccess, place: &Path) -> io::Result<()> {
        // Pipes, sockets and other files without a path were open before.
        if place.is_absolute() { self.rules.check(access, place) } else { Ok(()) }
    }

    /// The directory that contains `path` and the name in it, after a check of access to that name.
    fn entry<'p>(&self, access: GuardedAccess, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let (parent, name) = self.files.parent(path)?;
        self.check_place(access, &place(&parent)?.join(without_slashes(name)))?;
        Ok((parent, name))
    }

    /// Opens a file as `open(2)` does.
    fn open_raw(&self, path: &Path, flags: OFlags, mode: Mode, links: usize) -> io::Result<OwnedFd> {
        if flags.contains(OFlags::PATH) {
            return Ok(self.handle(path, flags)?);
        }
        let exclusive = flags.contains(OFlags::CREATE | OFlags::EXCL);
        match self.handle(path, OFlags::empty()) {
            Ok(_) if exclusive => fail(Errno::EXIST),
            Ok(handle) => self.reopen(&handle, flags),
            Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {
                self.create(path, flags, mode, exclusive, links)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file of which there is a handle.
    fn reopen(&self, handle: &OwnedFd, flags: OFlags) -> io::Result<OwnedFd> {
        let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC);
        let reads = !flags.contains(OFlags::WRONLY);
        for (requested, access) in [(reads, GuardedAccess::Read), (writes, GuardedAccess::Write)] {
            if requested {
                self.check(access, handle)?;
            }
        }
        let flags = flags.difference(OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW);
        Ok(rustix::fs::open(own_link(handle), flags, Mode::empty())?)
    }

    /// Creates a file, or the target of a symbolic link that leads nowhere.
    fn create(
        &self,
        path: &Path,
        flags: OFlags,
        mode: Mode,
        exclusive: bool,
        links: usize,
    ) -> io::Result<OwnedFd> {
        let (parent, name) = self.files.parent(path)?;
        if !exclusive && let Ok(target) = rustix::fs::readlinkat(&parent, name, Vec::new()) {
            let target = place(&parent)?.join(OsStr::from_bytes(target.as_bytes()));
            return match links {
                0 => fail(Errno::LOOP),
                _ => self.open_raw(&target, flags, mode, links - 1),
            };
        }
        self.check_place(GuardedAccess::Create, &place(&parent)?.join(without_slashes(name)))?;
        let new = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        match rustix::fs::openat(&parent, name, new, mode) {
            // Another process has just created it.
            Err(Errno::EXIST) if !exclusive && links > 0 => self.open_raw(path, flags, mode, links - 1),
            opened => Ok(opened?),
        }
    }
}

impl FileSystem for Guarded {
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        require_absolute(path)?;
        // The errno of a rule is all that `open_with` needs.
        local::open_with(options, |flags, mode| {
            self.open_raw(path, flags, mode, MAX_LINKS)
                .map_err(|error| error.raw_os_error().map_or(Errno::ACCESS, Errno::from_raw_os_error))
        })
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.files.metadata(path)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.files.symlink_metadata(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<DirectoryEntries> {
        require_absolute(path)?;
        let handle = self.handle(path, OFlags::DIRECTORY)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        local::entries_of(self.reopen(&handle, flags)?)
    }

    fn access(&self, path: &Path, access: AccessMode) -> io::Result<()> {
        self.files.access(path, access)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (parent, name) = self.entry(GuardedAccess::Create, path)?;
        create_dir_at(&parent, name, mode)
    }

    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()> {
        let (parent, name) = self.entry(GuardedAccess::Create, path)?;
        Ok(rustix::fs::symlinkat(target, &parent, name)?)
    }

    /// A new name must not give more access to a file than the old one, so the file must be readable and writable.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_parent, from_name) = self.entry(GuardedAccess::Write, from)?;
        self.check_place(GuardedAccess::Read, &place(&from_parent)?.join(without_slashes(from_name)))?;
        let (to_parent, to_name) = self.entry(GuardedAccess::Create, to)?;
        Ok(rustix::fs::linkat(&from_parent, from_name, &to_parent, to_name, AtFlags::empty())?)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        let handle = self.handle(path, OFlags::empty())?;
        self.check(GuardedAccess::Write, &handle)?;
        Local.set_permissions(&own_link(&handle), mode)
    }

    fn set_times(&self, path: &Path, times: &FileTimes) -> io::Result<()> {
        require_absolute(path)?;
        if times.keep_link && !requires_directory(path) {
            let (parent, name) = self.entry(GuardedAccess::Write, path)?;
            return Ok(rustix::fs::utimensat(&parent, name, &times.to_system(), local::last_link(false))?);
        }
        let handle = self.handle(path, OFlags::empty())?;
        self.check(GuardedAccess::Write, &handle)?;
        Local.set_times(&own_link(&handle), &FileTimes { keep_link: false, ..*times })
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        require_absolute(path)?;
        let follow = if requires_directory(path) { OFlags::empty() } else { OFlags::NOFOLLOW };
        let handle = self.handle(path, follow)?;
        self.check(GuardedAccess::Write, &handle)?;
        local::set_owner_at(handle, c"", uid, gid, AtFlags::EMPTY_PATH)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.entry(GuardedAccess::Delete, path)?;
        local::remove_with(|flags| rustix::fs::unlinkat(&parent, name, flags))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.entry(GuardedAccess::Delete, path)?;
        Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    /// As for a hard link, a new place must not give more access to a file than the old one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_parent, from_name) = self.entry(GuardedAccess::Delete, from)?;
        let old = place(&from_parent)?.join(without_slashes(from_name));
        self.check_place(GuardedAccess::Write, &old)?;
        self.check_place(GuardedAccess::Read, &old)?;
        let (to_parent, to_name) = self.entry(GuardedAccess::Create, to)?;
        self.check_place(GuardedAccess::Delete, &place(&to_parent)?.join(without_slashes(to_name)))?;
        Ok(rustix::fs::renameat(&from_parent, from_name, &to_parent, to_name)?)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.read_link(path)
    }

    fn birth_time(&self, path: &Path, follow: bool) -> io::Result<Option<Timestamp>> {
        self.files.birth_time(path, follow)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonicalize(path)
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        self.files.real_path(path)
    }
}

/// The path of an open file without symbolic links. Files that have none, such as pipes, get a name that is not absolute.
fn place(file: &OwnedFd) -> io::Result<PathBuf> {
    Local.read_link(&own_link(file))
}

/// A name without the slashes after it.
fn without_slashes(name: &OsStr) -> &OsStr {
    let bytes = name.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    OsStr::from_bytes(&bytes[..end])
}
