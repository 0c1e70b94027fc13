//! Copying, moving and removing whole trees of files, with all attributes.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{Advice, AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::node::{Folder, Node};

/// The type that statfs(2) returns for ext4.
const EXT4: rustix::fs::FsWord = 0xef53;
/// Permission bits that the owner of a directory needs to change its entries.
const OWNER_ACCESS: u32 = 0o700;

/// Renames an entry, also out of and into directories whose owner has taken away the own write permission.
pub(crate) fn rename(from: (&Folder, &OsStr), to: (&Folder, &OsStr), flags: RenameFlags) -> io::Result<()> {
    let attempt = || rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags);
    match attempt() {
        Err(Errno::ACCESS) => {}
        result => return Ok(result?),
    }
    let here = OsStr::new(".");
    let _from = OwnerAccess::give(from.0, here)?;
    let _to = OwnerAccess::give(to.0, here)?;
    // Moving a directory to another parent changes its entry `..`, which needs write permission too.
    let mut moved = match from.0.node(from.1)?.is_some_and(|node| node.is_dir()) {
        true => OwnerAccess::give(from.0, from.1)?,
        false => None,
    };
    let result = attempt();
    if let (Ok(()), Some(moved)) = (&result, &mut moved) {
        (moved.folder, moved.name) = to;
    }
    Ok(result?)
}

/// Access of the owner to a directory, until it is dropped.
struct OwnerAccess<'a> {
    folder: &'a Folder,
    name: &'a OsStr,
    mode: Mode,
}

impl<'a> OwnerAccess<'a> {
    /// Gives access, unless the owner has it.
    fn give(folder: &'a Folder, name: &'a OsStr) -> io::Result<Option<OwnerAccess<'a>>> {
        let node = folder.node(name)?.ok_or(io::ErrorKind::NotFound)?;
        if node.mode & OWNER_ACCESS == OWNER_ACCESS {
            return Ok(None);
        }
        let mode = Mode::from_raw_mode(node.mode | OWNER_ACCESS);
        rustix::fs::chmodat(folder, name, mode, AtFlags::empty())?;
        Ok(Some(OwnerAccess { folder, name, mode: Mode::from_raw_mode(node.mode) }))
    }
}

impl Drop for OwnerAccess<'_> {
    fn drop(&mut self) {
        // The owner had the right to change the mode a moment ago.
        let _ = rustix::fs::chmodat(self.folder, self.name, self.mode, AtFlags::empty());
    }
}

/// Exchanges two entries.
pub(crate) fn exchange(one: (&Folder, &OsStr), other: (&Folder, &OsStr)) -> io::Result<()> {
    rename(one, other, RenameFlags::EXCHANGE)
}

/// Removes an entry and everything below it. Succeeds if there is none, or if another process removes it too.
pub(crate) fn remove_tree(folder: &Folder, name: &OsStr) -> io::Result<()> {
    remove_by(folder, name, None)
}

/// The same, but fails with `TimedOut` at a point in time.
pub(crate) fn remove_by(folder: &Folder, name: &OsStr, deadline: Option<Instant>) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
        Err(Errno::ISDIR) => remove_folder(folder, name, deadline),
        Err(error) => Err(error.into()),
    }
}

fn remove_folder(folder: &Folder, name: &OsStr, deadline: Option<Instant>) -> io::Result<()> {
    match empty_folder(folder, name, deadline) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(OWNER_ACCESS), AtFlags::empty())?;
            empty_folder(folder, name, deadline)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        emptied => emptied?,
    }
    match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn empty_folder(folder: &Folder, name: &OsStr, deadline: Option<Instant>) -> io::Result<()> {
    let inner = folder.open(name.as_ref())?;
    for entry in inner.entries()? {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match entry.is_dir {
            true => remove_folder(&inner, &entry.name, deadline)?,
            false => remove_by(&inner, &entry.name, None)?,
        }
    }
    Ok(())
}

/// The size in bytes of an entry and everything below it.
pub(crate) fn tree_size(folder: &Folder, name: &OsStr) -> io::Result<u64> {
    let Some(node) = folder.node(name)? else { return Ok(0) };
    if !node.is_dir() {
        return Ok(node.size);
    }
    let inner = match folder.open(name.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(0),
        opened => opened?,
    };
    let names = match inner.names() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(0),
        names => names?,
    };
    names.iter().try_fold(0_u64, |sum, name| Ok(sum.saturating_add(tree_size(&inner, name)?)))
}

/// The bytes that an entry and everything below it occupy on disk. Unreadable entries do not count.
pub(crate) fn occupied_bytes(folder: &Folder, name: &OsStr) -> u64 {
    let Ok(Some(node)) = folder.node(name) else { return 0 };
    let mut sum = node.occupied;
    if node.is_dir()
        && let Ok(inner) = folder.open(name.as_ref())
        && let Ok(entries) = inner.entries()
    {
        sum += entries.iter().map(|entry| occupied_bytes(&inner, &entry.name)).sum::<u64>();
    }
    sum
}

