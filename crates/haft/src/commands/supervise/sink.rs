//! Writes to standard output and standard error that a slow reader cannot block.
//!
//! The thread that prints output also keeps the deadline, so it must not wait for a reader beyond that. Bytes that the
//! reader has not taken by then wait in a bounded backlog until the program has ended, and are written then if the reader
//! takes them within [`READER_TIMEOUT`].

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::{stderr, stdout};

/// A writable pipe takes this many bytes without blocking.
const WRITE_BYTES: usize = 4096;
const MAX_BACKLOG_BYTES: usize = 1 << 20;
/// How long a reader may take nothing after the program has ended.
const READER_TIMEOUT: Duration = Duration::from_secs(1);

/// Standard output or standard error of haft.
#[derive(Debug)]
pub(super) struct OutputSink {
    index: usize,
    deadline: Option<Instant>,
    cancel: CancelToken,
    backlog: Vec<u8>,
    lost: u64,
    /// Whether the reader has closed its end.
    closed: bool,
}

impl OutputSink {
    /// Standard output for index 0, standard error otherwise.
    pub(super) fn new(index: usize, timeout: Option<Duration>, cancel: &CancelToken) -> OutputSink {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        OutputSink { index, deadline, cancel: cancel.clone(), backlog: Vec::new(), lost: 0, closed: false }
    }

    /// Writes bytes, waiting for the reader until the deadline at most.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let left = if self.backlog.is_empty() { self.write_until_deadline(bytes) } else { bytes };
        let kept = left.len().min(MAX_BACKLOG_BYTES - self.backlog.len());
        self.backlog.extend_from_slice(&left[..kept]);
        self.lost += (left.len() - kept) as u64;
    }

    /// Writes the backlog after the program has ended. Returns how many bytes were lost.
    pub(super) fn finish(&mut self) -> u64 {
        self.deadline = None;
        let backlog = std::mem::take(&mut self.backlog);
        let mut left = backlog.as_slice();
        while !left.is_empty() && !self.closed && self.is_writable(Some(READER_TIMEOUT), false) {
            left = self.write_some(left);
        }
        if self.closed { 0 } else { self.lost + left.len() as u64 }
    }

    /// Writes until nothing is left or the deadline has passed. Returns what is left.
    fn write_until_deadline<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while !bytes.is_empty() && !self.closed {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !self.is_writable(left, true) {
                return bytes;
            }
            bytes = self.write_some(bytes);
        }
        &[]
    }

    /// Waits for room, until the limit or cancellation.
    fn is_writable(&self, limit: Option<Duration>, cancellable: bool) -> bool {
        let descriptor = self.descriptor();
        let mut set = vec![PollFd::new(&descriptor, PollFlags::OUT)];
        if let (true, Ok(cancelled)) = (cancellable, self.cancel.descriptor()) {
            set.push(PollFd::from_borrowed_fd(cancelled, PollFlags::IN));
        }
        let limit = limit.map(|limit| Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        });
        match poll(&mut set, limit.as_ref()) {
            Err(Errno::INTR) => self.is_writable(Some(Duration::ZERO), cancellable),
            Err(_) => true,
            Ok(_) => !set[0].revents().is_empty(),
        }
    }

    fn write_some<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        match rustix::io::write(self.descriptor(), &bytes[..bytes.len().min(WRITE_BYTES)]) {
            Ok(count) => &bytes[count..],
            Err(Errno::INTR | Errno::AGAIN) => bytes,
            // The program goes on when its reader has gone.
            Err(_) => {
                self.closed = true;
                &[]
            }
        }
    }

    fn descriptor(&self) -> BorrowedFd<'static> {
        if self.index == 0 { stdout() } else { stderr() }
    }
}
