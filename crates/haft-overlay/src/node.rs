//! Files of a layer: their attributes, and access to them by descriptor.
//!
//! Paths are relative to the root of a layer and are never followed through symbolic links, so no change of the tree can
//! lead an operation out of it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, Stat, XattrFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Prefixes of the attributes that overlayfs keeps for itself.
const OVERLAY_PREFIXES: [&[u8]; 2] = [b"user.overlay.", b"trusted.overlay."];
/// Size of the buffer for reading directories.
const ENTRIES_BYTES: usize = 1 << 15;
/// The kernel's limit on the list of extended attributes and on a value.
const MAX_ATTRIBUTE_BYTES: usize = 1 << 16;
/// The unit of `st_blocks`.
const STAT_BLOCK_BYTES: u64 = 512;
const OPAQUE: &str = "user.overlay.opaque";
const WHITEOUT: &str = "user.overlay.whiteout";

/// A point in time, as the file system stores it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct FileTime {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

/// The attributes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: FileType,
    /// Permission bits.
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) size: u64,
    /// Bytes that it occupies on disk.
    pub(crate) occupied: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Whether the file has other names.
    pub(crate) is_linked: bool,
    pub(crate) special_device: u64,
    pub(crate) modified: FileTime,
    pub(crate) changed: FileTime,
}

impl Node {
    fn new(stat: &Stat) -> Node {
        Node {
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            occupied: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(STAT_BLOCK_BYTES),
            device: stat.st_dev,
            inode: stat.st_ino,
            is_linked: stat.st_nlink > 1,
            special_device: stat.st_rdev,
            modified: FileTime { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec.cast_signed() },
            changed: FileTime { seconds: stat.st_ctime, nanoseconds: stat.st_ctime_nsec.cast_signed() },
        }
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.kind == FileType::Directory
    }
}

/// Attributes of a directory that changes without being replaced.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Attributes {
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) modified: FileTime,
    /// Extended attributes, sorted by name, without those of overlayfs.
    pub(crate) extended: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Attributes {
    /// Whether mode, owner and extended attributes are the same.
    pub(crate) fn are_equal_but_for_time(&self, other: &Attributes) -> bool {
        (self.mode, self.owner, &self.extended) == (other.mode, other.owner, &other.extended)
    }
}

/// An entry of a directory.
#[derive(Debug)]
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) inode: u64,
    pub(crate) is_dir: bool,
}

/// An open directory of a layer.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    /// Whether the descriptor can be read. Otherwise it is only a place, opened with `O_PATH`.
    is_readable: bool,
}

impl Folder {
    /// Opens a directory by its absolute path.
    pub(crate) fn open_absolute(path: &Path) -> io::Result<Folder> {
        Folder::open_with(OFlags::CLOEXEC, |flags| rustix::fs::open(path, flags, Mode::empty()))
    }

