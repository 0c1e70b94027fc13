//! Open files in memory.

use std::io::{self, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::state::MemoryTree;
use crate::error::{fail, system};
use crate::{Metadata, OpenOptions, VirtualFile};

/// An open file. Its node exists as long as the file is open, even without a name.
#[derive(Debug)]
pub(super) struct MemoryFile {
    state: Arc<Mutex<MemoryTree>>,
    node: u64,
    options: OpenOptions,
    position: Mutex<u64>,
}

impl MemoryFile {
    /// Makes an open file. The caller must have called `opened` for the node.
    pub(super) fn new(state: Arc<Mutex<MemoryTree>>, node: u64, options: OpenOptions) -> Self {
        Self { state, node, options, position: Mutex::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, MemoryTree> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the position, which must happen before the state is locked.
    fn position(&self) -> MutexGuard<'_, u64> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VirtualFile for MemoryFile {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.options.writes() && !self.options.read {
            return fail(Errno::BADF);
        }
        let mut position = self.position();
        let count = self.state().read(self.node, *position, buffer)?;
        *position += count as u64;
        Ok(count)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if !self.options.writes() {
            return fail(Errno::BADF);
        }
        let mut position = self.position();
        let mut state = self.state();
        if self.options.append {
            *position = state.metadata(self.node)?.size;
        }
        let count = state.write(self.node, *position, bytes)?;
        *position += count as u64;
        Ok(count)
    }

    fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        let mut position = self.position();
        let (base, offset) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(offset) => (*position, offset),
            SeekFrom::End(offset) => (self.state().metadata(self.node)?.size, offset),
        };
        *position = base.checked_add_signed(offset).ok_or_else(|| system(Errno::INVAL))?;
        Ok(*position)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        if !self.options.writes() {
            return fail(Errno::INVAL);
        }
        self.state().set_size(self.node, size)
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.state().metadata(self.node)
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        self.state().closed(self.node);
    }
}
