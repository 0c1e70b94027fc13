//! Our standard output and error, as places that may not take what we have to show.
//!
//! What is shown is written by the thread that also keeps the deadline, so it must never wait for a reader longer than
//! that: who does not read must not keep the program alive. What he has not taken when the time is up waits, within
//! bounds, until the program has ended, and then a moment longer.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::{stderr, stdout};

/// A pipe that has room at all has room for so many bytes.
const CHUNK: usize = 4096;
/// So many bytes wait for a reader.
const BACKLOG: usize = 1 << 20;
/// So long a reader may take nothing once the program has ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// One of the two.
#[derive(Debug)]
pub(super) struct OutputSink {
    index: usize,
    deadline: Option<Instant>,
    cancel: CancelToken,
    backlog: Vec<u8>,
    lost: u64,
    gone: bool,
}

impl OutputSink {
    pub(super) fn new(index: usize, timeout: Option<Duration>, cancel: &CancelToken) -> OutputSink {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        OutputSink { index, deadline, cancel: cancel.clone(), backlog: Vec::new(), lost: 0, gone: false }
    }

    /// Shows bytes, for as long as the program may run.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let left = if self.backlog.is_empty() { self.pass_on(bytes) } else { bytes };
        let kept = left.len().min(BACKLOG - self.backlog.len());
        self.backlog.extend_from_slice(&left[..kept]);
        self.lost += (left.len() - kept) as u64;
    }

    /// Shows what is left; the program has ended. Says how many bytes nobody took.
    pub(super) fn finish(&mut self) -> u64 {
        self.deadline = None;
        let backlog = std::mem::take(&mut self.backlog);
        let mut left = backlog.as_slice();
        while !left.is_empty() && !self.gone && self.is_ready(Some(PATIENCE), false) {
            left = self.write_some(left);
        }
        if self.gone { 0 } else { self.lost + left.len() as u64 }
    }

    /// Writes until there is nothing left or the time is up; answers with what is left.
    fn pass_on<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while !bytes.is_empty() && !self.gone {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !self.is_ready(left, true) {
                return bytes;
            }
            bytes = self.write_some(bytes);
        }
        &[]
    }

    /// Waits until something can be written, for so long at most, or until the run is cancelled.
    fn is_ready(&self, limit: Option<Duration>, cancellable: bool) -> bool {
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
            Err(Errno::INTR) => self.is_ready(Some(Duration::ZERO), cancellable),
            Err(_) => true,
            Ok(_) => !set[0].revents().is_empty(),
        }
    }

    fn write_some<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        match rustix::io::write(self.descriptor(), &bytes[..bytes.len().min(CHUNK)]) {
            Ok(count) => &bytes[count..],
            Err(Errno::INTR | Errno::AGAIN) => bytes,
            // Whoever reads our output may have gone; the program goes on all the same.
            Err(_) => {
                self.gone = true;
                &[]
            }
        }
    }

    fn descriptor(&self) -> BorrowedFd<'static> {
        if self.index == 0 { stdout() } else { stderr() }
    }
}
