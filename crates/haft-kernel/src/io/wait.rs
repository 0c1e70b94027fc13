//! Waiting for descriptors, with cancellation.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use haft_process::CancelToken;

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The descriptor at this index is readable or closed.
    Descriptor(usize),
    /// The timeout has passed.
    TimedOut,
    /// The token was cancelled.
    Cancelled,
    /// A signal has arrived. The caller runs traps and waits again.
    Interrupted,
}

/// Waits until one of the descriptors is readable.
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
