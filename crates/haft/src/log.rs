//! Messages on standard error, without waiting for a slow reader.
//!
//! A server must not wait for its log: a reader that does not drain standard error would stop every call and every
//! deadline. So a server queues its messages, within bounds, for a thread that writes them. Messages that do not fit are
//! dropped and counted. Every other command writes directly, and gives up when the reader takes nothing for
//! [`READER_TIMEOUT`].

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use haft_process::{Environment, Redactor};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stderr;

/// How long a direct write waits for a reader.
const READER_TIMEOUT: Duration = Duration::from_secs(1);
/// A writable pipe takes this many bytes without blocking.
const WRITE_BYTES: usize = 4096;
/// How long haft waits at its end for queued messages to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);
const MAX_QUEUED_MESSAGES: usize = 1024;
const MAX_QUEUED_BYTES: usize = 256 * 1024;

static SERVER_LOG: OnceLock<LogQueue> = OnceLock::new();
/// Set once a direct write has timed out. Later ones do not wait.
static READER_GAVE_UP: AtomicBool = AtomicBool::new(false);

/// Variables whose values are masked in messages if they look like keys.
static MASKED_VARIABLES: OnceLock<Environment> = OnceLock::new();
static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// Masks the values of keys among these variables in all later messages.
pub(crate) fn mask_keys(variables: Environment) {
    let _ = MASKED_VARIABLES.set(variables);
}

/// Writes text to standard error; in a server, queues it.
pub(crate) fn write(mut text: String) {
    if let Some(variables) = MASKED_VARIABLES.get() {
        REDACTOR.get_or_init(|| Redactor::new(variables.iter())).redact(&mut text);
    }
    match SERVER_LOG.get() {
        Some(queue) => queue.push(text),
        None => write_with_timeout(text.as_bytes()),
    }
}

/// Starts the thread that writes the messages of a server. Later messages are queued.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn start_queue() -> io::Result<()> {
    let queue = SERVER_LOG.get_or_init(LogQueue::default);
    let work = || queue.drain(|text| write_all(text.as_bytes()));
    std::thread::Builder::new().name("log".to_owned()).stack_size(128 * 1024).spawn(work)?;
    std::panic::set_hook(Box::new(|panic| write(format!("haft: {panic}\n"))));
    Ok(())
}

/// Waits until queued messages are written, for [`FLUSH_TIMEOUT`] at most.
pub(crate) fn flush() {
    if let Some(queue) = SERVER_LOG.get() {
        queue.wait_empty(FLUSH_TIMEOUT);
    }
}

/// Messages that wait to be written.
#[derive(Debug, Default)]
struct LogQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    messages: VecDeque<String>,
    bytes: usize,
    dropped: u64,
    is_writing: bool,
}

impl LogQueue {
    fn push(&self, text: String) {
        let mut state = self.lock();
        let full = state.messages.len() >= MAX_QUEUED_MESSAGES || state.bytes + text.len() > MAX_QUEUED_BYTES;
        // After a dropped message all others are dropped until the count is reported in their place.
        if full || state.dropped > 0 {
            state.dropped += 1;
        } else {
            state.bytes += text.len();
            state.messages.push_back(text);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Passes every message to `write`; never returns.
    fn drain(&self, write: impl Fn(&str)) {
        loop {
            let text = self.take();
            write(&text);
            self.lock().is_writing = false;
            self.changed.notify_all();
        }
    }

    /// Waits for the next message, or for the count of dropped messages.
    fn take(&self) -> String {
        let waiting = |state: &mut QueueState| state.messages.is_empty() && state.dropped == 0;
        let mut state = self.changed.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
        state.is_writing = true;
        if let Some(text) = state.messages.pop_front() {
            state.bytes -= text.len();
            return text;
        }
        let dropped = std::mem::take(&mut state.dropped);
        let noun = if dropped == 1 { "message" } else { "messages" };
        format!("haft: {dropped} {noun} dropped, because standard error was not read\n")
    }

    fn wait_empty(&self, limit: Duration) {
        let busy =
            |state: &mut QueueState| state.is_writing || !state.messages.is_empty() || state.dropped > 0;
        let _ = self.changed.wait_timeout_while(self.lock(), limit, busy);
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes all bytes, however long that takes.
fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(stderr(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(is_writable(Duration::from_secs(3600))),
            Err(_) => return,
        }
    }
}

/// Writes while the reader takes bytes within [`READER_TIMEOUT`].
fn write_with_timeout(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let timeout = if READER_GAVE_UP.load(Ordering::Relaxed) { Duration::ZERO } else { READER_TIMEOUT };
        if !is_writable(timeout) {
            READER_GAVE_UP.store(true, Ordering::Relaxed);
            return;
        }
        match rustix::io::write(stderr(), &bytes[..bytes.len().min(WRITE_BYTES)]) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

/// Waits until standard error is writable, for `limit` at most.
fn is_writable(limit: Duration) -> bool {
    let descriptor = stderr();
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut set = [PollFd::new(&descriptor, PollFlags::OUT)];
        match poll(&mut set, Some(&left)) {
            Err(Errno::INTR) => {}
            Err(_) => return true,
            Ok(ready) => return ready > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_do_not_fit_are_dropped_and_counted() {
        let queue = LogQueue::default();
        for number in 0..MAX_QUEUED_MESSAGES + 3 {
            queue.push(format!("{number}\n"));
        }
        for number in 0..MAX_QUEUED_MESSAGES {
            assert_eq!(queue.take(), format!("{number}\n"));
        }
        assert_eq!(queue.take(), "haft: 3 messages dropped, because standard error was not read\n");
        queue.push("after\n".to_owned());
        assert_eq!(queue.take(), "after\n");
    }

    #[test]
    fn waiting_for_an_unread_queue_ends_at_the_limit() {
        let queue = LogQueue::default();
        queue.push("unread\n".to_owned());
        let start = Instant::now();
        queue.wait_empty(Duration::from_millis(20));
        assert!(start.elapsed() >= Duration::from_millis(20));
    }
}
