//! What is known of a file.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;

/// A point in time as files carry it: since the epoch, possibly before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Whole seconds.
    pub seconds: i64,
    /// The nanoseconds after them.
    pub nanoseconds: u32,
}

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its kind.
    pub kind: FileType,
    /// Its permission bits, with set-user-id, set-group-id and sticky: `mode & 0o7777`.
    pub mode: u32,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was last changed.
    pub modified: Timestamp,
    /// When it was last read.
    pub accessed: Timestamp,
    /// When its content or its metadata was last changed.
    pub changed: Timestamp,
    /// The device it is on; with `inode` it identifies the file.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// How many names it has.
    pub links: u64,
    /// The device it stands for, if it is one.
    pub special_device: u64,
}

impl Metadata {
    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind == FileType::File
    }

    /// Whether it is a symbolic link.
    #[must_use]
    pub fn is_symlink(&self) -> bool {
        self.kind == FileType::Symlink
    }

    /// Whether both are of the same file.
    #[must_use]
    pub fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: OsString,
    /// Its kind, of a symbolic link the link's own; `None` if the file system did not say.
    pub kind: Option<FileType>,
}

/// What is known of an open descriptor.
///
/// # Errors
/// As `fstat(2)`.
pub fn descriptor_metadata(descriptor: BorrowedFd<'_>) -> io::Result<Metadata> {
    Ok(from_stat(&rustix::fs::fstat(descriptor)?))
}

/// Translates what the system says.
pub(crate) fn from_stat(stat: &rustix::fs::Stat) -> Metadata {
    Metadata {
        kind: from_system(rustix::fs::FileType::from_raw_mode(stat.st_mode)).unwrap_or(FileType::File),
        mode: stat.st_mode & 0o7777,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: timestamp(stat.st_mtime, stat.st_mtime_nsec),
        accessed: timestamp(stat.st_atime, stat.st_atime_nsec),
        changed: timestamp(stat.st_ctime, stat.st_ctime_nsec),
        device: stat.st_dev,
        inode: stat.st_ino,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: stat.st_nlink,
        special_device: stat.st_rdev,
    }
}

/// Translates the system's kind; `None` if it is unknown.
pub(crate) fn from_system(kind: rustix::fs::FileType) -> Option<FileType> {
    use rustix::fs::FileType as System;
    Some(match kind {
        System::RegularFile => FileType::File,
        System::Directory => FileType::Directory,
        System::Symlink => FileType::Symlink,
        System::Fifo => FileType::Fifo,
        System::Socket => FileType::Socket,
        System::CharacterDevice => FileType::CharacterDevice,
        System::BlockDevice => FileType::BlockDevice,
        System::Unknown => return None,
    })
}

fn timestamp(seconds: i64, nanoseconds: u64) -> Timestamp {
    Timestamp { seconds, nanoseconds: u32::try_from(nanoseconds).unwrap_or(0) }
}
