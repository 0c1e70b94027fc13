//! Opening a named pipe, which waits until somebody opens its other end.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use haft_fs::File;
use haft_process::CancelToken;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{Mode, OFlags};

use super::{Ready, wait_readable};

/// Opens a named pipe, unless the token is cancelled before somebody opens the other end: that is
/// [`io::ErrorKind::Interrupted`]. `real` is where it is on this machine.
pub(crate) fn open_fifo(
    real: &Path,
    open: impl FnOnce() -> io::Result<File> + Send + 'static,
    cancel: &CancelToken,
) -> io::Result<File> {
    let event = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (sender, receiver) = mpsc::channel();
    let done = event.clone();
    thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let _ = sender.send(open());
        let _ = rustix::io::write(&*done, &1u64.to_ne_bytes());
    })?;
    loop {
        match wait_readable(&[event.as_fd()], None, cancel) {
            Ready::Descriptor(_) => return receiver.recv().unwrap_or(Err(io::ErrorKind::Other.into())),
            Ready::Cancelled => {
                // Both ends at once, which never waits, let the thread go on to its end.
                let other =
                    rustix::fs::open(real, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
                if other.is_ok() {
                    let _ = receiver.recv();
                }
                return Err(io::ErrorKind::Interrupted.into());
            }
            Ready::TimedOut | Ready::Interrupted => {}
        }
    }
}
