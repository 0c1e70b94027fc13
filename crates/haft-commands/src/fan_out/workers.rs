//! Worker threads that run the branches of a fan-out.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Instant, SystemTime};

use haft_kernel::{Branch, BranchEnd, CancelToken, STACK};
use haft_scale::{ItemAttempt, ItemEnd, ItemRecord, WireBytes};
use rustix::event::{EventfdFlags, eventfd};

/// A pool of threads, started on demand, that take branches from a queue. An eventfd signals finished branches.
#[derive(Debug)]
pub(super) struct Workers {
    limit: usize,
    queue: Arc<WorkQueue>,
    threads: Vec<JoinHandle<()>>,
    /// Cancel tokens of queued and running branches, by item index.
    running: HashMap<u64, CancelToken>,
}

#[derive(Debug)]
struct WorkQueue {
    state: Mutex<WorkQueueState>,
    changed: Condvar,
    event: OwnedFd,
    announces_start: bool,
}

#[derive(Debug, Default)]
struct WorkQueueState {
    queue: VecDeque<(ItemAttempt, Branch)>,
    idle: usize,
    finished: Vec<(ItemAttempt, ItemRecord)>,
    /// When the branches that run were started, by item index.
    started: HashMap<u64, Instant>,
    closed: bool,
}

impl Workers {
    /// Runs up to `limit` branches at a time. With `announces_start`, the event also signals that a branch was started.
    pub(super) fn new(limit: usize, announces_start: bool) -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let queue =
            Arc::new(WorkQueue { state: Mutex::default(), changed: Condvar::new(), event, announces_start });
        Ok(Self { limit, queue, threads: Vec::new(), running: HashMap::new() })
    }

    /// A descriptor that becomes readable when a branch has finished.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.queue.event.as_fd()
    }

    /// Queues a branch, and starts another thread for it if that is allowed.
    ///
    /// # Errors
    /// Fails if no thread runs and none can be started.
    pub(super) fn start(&mut self, attempt: ItemAttempt, branch: Branch) -> io::Result<()> {
        let mut state = self.queue.lock();
        if state.queue.len() >= state.idle && self.threads.len() < self.limit {
            let queue = self.queue.clone();
            match thread::Builder::new()
                .name("branch".to_owned())
                .stack_size(STACK)
                .spawn(move || queue.work())
            {
                Ok(thread) => self.threads.push(thread),
                // The threads that already run will take the branch.
                Err(error) if self.threads.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        self.running.insert(attempt.index, branch.cancel_token());
        state.queue.push_back((attempt, branch));
        let has_idle_worker = state.idle > 0;
        drop(state);
        if has_idle_worker {
            self.queue.changed.notify_one();
        }
        Ok(())
    }

    /// Removes and returns the results of finished branches.
    pub(super) fn take_finished(&mut self) -> Vec<(ItemAttempt, ItemRecord)> {
        let _ = rustix::io::read(&self.queue.event, &mut [0; 8]);
        let finished = std::mem::take(&mut self.queue.lock().finished);
        for (attempt, _) in &finished {
            self.running.remove(&attempt.index);
        }
        finished
    }

    /// When the branches that run were started, by item index.
    pub(super) fn started(&self) -> HashMap<u64, Instant> {
        self.queue.lock().started.clone()
    }

    /// Cancels the branch of an item.
    pub(super) fn cancel_item(&self, index: u64) {
        if let Some(token) = self.running.get(&index) {
            token.cancel();
        }
    }

    /// Cancels all queued and running branches.
    pub(super) fn cancel(&self) {
        self.running.values().for_each(CancelToken::cancel);
    }

    /// Cancels all branches and waits until their threads have exited.
    pub(super) fn shut_down(&mut self) {
        self.cancel();
        self.queue.lock().closed = true;
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl WorkQueue {
    fn lock(&self) -> MutexGuard<'_, WorkQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a worker thread.
    fn work(&self) {
        while let Some((attempt, branch)) = self.next_branch() {
            let started = SystemTime::now();
            if self.announces_start {
                self.signal();
            }
            let record = record(attempt.index, branch.run(), started);
            let mut state = self.lock();
            state.started.remove(&attempt.index);
            state.finished.push((attempt, record));
            drop(state);
            self.signal();
        }
    }

    fn signal(&self) {
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Waits for the next branch. Returns `None` after the queue was closed.
    fn next_branch(&self) -> Option<(ItemAttempt, Branch)> {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.queue.pop_front() {
                state.started.insert(next.0.index, Instant::now());
                return Some(next);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

/// The record of a branch that has ended.
fn record(index: u64, end: BranchEnd, started: SystemTime) -> ItemRecord {
    let BranchEnd { status, stdout, stderr, duration, interrupted } = end;
    ItemRecord {
        index,
        item: WireBytes::default(),
        attempts: 0,
        status,
        stdout: stdout.into(),
        stderr: stderr.into(),
        started,
        duration,
        end: if interrupted { ItemEnd::Interrupted } else { ItemEnd::Ordinary },
        node: None,
        job: None,
    }
}