    /// Opens the directory at `path` below this one.
    pub(crate) fn open(&self, path: &Path) -> io::Result<Folder> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        Folder::open_with(OFlags::NOFOLLOW | OFlags::CLOEXEC, |flags| {
            match rustix::fs::openat2(&self.descriptor, path, flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM) => {
                    rustix::fs::openat(&self.descriptor, path, flags, Mode::empty())
                }
                opened => opened,
            }
        })
    }

    /// Opens a directory for reading, or only as a place if its permissions do not allow that.
    fn open_with(
        flags: OFlags,
        attempt: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
    ) -> io::Result<Folder> {
        let flags = flags | OFlags::DIRECTORY;
        match attempt(flags | OFlags::RDONLY) {
            Ok(descriptor) => Ok(Folder { descriptor, is_readable: true }),
            Err(Errno::ACCESS) => {
                Ok(Folder { descriptor: attempt(flags | OFlags::PATH)?, is_readable: false })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the directory that contains `path`, and returns it with the last component.
    pub(crate) fn parent_of<'a>(&self, path: &'a Path) -> io::Result<(Folder, &'a OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.open(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// The same, but the root itself is the entry with the empty name.
    pub(crate) fn parent_of_or_self<'a>(&self, path: &'a Path) -> io::Result<(Folder, &'a OsStr)> {
        match path.as_os_str().is_empty() {
            true => Ok((self.open(path)?, path.as_os_str())),
            false => self.parent_of(path),
        }
    }

    pub(crate) fn own_node(&self) -> io::Result<Node> {
        Ok(Node::new(&rustix::fs::fstat(&self.descriptor)?))
    }

    /// The attributes of an entry, or `None` if there is none. Does not follow symbolic links.
    pub(crate) fn node(&self, name: &OsStr) -> io::Result<Option<Node>> {
        let name = if name.is_empty() { OsStr::new(".") } else { name };
        match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Node::new(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The names in this directory, sorted.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names: Vec<OsString> = self.entries()?.into_iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The entries of this directory, in the order of the file system.
    pub(crate) fn entries(&self) -> io::Result<Vec<FolderEntry>> {
        if !self.is_readable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        rustix::fs::seek(&self.descriptor, SeekFrom::Start(0))?;
        let mut buffer = Vec::with_capacity(ENTRIES_BYTES);
        let mut reader = RawDir::new(&self.descriptor, buffer.spare_capacity_mut());
        let mut entries = Vec::new();
        while let Some(entry) = reader.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let name = OsString::from_vec(name.to_vec());
                let is_dir = match entry.file_type() {
                    FileType::Unknown => self.node(&name)?.is_some_and(|node| node.is_dir()),
                    kind => kind == FileType::Directory,
                };
                entries.push(FolderEntry { name, inode: entry.ino(), is_dir });
            }
        }
        Ok(entries)
    }

    /// Writes everything on the file system of this directory to the disk.
    pub(crate) fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.descriptor)?)
    }

    /// Opens a regular file for reading.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())?.into())
    }

    pub(crate) fn link_target(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(OsString::from_vec(rustix::fs::readlinkat(&self.descriptor, name, Vec::new())?.into_bytes()))
    }

    /// Whether an entry of an upper layer stands for a removed file.
    pub(crate) fn is_whiteout(&self, name: &OsStr, node: &Node) -> bool {
        match node.kind {
            FileType::CharacterDevice => node.special_device == 0,
            FileType::RegularFile if node.size == 0 => self.attribute(name, WHITEOUT).is_some(),
            _ => false,
        }
    }

    /// Whether a directory of an upper layer hides the directory of the same name below.
    pub(crate) fn is_opaque(&self, name: &OsStr) -> bool {
        self.attribute(name, OPAQUE).is_some_and(|value| value == b"y")
    }

    pub(crate) fn set_opaque(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::lsetxattr(self.proc_path(name), OPAQUE, b"y", XattrFlags::empty())?)
    }

    /// Removes the attributes of overlayfs from an entry.
    pub(crate) fn strip(&self, name: &OsStr) -> io::Result<()> {
        let object = self.object(name);
        for attribute in object.names()? {
            if is_overlay_attribute(&attribute) {
                rustix::fs::lremovexattr(self.proc_path(name), OsStr::from_bytes(&attribute))?;
            }
        }
        Ok(())
    }

    /// The extended attributes of an entry, sorted by name, without those of overlayfs.
    pub(crate) fn extended(&self, name: &OsStr) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let object = self.object(name);
        let mut found = Vec::new();
        for attribute in object.names()? {
            if !is_overlay_attribute(&attribute)
                && let Some(value) = object.value(OsStr::from_bytes(&attribute))
            {
                found.push((attribute, value));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Mode, owner, time and extended attributes of an entry.
    pub(crate) fn attributes(&self, name: &OsStr, node: &Node) -> io::Result<Attributes> {
        let extended = self.extended(name)?;
        Ok(Attributes { mode: node.mode, owner: node.owner, modified: node.modified, extended })
    }

    /// Gives an entry these attributes.
    pub(crate) fn apply(&self, name: &OsStr, wanted: &Attributes, is_link: bool) -> io::Result<()> {
        let path = self.proc_path(name);
        let present = self.extended(name)?;
        for (attribute, _) in
            present.iter().filter(|(old, _)| !wanted.extended.iter().any(|(new, _)| new == old))
        {
            rustix::fs::lremovexattr(&path, OsStr::from_bytes(attribute))?;
        }
        let node = self.node(name)?.ok_or(io::ErrorKind::NotFound)?;
        if node.owner != wanted.owner {
            let (user, group) = wanted.owner;
            let owner = (rustix::fs::Uid::from_raw(user), rustix::fs::Gid::from_raw(group));
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::chownat(&self.descriptor, name, Some(owner.0), Some(owner.1), flags)?;
        }
        if !is_link {
            let name = if name.is_empty() { OsStr::new(".") } else { name };
            rustix::fs::chmodat(&self.descriptor, name, Mode::from_raw_mode(wanted.mode), AtFlags::empty())?;
        }
        for (attribute, value) in wanted.extended.iter().filter(|pair| !present.contains(pair)) {
            rustix::fs::lsetxattr(&path, OsStr::from_bytes(attribute), value, XattrFlags::empty())?;
        }
        self.set_modified(name, wanted.modified)
    }

    pub(crate) fn set_modified(&self, name: &OsStr, modified: FileTime) -> io::Result<()> {
        let name = if name.is_empty() { OsStr::new(".") } else { name };
        let times = rustix::fs::Timestamps {
            last_access: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
            last_modification: rustix::fs::Timespec {
                tv_sec: modified.seconds,
                tv_nsec: modified.nanoseconds,
            },
        };
        Ok(rustix::fs::utimensat(&self.descriptor, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn attribute(&self, name: &OsStr, attribute: &str) -> Option<Vec<u8>> {
        self.object(name).value(OsStr::new(attribute))
    }

    /// The object whose extended attributes are read. A path through `/proc` takes several times longer than a descriptor.
    fn object(&self, name: &OsStr) -> AttributedObject<'_> {
        match name.is_empty() && self.is_readable {
            true => AttributedObject::Descriptor(self.descriptor.as_fd()),
            false => AttributedObject::Path(self.proc_path(name)),
        }
    }

    /// A path to an entry for calls that take no directory descriptor.
    fn proc_path(&self, name: &OsStr) -> PathBuf {
        let mut path = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()));
        path.push(if name.is_empty() { OsStr::new(".") } else { name });
        path
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn is_overlay_attribute(name: &[u8]) -> bool {
    OVERLAY_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// An object with extended attributes.
enum AttributedObject<'a> {
    Descriptor(BorrowedFd<'a>),
    Path(PathBuf),
}

impl AttributedObject<'_> {
    fn names(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut buffer = [0_u8; 1024];
        let mut larger = Vec::new();
        let mut read = self.list(&mut buffer);
        let mut found = &buffer[..];
        if read == Err(Errno::RANGE) {
            larger.resize(MAX_ATTRIBUTE_BYTES, 0);
            read = self.list(&mut larger);
            found = &larger;
        }
        match read {
            Ok(length) => {
                let names = found[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty());
                Ok(names.map(<[u8]>::to_vec).collect())
            }
            // File systems without extended attributes.
            Err(Errno::NOTSUP) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn value(&self, name: &OsStr) -> Option<Vec<u8>> {
        let mut buffer = [0_u8; 256];
        match self.get(name, &mut buffer) {
            Ok(length) => Some(buffer[..length].to_vec()),
            Err(Errno::RANGE) => {
                let mut larger = vec![0; MAX_ATTRIBUTE_BYTES];
                let length = self.get(name, &mut larger).ok()?;
                larger.truncate(length);
                Some(larger)
            }
            Err(_) => None,
        }
    }

    fn list(&self, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        match self {
            AttributedObject::Descriptor(descriptor) => rustix::fs::flistxattr(descriptor, buffer),
            AttributedObject::Path(path) => rustix::fs::llistxattr(path, buffer),
        }
    }

    fn get(&self, name: &OsStr, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        match self {
            AttributedObject::Descriptor(descriptor) => rustix::fs::fgetxattr(descriptor, name, buffer),
            AttributedObject::Path(path) => rustix::fs::lgetxattr(path, name, buffer),
        }
    }
}
