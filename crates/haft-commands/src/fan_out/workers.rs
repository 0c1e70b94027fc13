//! The threads that branches run on.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use haft_kernel::{Branch, Bytes, CancelToken, STACK};
use rustix::event::{EventfdFlags, eventfd};

use super::item_result::ItemResult;
use super::schedule::ItemAttempt;

/// Threads, started as they are needed, that take branches from a queue. Those that end leave their results, and say so
/// through a descriptor.
#[derive(Debug)]
pub(super) struct Workers {
    limit: usize,
    shared: Arc<WorkQueue>,
    threads: Vec<JoinHandle<()>>,
    /// What stops those that run, by the place of their item.
    running: HashMap<u64, CancelToken>,
}

#[derive(Debug)]
struct WorkQueue {
    state: Mutex<WorkQueueState>,
    changed: Condvar,
    event: OwnedFd,
}

#[derive(Debug, Default)]
struct WorkQueueState {
    queue: VecDeque<(ItemAttempt<Bytes>, Branch)>,
    idle: usize,
    ended: Vec<(ItemAttempt<Bytes>, ItemResult)>,
    closed: bool,
}

impl Workers {
    pub(super) fn new(limit: usize) -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(WorkQueue { state: Mutex::default(), changed: Condvar::new(), event });
        Ok(Self { limit, shared, threads: Vec::new(), running: HashMap::new() })
    }

    /// A descriptor that can be read when a branch has ended.
    pub(super) fn event(&self) -> BorrowedFd<'_> {
        self.shared.event.as_fd()
    }

    /// Runs a branch.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub(super) fn start(&mut self, attempt: ItemAttempt<Bytes>, branch: Branch) -> io::Result<()> {
        let mut state = self.shared.lock();
        if state.queue.len() >= state.idle && self.threads.len() < self.limit {
            let shared = self.shared.clone();
            match thread::Builder::new()
                .name("branch".to_owned())
                .stack_size(STACK)
                .spawn(move || shared.work())
            {
                Ok(thread) => self.threads.push(thread),
                // With fewer threads it takes longer.
                Err(error) if self.threads.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        self.running.insert(attempt.index, branch.cancel_token());
        state.queue.push_back((attempt, branch));
        let sleeps = state.idle > 0;
        drop(state);
        if sleeps {
            self.shared.changed.notify_one();
        }
        Ok(())
    }

    /// Takes the results that are there.
    pub(super) fn take(&mut self) -> Vec<(ItemAttempt<Bytes>, ItemResult)> {
        let _ = rustix::io::read(&self.shared.event, &mut [0; 8]);
        let ended = std::mem::take(&mut self.shared.lock().ended);
        for (attempt, _) in &ended {
            self.running.remove(&attempt.index);
        }
        ended
    }

    /// Stops whatever runs.
    pub(super) fn cancel(&self) {
        self.running.values().for_each(CancelToken::cancel);
    }

    /// Stops whatever runs, and waits for it.
    pub(super) fn end(&mut self) {
        self.cancel();
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}

impl WorkQueue {
    fn lock(&self) -> MutexGuard<'_, WorkQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does.
    fn work(&self) {
        while let Some((attempt, branch)) = self.wait() {
            let started = SystemTime::now();
            let finished = ItemResult::new(branch.run(), started);
            self.lock().ended.push((attempt, finished));
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        }
    }

    /// The next branch; `None` when there will be no more.
    fn wait(&self) -> Option<(ItemAttempt<Bytes>, Branch)> {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.queue.pop_front() {
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
