//! Files in memory.

mod handle;
mod state;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use self::handle::MemoryFile;
use self::state::{MemoryDevice, MemoryTree, NodeContent};
use self::walk::LastLink;
use crate::error::fail;
use crate::path::{require_absolute, requires_directory};
use crate::{
    AccessMode, DirEntry, DirectoryEntries, File, FileSystem, FileTimes, Metadata, OpenOptions, Timestamp,
};

/// A tree of files in memory. Clones share it.
///
/// Contents and names count against a budget in bytes. Operations that would exceed it fail with "No space left on device".
#[derive(Clone, Debug)]
pub struct Memory {
    state: Arc<Mutex<MemoryTree>>,
}

impl Memory {
    /// Makes an empty root directory with a budget in bytes.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Self { state: Arc::new(Mutex::new(MemoryTree::new(budget))) }
    }

    /// Makes a tree with `/tmp` and the devices that programs expect in `/dev`, and a budget for further files.
    #[must_use]
    pub fn with_standard_files(budget: u64) -> Self {
        let memory = Self::new(u64::MAX);
        {
            let mut state = memory.lock();
            let _ = state.add(state::ROOT_INODE, "tmp".as_ref(), NodeContent::directory(), 0o1777);
            if let Ok(directory) =
                state.add(state::ROOT_INODE, "dev".as_ref(), NodeContent::directory(), 0o755)
            {
                add_devices(&mut state, directory);
            }
            state.set_remaining_budget(budget);
        }
        memory
    }

    /// Sets the user and the group that own all files.
    #[must_use]
    pub fn owned_by(self, uid: u32, gid: u32) -> Self {
        self.lock().set_owner((uid, gid));
        self
    }

    /// Returns the number of bytes in use.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.lock().used()
    }

    fn lock(&self) -> MutexGuard<'_, MemoryTree> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileSystem for Memory {
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        require_absolute(path)?;
        let mut state = self.lock();
        let last = if options.create_new { LastLink::Keep } else { LastLink::Follow };
        let resolved = walk::walk(&state, path, last)?;
        let node = match resolved.node {
            Some(_) if options.create_new => return fail(Errno::EXIST),
            Some(node) => {
                check_open(&state, node, options)?;
                node
            }
            None if !options.creates() => return fail(Errno::NOENT),
            None if requires_directory(path) => return fail(Errno::ISDIR),
            None => {
                state.require(resolved.parent, AccessMode::WRITE)?;
                state.add(resolved.parent, &resolved.name, NodeContent::file(), options.mode)?
            }
        };
        if options.truncate && options.writes() {
            state.set_size(node, 0)?;
        }
        state.opened(node);
        drop(state);
        Ok(File::Virtual(Arc::new(MemoryFile::new(Arc::clone(&self.state), node, *options))))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, LastLink::Follow)?;
        state.metadata(node)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, LastLink::Keep)?;
        state.metadata(node)
    }

    fn read_dir(&self, path: &Path) -> io::Result<DirectoryEntries> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, LastLink::Follow)?;
        let entries: Vec<io::Result<DirEntry>> = state
            .children(node)?
            .iter()
            .map(|(name, child)| {
                let metadata = state.metadata(*child)?;
                Ok(DirEntry { name: name.clone(), kind: Some(metadata.kind), inode: metadata.inode })
            })
            .collect();
        state.require(node, AccessMode::READ)?;
        Ok(Box::new(entries.into_iter()))
    }

    fn access(&self, path: &Path, access: AccessMode) -> io::Result<()> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, LastLink::Follow)?;
        state.require(node, access)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.create(path, NodeContent::directory(), mode)
    }

    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()> {
        if target.as_os_str().is_empty() || requires_directory(path) {
            return fail(Errno::NOENT);
        }
        self.create(path, NodeContent::Symlink(target.as_os_str().to_owned()), 0o777)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        require_absolute(from)?;
        require_absolute(to)?;
        let mut state = self.lock();
        let node = walk::find(&state, from, LastLink::Keep)?;
        let target = walk::walk(&state, to, LastLink::Keep)?;
        if target.node.is_some() {
            return fail(Errno::EXIST);
        }
        if requires_directory(to) {
            return fail(Errno::NOENT);
        }
        if state.children(node).is_ok() {
            return fail(Errno::PERM);
        }
        state.require(target.parent, AccessMode::WRITE)?;
        state.link(target.parent, &target.name, node)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        let mut state = self.lock();
        let node = walk::find(&state, path, LastLink::Follow)?;
        state.set_permissions(node, mode)
    }

    fn set_times(&self, path: &Path, times: &FileTimes) -> io::Result<()> {
        require_absolute(path)?;
        let mut state = self.lock();
        let last = if times.keep_link { LastLink::Keep } else { LastLink::Follow };
        let node = walk::find(&state, path, last)?;
        state.set_times(node, times)
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        require_absolute(path)?;
        let state = self.lock();
        walk::find(&state, path, LastLink::Keep)?;
        let (owner, group) = state.owner();
        match uid.is_none_or(|uid| uid == owner) && gid.is_none_or(|gid| gid == group) {
            true => Ok(()),
            false => fail(Errno::PERM),
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let metadata = self.symlink_metadata(path)?;
        if metadata.is_dir() { self.remove(path) } else { fail(Errno::NOTDIR) }
    }

    fn birth_time(&self, path: &Path, follow: bool) -> io::Result<Option<Timestamp>> {
        require_absolute(path)?;
        let state = self.lock();
        let last = if follow { LastLink::Follow } else { LastLink::Keep };
        let node = walk::find(&state, path, last)?;
        state.birth_time(node).map(Some)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        require_absolute(path)?;
        let mut state = self.lock();
        let resolved = walk::walk(&state, path, LastLink::Keep)?;
        let Some(node) = resolved.node else { return fail(Errno::NOENT) };
        if node == state::ROOT_INODE || resolved.name.is_empty() {
            return fail(Errno::BUSY);
        }
        if state.children(node).is_ok_and(|children| !children.is_empty()) {
            return fail(Errno::NOTEMPTY);
        }
        state.require(resolved.parent, AccessMode::WRITE)?;
        state.unlink(resolved.parent, &resolved.name);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        require_absolute(from)?;
        require_absolute(to)?;
        let mut state = self.lock();
        let source = walk::walk(&state, from, LastLink::Keep)?;
        let target = walk::walk(&state, to, LastLink::Keep)?;
        let Some(node) = source.node else { return fail(Errno::NOENT) };
        if source.name.is_empty() || target.name.is_empty() {
            return fail(Errno::BUSY);
        }
        if target.node == Some(node) {
            return Ok(());
        }
        // A directory cannot be moved below itself.
        if target.ancestors.contains(&node) {
            return fail(Errno::INVAL);
        }
        if let Some(replaced) = target.node {
            check_replace(&state, node, replaced)?;
        }
        state.require(source.parent, AccessMode::WRITE)?;
        state.require(target.parent, AccessMode::WRITE)?;
        state.move_entry((source.parent, &source.name), (target.parent, &target.name))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, LastLink::Keep)?;
        match state.content(node)? {
            NodeContent::Symlink(target) => Ok(target.into()),
            _ => fail(Errno::INVAL),
        }
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        let state = self.lock();
        let resolved = walk::walk(&state, path, LastLink::Follow)?;
        if resolved.node.is_none() {
            return fail(Errno::NOENT);
        }
        let mut canonical = PathBuf::from("/");
        canonical.extend(resolved.names);
        Ok(canonical)
    }

    fn real_path(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

impl Memory {
    fn create(&self, path: &Path, content: NodeContent, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        let mut state = self.lock();
        let resolved = walk::walk(&state, path, LastLink::Keep)?;
        if resolved.node.is_some() {
            return fail(Errno::EXIST);
        }
        state.require(resolved.parent, AccessMode::WRITE)?;
        state.add(resolved.parent, &resolved.name, content, mode).map(|_| ())
    }
}

/// Adds the devices that every program may use, and names for the open files of a session. Sessions open those themselves.
fn add_devices(state: &mut MemoryTree, directory: u64) {
    for (name, device) in [
        ("null", MemoryDevice::Null),
        ("zero", MemoryDevice::Zero),
        ("random", MemoryDevice::Random),
        ("urandom", MemoryDevice::Random),
    ] {
        let _ = state.add(directory, name.as_ref(), NodeContent::Device(device), 0o666);
    }
    let _ = state.add(directory, "fd".as_ref(), NodeContent::directory(), 0o555);
    for (name, target) in [("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        let _ = state.add(directory, name.as_ref(), NodeContent::Symlink(target.into()), 0o777);
    }
}

fn check_open(state: &MemoryTree, node: u64, options: &OpenOptions) -> io::Result<()> {
    if options.writes() && state.children(node).is_ok() {
        return fail(Errno::ISDIR);
    }
    let read = options.read || !options.writes();
    state.require(node, AccessMode { read, write: options.writes(), execute: false })
}

fn check_replace(state: &MemoryTree, node: u64, replaced: u64) -> io::Result<()> {
    match (state.children(node), state.children(replaced)) {
        (Ok(_), Ok(children)) if !children.is_empty() => fail(Errno::NOTEMPTY),
        (Ok(_), Err(_)) => fail(Errno::NOTDIR),
        (Err(_), Ok(_)) => fail(Errno::ISDIR),
        _ => Ok(()),
    }
}
