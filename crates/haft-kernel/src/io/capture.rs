//! Collecting the output of a substitution.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::pipe::{PipeFlags, pipe_with};

/// A buffer in memory that builtins append to. Only when a program is to write into it does it get a pipe, which
/// is read whenever the session waits.
#[derive(Debug, Default)]
pub struct Capture {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    pipe: Option<Pipe>,
}

#[derive(Debug)]
struct Pipe {
    reader: Arc<OwnedFd>,
    writer: Option<Arc<OwnedFd>>,
}

/// The pipe's size: large, so that a program that writes much is rarely kept waiting.
const PIPE_BYTES: usize = 1 << 20;
const CHUNK: usize = 64 * 1024;
/// So much is taken at once: more than a pipe holds.
const AT_ONCE: usize = 8 << 20;

impl Capture {
    /// Appends bytes, after everything that programs which have ended wrote.
    pub fn append(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if state.pipe.is_some() {
            let _ = state.drain();
        }
        state.bytes.extend_from_slice(bytes);
    }

    /// The end of the pipe for programs to write to.
    ///
    /// # Errors
    /// If the system is out of descriptors.
    pub fn writer(&self) -> io::Result<Arc<OwnedFd>> {
        let mut state = self.lock();
        if let Some(writer) = state.pipe.as_ref().and_then(|pipe| pipe.writer.clone()) {
            return Ok(writer);
        }
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE_BYTES);
        let writer = Arc::new(writer);
        state.pipe = Some(Pipe { reader: Arc::new(reader), writer: Some(writer.clone()) });
        Ok(writer)
    }

    /// The end of the pipe that must be read while waiting, if programs write into it.
    #[must_use]
    pub fn reader(&self) -> Option<Arc<OwnedFd>> {
        self.lock().pipe.as_ref().map(|pipe| pipe.reader.clone())
    }

    /// Takes what the pipe holds. Yields whether all writers are gone.
    ///
    /// # Errors
    /// As `read(2)`.
    pub fn drain(&self) -> io::Result<bool> {
        self.lock().drain()
    }

    /// How much is collected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().bytes.len()
    }

    /// Whether nothing is collected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets go of the session's own end for writing: from now on the pipe ends when the programs do.
    pub fn close(&self) {
        if let Some(pipe) = &mut self.lock().pipe {
            pipe.writer = None;
        }
    }

    /// Takes everything collected.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().bytes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes what the pipe holds; of somebody who writes without end, so much that the session can look whether to stop.
    fn drain(&mut self) -> io::Result<bool> {
        let Some(pipe) = &self.pipe else { return Ok(true) };
        let enough = self.bytes.len() + AT_ONCE;
        while self.bytes.len() < enough {
            self.bytes.reserve(CHUNK);
            match read_spare(pipe.reader.as_fd(), &mut self.bytes) {
                Ok(0) => return Ok(true),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}

/// Reads into the room a vector has left.
fn read_spare(descriptor: BorrowedFd<'_>, bytes: &mut Vec<u8>) -> rustix::io::Result<usize> {
    rustix::io::read(descriptor, rustix::buffer::spare_capacity(bytes))
}
