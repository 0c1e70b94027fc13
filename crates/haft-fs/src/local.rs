//! The files of the machine.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::metadata::{from_stat, from_system, system_birth_time};
use crate::path::require_absolute;
use crate::{
    AccessMode, DirEntry, DirectoryEntries, File, FileSystem, FileTimes, Metadata, OpenOptions, Timestamp,
};

/// The files of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl FileSystem for Local {
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        require_absolute(path)?;
        open_with(options, |flags, mode| rustix::fs::open(path, flags, mode))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        Ok(from_stat(&rustix::fs::stat(path)?))
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        Ok(from_stat(&rustix::fs::lstat(path)?))
    }

    fn read_dir(&self, path: &Path) -> io::Result<DirectoryEntries> {
        require_absolute(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        entries_of(rustix::fs::open(path, flags, Mode::empty())?)
    }

    fn access(&self, path: &Path, access: AccessMode) -> io::Result<()> {
        require_absolute(path)?;
        let mut wanted = rustix::fs::Access::EXISTS;
        for (requested, flag) in [
            (access.read, rustix::fs::Access::READ_OK),
            (access.write, rustix::fs::Access::WRITE_OK),
            (access.execute, rustix::fs::Access::EXEC_OK),
        ] {
            if requested {
                wanted |= flag;
            }
        }
        Ok(rustix::fs::accessat(CWD, path, wanted, AtFlags::EACCESS)?)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        let mode = Mode::from_raw_mode(mode);
        rustix::fs::mkdir(path, mode)?;
        if is_masked(mode) {
            rustix::fs::chmod(path, mode)?;
        }
        Ok(())
    }

    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()> {
        require_absolute(path)?;
        Ok(rustix::fs::symlink(target, path)?)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        require_absolute(from)?;
        require_absolute(to)?;
        Ok(rustix::fs::link(from, to)?)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        Ok(rustix::fs::chmod(path, Mode::from_raw_mode(mode))?)
    }

    fn set_times(&self, path: &Path, times: &FileTimes) -> io::Result<()> {
        require_absolute(path)?;
        Ok(rustix::fs::utimensat(CWD, path, &times.to_system(), last_link(!times.keep_link))?)
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        require_absolute(path)?;
        set_owner_at(CWD, path, uid, gid, AtFlags::SYMLINK_NOFOLLOW)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        require_absolute(path)?;
        remove_with(|flags| rustix::fs::unlinkat(CWD, path, flags))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        require_absolute(path)?;
        Ok(rustix::fs::rmdir(path)?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        require_absolute(from)?;
        require_absolute(to)?;
        Ok(rustix::fs::rename(from, to)?)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        let target = rustix::fs::readlink(path, Vec::new())?;
        Ok(std::ffi::OsString::from_vec(target.into_bytes()).into())
    }

    fn birth_time(&self, path: &Path, follow: bool) -> io::Result<Option<Timestamp>> {
        require_absolute(path)?;
        system_birth_time(CWD, path, last_link(follow))
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        std::fs::canonicalize(path)
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        require_absolute(path).is_ok().then(|| path.to_owned())
    }
}

/// The entries of an open directory.
pub(crate) fn entries_of(directory: OwnedFd) -> io::Result<DirectoryEntries> {
    let entries = rustix::fs::Dir::new(directory)?;
    Ok(Box::new(entries.filter_map(|entry| match entry {
        Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => None,
        Ok(entry) => Some(Ok(DirEntry {
            name: std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned(),
            kind: from_system(entry.file_type()),
            inode: entry.ino(),
        })),
        Err(error) => Some(Err(error.into())),
    })))
}

/// The flags for an operation that follows a symbolic link at the end of the path, or not.
pub(crate) fn last_link(follow: bool) -> AtFlags {
    if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW }
}

/// Sets the owner of a file in a directory.
pub(crate) fn set_owner_at(
    directory: impl AsFd,
    name: impl rustix::path::Arg,
    uid: Option<u32>,
    gid: Option<u32>,
    flags: AtFlags,
) -> io::Result<()> {
    let (uid, gid) = (uid.map(rustix::fs::Uid::from_raw), gid.map(rustix::fs::Gid::from_raw));
    Ok(rustix::fs::chownat(directory, name, uid, gid, flags)?)
}

/// Removes a file or an empty directory with `unlinkat(2)`, called with its flags.
pub(crate) fn remove_with(unlink: impl Fn(AtFlags) -> rustix::io::Result<()>) -> io::Result<()> {
    match unlink(AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) if unlink(AtFlags::REMOVEDIR).is_ok() => Ok(()),
        Err(Errno::ISDIR) => Ok(unlink(AtFlags::REMOVEDIR)?),
        other => Ok(other?),
    }
}

/// Opens a file with `open(2)`, called with its flags and mode. A new file gets exactly the requested mode.
pub(crate) fn open_with(
    options: &OpenOptions,
    open: impl Fn(OFlags, Mode) -> rustix::io::Result<OwnedFd>,
) -> io::Result<File> {
    let mode = if options.creates() { Mode::from_raw_mode(options.mode) } else { Mode::empty() };
    if options.creates() && is_masked(mode) {
        return open_with_exact_mode(options, open);
    }
    Ok(File::Real(open(flags(options), mode)?))
}

/// Creates a file with exactly the requested mode, independent of the process's umask. Does not change the mode of an
/// existing file.
fn open_with_exact_mode(
    options: &OpenOptions,
    open: impl Fn(OFlags, Mode) -> rustix::io::Result<OwnedFd>,
) -> io::Result<File> {
    let mode = Mode::from_raw_mode(options.mode);
    let existing = flags(options).difference(OFlags::CREATE | OFlags::EXCL);
    let new = flags(options) | OFlags::CREATE | OFlags::EXCL;
    loop {
        if !options.create_new {
            match open(existing, Mode::empty()) {
                Err(Errno::NOENT) => {}
                other => return Ok(File::Real(other?)),
            }
        }
        match open(new, mode) {
            Ok(descriptor) => {
                rustix::fs::fchmod(descriptor.as_fd(), mode)?;
                return Ok(File::Real(descriptor));
            }
            // A dangling symbolic link: the system creates its target.
            Err(Errno::EXIST)
                if !options.create_new
                    && open(OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
                        .is_err_and(|error| error == Errno::NOENT) =>
            {
                return Ok(File::Real(open(flags(options), mode)?));
            }
            Err(Errno::EXIST) if !options.create_new => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn flags(options: &OpenOptions) -> OFlags {
    let mut flags = OFlags::CLOEXEC | OFlags::NOCTTY;
    flags |= match (options.read, options.writes()) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    for (requested, flag) in [
        (options.append, OFlags::APPEND),
        (options.creates(), OFlags::CREATE),
        (options.create_new, OFlags::EXCL),
        (options.truncate, OFlags::TRUNC),
        (options.nonblocking, OFlags::NONBLOCK),
    ] {
        if requested {
            flags |= flag;
        }
    }
    flags
}

/// Whether the process's umask would remove some of these permissions.
pub(crate) fn is_masked(mode: Mode) -> bool {
    mode.bits() & process_mask() != 0
}

/// Returns the process's umask, read once from `/proc`, because `umask(2)` cannot read it without changing it.
fn process_mask() -> u32 {
    static MASK: OnceLock<u32> = OnceLock::new();
    *MASK.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        mask.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok()).unwrap_or(0o022)
    })
}
