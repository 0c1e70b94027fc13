//! Capturing the output of a command substitution.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::pipe::{PipeFlags, pipe_with};

/// A buffer in memory that builtins append to. It gets a pipe only when a program writes to it. The pipe is read whenever
/// the session waits.
#[derive(Debug, Default)]
pub struct Capture {
    state: Mutex<CaptureState>,
}

#[derive(Debug, Default)]
struct CaptureState {
    bytes: Vec<u8>,
    pipe: Option<CapturePipe>,
}

#[derive(Debug)]
struct CapturePipe {
    reader: Arc<OwnedFd>,
    writer: Option<Arc<OwnedFd>>,
}

/// The size of the pipe. A large pipe rarely makes a program wait.
const PIPE_BYTES: usize = 1 << 20;
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// The most bytes that one drain reads, more than a pipe contains.
const MAX_DRAIN_BYTES: usize = 8 << 20;

impl Capture {
    /// Appends bytes after the output of programs that have ended.
    pub fn append(&self, bytes: &[u8]) {
        let mut state = self.lock();
        if state.pipe.is_some() {
            let _ = state.drain();
        }
        state.bytes.extend_from_slice(bytes);
    }

    /// The write end of the pipe, for programs.
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
        state.pipe = Some(CapturePipe { reader: Arc::new(reader), writer: Some(writer.clone()) });
        Ok(writer)
    }

    /// The read end of the pipe, which must be read while waiting; `None` if no program writes to it.
    #[must_use]
    pub fn reader(&self) -> Option<Arc<OwnedFd>> {
        self.lock().pipe.as_ref().map(|pipe| pipe.reader.clone())
    }

    /// Reads what the pipe contains. Returns whether all writers have closed it.
    ///
    /// # Errors
    /// As `read(2)`.
    pub fn drain(&self) -> io::Result<bool> {
        self.lock().drain()
    }

    /// The number of captured bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().bytes.len()
    }

    /// Whether nothing is captured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Closes the session's own write end. The pipe now ends when the programs do.
    pub fn close(&self) {
        if let Some(pipe) = &mut self.lock().pipe {
            pipe.writer = None;
        }
    }

    /// Takes all captured bytes.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().bytes)
    }

    fn lock(&self) -> MutexGuard<'_, CaptureState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CaptureState {
    /// Reads what the pipe contains, but returns after a while so that the session can check for cancellation.
    fn drain(&mut self) -> io::Result<bool> {
        let Some(pipe) = &self.pipe else { return Ok(true) };
        let enough = self.bytes.len() + MAX_DRAIN_BYTES;
        while self.bytes.len() < enough {
            self.bytes.reserve(READ_CHUNK_BYTES);
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

/// Reads into the spare capacity of a vector.
fn read_spare(descriptor: BorrowedFd<'_>, bytes: &mut Vec<u8>) -> rustix::io::Result<usize> {
    rustix::io::read(descriptor, rustix::buffer::spare_capacity(bytes))
}
