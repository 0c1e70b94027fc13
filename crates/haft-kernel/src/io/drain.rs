//! Writing to files that may block, with cancellation.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::time::Duration;

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ReadWriteFlags, pwritev2, write};

/// A writable pipe or terminal takes this many bytes without blocking.
const UNBLOCKED_WRITE_BYTES: usize = 4096;

/// How long a cancelled write still waits for the reader, so that a slow reader gets what was written before.
const CANCEL_GRACE: Duration = Duration::from_millis(50);

/// Writes everything and blocks as long as necessary.
pub(super) fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(file, bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(file, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes everything. Fails with [`io::ErrorKind::Interrupted`] if the token is cancelled while the file blocks.
pub(super) fn write_until(file: &OwnedFd, mut bytes: &[u8], cancel: &CancelToken) -> io::Result<()> {
    let mut largest = usize::MAX;
    while !bytes.is_empty() {
        match write_now(file, &bytes[..bytes.len().min(largest)], largest == UNBLOCKED_WRITE_BYTES) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for_room(file, cancel)?,
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) if largest != UNBLOCKED_WRITE_BYTES => {
                largest = UNBLOCKED_WRITE_BYTES;
                wait_for_room(file, cancel)?;
            }
            Err(error) => return Err(error.into()),
        }
        if largest == UNBLOCKED_WRITE_BYTES && !bytes.is_empty() {
            wait_for_room(file, cancel)?;
        }
    }
    Ok(())
}

/// Writes without blocking. Not every kind of file supports that; `plainly` then writes normally.
fn write_now(file: &OwnedFd, bytes: &[u8], plainly: bool) -> Result<usize, Errno> {
    match plainly {
        true => write(file, bytes),
        false => pwritev2(file, &[IoSlice::new(bytes)], u64::MAX, ReadWriteFlags::NOWAIT),
    }
}

fn wait_for_room(file: &OwnedFd, cancel: &CancelToken) -> io::Result<()> {
    let cancelled = cancel.descriptor().ok();
    let mut set = vec![PollFd::new(file, PollFlags::OUT)];
    set.extend(cancelled.map(|event| PollFd::from_borrowed_fd(event, PollFlags::IN)));
    let _ = poll(&mut set, None);
    if !set[0].revents().is_empty() || !cancel.is_cancelled() {
        return Ok(());
    }
    let limit = Timespec::try_from(CANCEL_GRACE).ok();
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], limit.as_ref()) {
        Ok(1) => Ok(()),
        _ => Err(io::ErrorKind::Interrupted.into()),
    }
}
