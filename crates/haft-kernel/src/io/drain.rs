//! Writing to files of the system that may have no room, without being held up when one is to stop.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::time::Duration;

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ReadWriteFlags, pwritev2, write};

/// What has room at all takes so many bytes without waiting.
const CHUNK: usize = 4096;

/// How long a reader is still waited for when one is to stop: what was written before that shall not be lost to a reader
/// who is only slow.
const LAST_CHANCE: Duration = Duration::from_millis(50);

/// Writes everything, however long that takes.
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

/// Writes everything, unless the token is cancelled while there is no room: that is [`io::ErrorKind::Interrupted`].
pub(super) fn write_until(file: &OwnedFd, mut bytes: &[u8], cancel: &CancelToken) -> io::Result<()> {
    let mut largest = usize::MAX;
    while !bytes.is_empty() {
        match write_now(file, &bytes[..bytes.len().min(largest)], largest == CHUNK) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for_room(file, cancel)?,
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) if largest != CHUNK => {
                largest = CHUNK;
                wait_for_room(file, cancel)?;
            }
            Err(error) => return Err(error.into()),
        }
        if largest == CHUNK && !bytes.is_empty() {
            wait_for_room(file, cancel)?;
        }
    }
    Ok(())
}

/// Writes what there is room for. Not every kind of file can be asked not to wait.
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
    let limit = Timespec::try_from(LAST_CHANCE).ok();
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], limit.as_ref()) {
        Ok(1) => Ok(()),
        _ => Err(io::ErrorKind::Interrupted.into()),
    }
}
