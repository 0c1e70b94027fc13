//! Metadata of files.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{AtFlags, StatxFlags};

/// Preferred size of a read or write in virtual file systems.
pub(crate) const BLOCK_SIZE: u64 = 4096;

/// The timestamp of a file, relative to the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds, negative before the epoch.
    pub seconds: i64,
    /// Additional nanoseconds.
    pub nanoseconds: u32,
}

/// The type of a file.
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

/// Metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The type.
    pub kind: FileType,
    /// Permission bits with set-user-ID, set-group-ID and sticky bit: `mode & 0o7777`.
    pub mode: u32,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the content.
    pub modified: Timestamp,
    /// Time of the last read.
    pub accessed: Timestamp,
    /// Time of the last change of content or metadata.
    pub changed: Timestamp,
    /// Id of the device. Device and inode identify a file.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// User ID of the owner.
    pub uid: u32,
    /// Group ID.
    pub gid: u32,
    /// Number of hard links.
    pub links: u64,
    /// Id of the device that a device file represents.
    pub special_device: u64,
    /// Number of blocks of 512 bytes in use.
    pub blocks: u64,
    /// Preferred size of a read or write.
    pub block_size: u64,
}

impl Metadata {
    /// Whether the file is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Whether the file is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind == FileType::File
    }

    /// Whether the file is a symbolic link.
    #[must_use]
    pub fn is_symlink(&self) -> bool {
        self.kind == FileType::Symlink
    }

    /// Whether both belong to the same file.
    #[must_use]
    pub fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: OsString,
    /// The type, without following a symbolic link; `None` if the file system does not report it.
    pub kind: Option<FileType>,
    /// The inode number. 0 if the file system does not report it.
    pub inode: u64,
}

/// Returns the metadata of an open descriptor.
///
/// # Errors
/// Fails like `fstat(2)`.
pub fn descriptor_metadata(descriptor: BorrowedFd<'_>) -> io::Result<Metadata> {
    Ok(from_stat(&rustix::fs::fstat(descriptor)?))
}

/// Converts the system's metadata.
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
        blocks: u64::try_from(stat.st_blocks).unwrap_or(0),
        block_size: u64::try_from(stat.st_blksize).unwrap_or(0),
    }
}

/// Returns the birth time of a file with `statx(2)`.
pub(crate) fn system_birth_time(
    directory: impl rustix::fd::AsFd,
    path: &Path,
    flags: AtFlags,
) -> io::Result<Option<Timestamp>> {
    let found = rustix::fs::statx(directory, path, flags, StatxFlags::BTIME)?;
    let birth = found.stx_btime;
    let is_known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    Ok(is_known.then_some(Timestamp { seconds: birth.tv_sec, nanoseconds: birth.tv_nsec }))
}

/// Converts the system's file type. Returns `None` if it is unknown.
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
