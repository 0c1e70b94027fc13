//! Waiting for descriptors, with cancellation.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use haft_process::CancelToken;

/// What ended the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The descriptor at this place can be read, or has ended.
    Descriptor(usize),
    /// The time is over.
    TimedOut,
    /// The session is to stop.
    Cancelled,
    /// A signal arrived; whoever waits looks for traps and waits again.
    Interrupted,
}

/// Waits until one of the descriptors can be read.
#[must_use]
pub fn wait_readable(
    descriptors: &[BorrowedFd<'_>],
    timeout: Option<Duration>,
    cancel: &CancelToken,
) -> Ready {
    if cancel.is_cancelled() {
        return Ready::Cancelled;
    }
    let event = cancel.descriptor();
    let mut polled: Vec<PollFd<'_>> = descriptors
        .iter()
        .chain(&event)
        .map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN))
        .collect();
    let limit = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut polled, limit.as_ref()) {
        Ok(0) => Ready::TimedOut,
        Ok(_) => {
            let (own, cancelled) = polled.split_at(descriptors.len());
            if cancelled.iter().any(|entry| !entry.revents().is_empty()) && cancel.is_cancelled() {
                return Ready::Cancelled;
            }
            own.iter()
                .position(|entry| !entry.revents().is_empty())
                .map_or(Ready::Interrupted, Ready::Descriptor)
        }
        Err(_) => Ready::Interrupted,
    }
}
