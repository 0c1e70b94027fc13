//! Files in memory.

mod handle;
mod state;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use self::handle::Handle;
use self::state::{Content, State};
use self::walk::Last;
use crate::error::fail;
use crate::path::{demands_directory, require_absolute};
use crate::{Access, DirEntry, Entries, File, FileSystem, Metadata, OpenOptions};

/// A tree of files in memory. Clones share it.
///
/// Contents and names count against a byte budget; what would exceed it fails with "No space left on device".
#[derive(Clone, Debug)]
pub struct Memory {
    state: Arc<Mutex<State>>,
}

impl Memory {
    /// An empty root directory, and room for `budget` bytes.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Self { state: Arc::new(Mutex::new(State::new(budget))) }
    }

    /// What a program expects of any machine, `/tmp` and `/dev/null`, and room for `budget` bytes beside them.
    #[must_use]
    pub fn furnished(budget: u64) -> Self {
        let memory = Self::new(u64::MAX);
        {
            let mut state = memory.lock();
            let device_directory = state.add(state::ROOT, "dev".as_ref(), Content::directory(), 0o755);
            let _ = state.add(state::ROOT, "tmp".as_ref(), Content::directory(), 0o1777);
            if let Ok(directory) = device_directory {
                let _ = state.add(directory, "null".as_ref(), Content::Null, 0o666);
            }
            state.limit_further(budget);
        }
        memory
    }

    /// How many bytes of the budget are taken.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.lock().used()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileSystem for Memory {
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        require_absolute(path)?;
        let mut state = self.lock();
        let last = if options.create_new { Last::Keep } else { Last::Follow };
        let place = walk::walk(&state, path, last)?;
        let node = match place.node {
            Some(_) if options.create_new => return fail(Errno::EXIST),
            Some(node) => {
                check_open(&state, node, options)?;
                node
            }
            None if !options.creates() => return fail(Errno::NOENT),
            None if demands_directory(path) => return fail(Errno::ISDIR),
            None => {
                state.require(place.parent, Access::WRITE)?;
                state.add(place.parent, &place.name, Content::file(), options.mode)?
            }
        };
        if options.truncate && options.writes() {
            state.truncate(node);
        }
        state.opened(node);
        drop(state);
        Ok(File::Virtual(Arc::new(Handle::new(Arc::clone(&self.state), node, *options))))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, Last::Follow)?;
        state.metadata(node)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, Last::Keep)?;
        state.metadata(node)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Entries> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, Last::Follow)?;
        let entries: Vec<io::Result<DirEntry>> = state
            .children(node)?
            .iter()
            .map(|(name, child)| {
                Ok(DirEntry { name: name.clone(), kind: Some(state.metadata(*child)?.kind) })
            })
            .collect();
        state.require(node, Access::READ)?;
        Ok(Box::new(entries.into_iter()))
    }

    fn access(&self, path: &Path, access: Access) -> io::Result<()> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, Last::Follow)?;
        state.require(node, access)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.create(path, Content::directory(), mode)
    }

    fn create_symlink(&self, target: &Path, path: &Path) -> io::Result<()> {
        if target.as_os_str().is_empty() || demands_directory(path) {
            return fail(Errno::NOENT);
        }
        self.create(path, Content::Symlink(target.as_os_str().to_owned()), 0o777)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        require_absolute(path)?;
        let mut state = self.lock();
        let place = walk::walk(&state, path, Last::Keep)?;
        let Some(node) = place.node else { return fail(Errno::NOENT) };
        if node == state::ROOT || place.name.is_empty() {
            return fail(Errno::BUSY);
        }
        if state.children(node).is_ok_and(|children| !children.is_empty()) {
            return fail(Errno::NOTEMPTY);
        }
        state.require(place.parent, Access::WRITE)?;
        state.unlink(place.parent, &place.name);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        require_absolute(from)?;
        require_absolute(to)?;
        let mut state = self.lock();
        let source = walk::walk(&state, from, Last::Keep)?;
        let target = walk::walk(&state, to, Last::Keep)?;
        let Some(node) = source.node else { return fail(Errno::NOENT) };
        if source.name.is_empty() || target.name.is_empty() {
            return fail(Errno::BUSY);
        }
        if target.node == Some(node) {
            return Ok(());
        }
        // A directory cannot move below itself.
        if target.ancestors.contains(&node) {
            return fail(Errno::INVAL);
        }
        if let Some(replaced) = target.node {
            check_replace(&state, node, replaced)?;
        }
        state.require(source.parent, Access::WRITE)?;
        state.require(target.parent, Access::WRITE)?;
        state.move_entry((source.parent, &source.name), (target.parent, &target.name))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        let state = self.lock();
        let node = walk::find(&state, path, Last::Keep)?;
        match state.content(node)? {
            Content::Symlink(target) => Ok(target.into()),
            _ => fail(Errno::INVAL),
        }
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        require_absolute(path)?;
        let state = self.lock();
        let place = walk::walk(&state, path, Last::Follow)?;
        if place.node.is_none() {
            return fail(Errno::NOENT);
        }
        let mut canonical = PathBuf::from("/");
        canonical.extend(place.names);
        Ok(canonical)
    }

    fn real_path(&self, _path: &Path) -> Option<PathBuf> {
        None
    }
}

impl Memory {
    fn create(&self, path: &Path, content: Content, mode: u32) -> io::Result<()> {
        require_absolute(path)?;
        let mut state = self.lock();
        let place = walk::walk(&state, path, Last::Keep)?;
        if place.node.is_some() {
            return fail(Errno::EXIST);
        }
        state.require(place.parent, Access::WRITE)?;
        state.add(place.parent, &place.name, content, mode).map(|_| ())
    }
}

fn check_open(state: &State, node: u64, options: &OpenOptions) -> io::Result<()> {
    if options.writes() && state.children(node).is_ok() {
        return fail(Errno::ISDIR);
    }
    let read = options.read || !options.writes();
    state.require(node, Access { read, write: options.writes(), execute: false })
}

fn check_replace(state: &State, node: u64, replaced: u64) -> io::Result<()> {
    match (state.children(node), state.children(replaced)) {
        (Ok(_), Ok(children)) if !children.is_empty() => fail(Errno::NOTEMPTY),
        (Ok(_), Err(_)) => fail(Errno::NOTDIR),
        (Err(_), Ok(_)) => fail(Errno::ISDIR),
        _ => Ok(()),
    }
}