/// Whether a directory is on ext4, which makes changes permanent in the order in which they were made.
pub(crate) fn is_ordered(folder: &impl AsFd) -> bool {
    rustix::fs::fstatfs(folder).is_ok_and(|found| found.f_type == EXT4)
}

/// Starts to write the contents of an entry, and of all files below it, to the disk. On ext4 the transaction that contains the next
/// synced file waits for them. Syncing each file would take a millisecond or more per file.
pub(crate) fn start_writing(folder: &Folder, name: &OsStr, node: &Node) -> io::Result<()> {
    if node.kind == FileType::RegularFile && node.size > 0 {
        // A file that cannot be read is written later.
        if let Ok(file) = folder.read(name) {
            rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?;
        }
    } else if node.is_dir() {
        let inner = folder.open(name.as_ref())?;
        let entries = match inner.entries() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            if let Some(node) = inner.node(&entry.name)? {
                start_writing(&inner, &entry.name, &node)?;
            }
        }
    }
    Ok(())
}

/// Copies an entry and everything below it. Hard links within the tree stay hard links.
pub(crate) fn copy_tree(from: (&Folder, &OsStr), to: (&Folder, &OsStr)) -> io::Result<()> {
    let root = (to.0, to.1.to_owned());
    Copier { root: &root, links: HashMap::new() }.entry(from, to, Path::new(""))
}

struct Copier<'a> {
    /// The copy of the whole tree.
    root: &'a (&'a Folder, OsString),
    /// The first copy of each file with several names, by inode, as a path relative to the root.
    links: HashMap<(u64, u64), std::path::PathBuf>,
}

impl Copier<'_> {
    fn entry(&mut self, from: (&Folder, &OsStr), to: (&Folder, &OsStr), path: &Path) -> io::Result<()> {
        let node = from.0.node(from.1)?.ok_or(io::ErrorKind::NotFound)?;
        let attributes = from.0.attributes(from.1, &node)?;
        if !node.is_dir()
            && !path.as_os_str().is_empty()
            && let Some(first) = self.links.get(&(node.device, node.inode))
        {
            let folder = self.root.0.open(Path::new(&self.root.1))?;
            let (folder, name) = folder.parent_of(first)?;
            return Ok(rustix::fs::linkat(&folder, name, to.0, to.1, AtFlags::empty())?);
        }
        match node.kind {
            FileType::Directory => {
                rustix::fs::mkdirat(to.0, to.1, Mode::from_raw_mode(OWNER_ACCESS))?;
                let (inner, outer) = (from.0.open(from.1.as_ref())?, to.0.open(to.1.as_ref())?);
                for name in inner.names()? {
                    self.entry((&inner, &name), (&outer, &name), &path.join(&name))?;
                }
            }
            FileType::RegularFile => copy_contents(from, to)?,
            FileType::Symlink => {
                rustix::fs::symlinkat(from.0.link_target(from.1)?.as_os_str(), to.0, to.1)?;
            }
            kind => {
                let mode = Mode::from_raw_mode(node.mode);
                rustix::fs::mknodat(to.0, to.1, kind, mode, node.special_device)?;
            }
        }
        if !node.is_dir() {
            self.links.insert((node.device, node.inode), path.to_owned());
        }
        to.0.apply(to.1, &attributes, node.kind == FileType::Symlink)
    }
}

/// Copies the bytes of a file. Holes stay holes.
fn copy_contents(from: (&Folder, &OsStr), to: (&Folder, &OsStr)) -> io::Result<()> {
    let source = from.0.read(from.1)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let target = rustix::fs::openat(to.0, to.1, flags, Mode::from_raw_mode(0o600))?;
    if rustix::fs::ioctl_ficlone(&target, &source).is_ok() {
        return Ok(());
    }
    let size = source.metadata()?.len();
    let mut position = 0;
    while position < size {
        let start = match rustix::fs::seek(&source, rustix::fs::SeekFrom::Data(position)) {
            Ok(start) => start,
            Err(Errno::NXIO) => break,
            Err(_) => position,
        };
        let end = rustix::fs::seek(&source, rustix::fs::SeekFrom::Hole(start)).unwrap_or(size);
        copy_range(&source, &target, start, end)?;
        position = end.max(start + 1);
    }
    rustix::fs::ftruncate(&target, size)?;
    match is_ordered(&target) {
        true => Ok(rustix::fs::fadvise(&target, 0, None, Advice::DontNeed)?),
        false => Ok(rustix::fs::fsync(&target)?),
    }
}

fn copy_range(source: &File, target: &std::os::fd::OwnedFd, start: u64, end: u64) -> io::Result<()> {
    let mut buffer = vec![0_u8; 1 << 17];
    let mut position = start;
    while position < end {
        let wanted = usize::try_from(end - position).unwrap_or(buffer.len()).min(buffer.len());
        let count = rustix::io::pread(source, &mut buffer[..wanted], position)?;
        if count == 0 {
            break;
        }
        let mut written = 0;
        while written < count {
            let offset = position + written as u64;
            written += rustix::io::pwrite(target, &buffer[written..count], offset)?;
        }
        position += count as u64;
    }
    Ok(())
}
