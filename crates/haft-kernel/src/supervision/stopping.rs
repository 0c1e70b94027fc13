//! Ending the work of a run on threads of this process.
//!
//! For a script, each of its subshells on a thread is a process. When the run ends, they are treated as processes: they get
//! `SIGTERM`, so that traps run, and are stopped when the grace period is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_process::{CancelToken, InProcessWork, Signals};

use crate::jobs::ThreadControl;
use crate::memory::MemoryBudget;
use crate::signals::SignalInbox;

/// The longest time until all programs of a run were signalled.
const SIGNAL_ALL_TIMEOUT: Duration = Duration::from_secs(5);

/// All work of this process that belongs to a run.
#[derive(Debug)]
pub(crate) struct Stopping {
    /// Stops everything, including traps.
    pub(crate) stop: CancelToken,
    /// The script itself.
    pub(crate) main: ThreadControl,
    asked: AtomicBool,
    /// Whether traps may run after the request to end. They must wait until all programs were signalled, because programs that
    /// they start must not be.
    may_end: Mutex<bool>,
    changed: Condvar,
    threads: Mutex<Vec<ThreadControl>>,
    /// The memory of the script, unless this is only a part of the work.
    memory: Option<MemoryBudget>,
    /// The work that this is a part of.
    outer: Option<Arc<Stopping>>,
}

impl Stopping {
    /// The work of a run.
    pub(crate) fn new(memory: &MemoryBudget) -> Arc<Stopping> {
        Arc::new(Stopping { memory: Some(memory.clone()), ..Stopping::of(CancelToken::new(), None) })
    }

    /// A part of this work, which can be ended separately.
    pub(crate) fn part(self: &Arc<Self>) -> Arc<Stopping> {
        Arc::new(Stopping::of(self.stop.child(), Some(self.clone())))
    }

    fn of(stop: CancelToken, outer: Option<Arc<Stopping>>) -> Stopping {
        let main = ThreadControl { cancel: stop.child(), stop: stop.clone(), signals: Arc::default() };
        Stopping {
            stop,
            main,
            asked: AtomicBool::new(false),
            may_end: Mutex::default(),
            changed: Condvar::new(),
            threads: Mutex::default(),
            memory: None,
            outer,
        }
    }

    pub(super) fn is_part(&self) -> bool {
        self.outer.is_some()
    }

    /// The work of the whole run.
    pub(super) fn outermost(&self) -> &Stopping {
        self.outer.as_ref().map_or(self, |outer| outer.outermost())
    }

    /// Whether everything that belongs to it is being ended.
    pub(crate) fn is_ending(&self) -> bool {
        self.asked.load(Ordering::Acquire) || self.outer.as_ref().is_some_and(|outer| outer.is_ending())
    }

    /// After the request to end, waits until traps may run.
    pub(crate) fn await_others(&self) {
        if self.asked.load(Ordering::Acquire) {
            let may_end = self.may_end.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.changed.wait_timeout_while(may_end, SIGNAL_ALL_TIMEOUT, |may_end| !*may_end);
            drop(waited);
        }
        self.outer.iter().for_each(|outer| outer.await_others());
    }

    /// Registers a thread until the result is dropped.
    pub(crate) fn register(self: &Arc<Self>, control: &ThreadControl) -> RegisteredThread {
        let mut next = Some(self);
        while let Some(stopping) = next {
            stopping.threads().push(control.clone());
            next = stopping.outer.as_ref();
        }
        RegisteredThread { stopping: self.clone(), signals: control.signals.clone() }
    }

    /// Sends a signal to all threads.
    pub(crate) fn signal(&self, signal: i32) {
        let threads = self.threads().clone();
        threads.iter().for_each(|thread| thread.signal(signal));
    }

    fn threads(&self) -> MutexGuard<'_, Vec<ThreadControl>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InProcessWork for Stopping {
    fn request_end(&self) {
        self.asked.store(true, Ordering::Release);
        let threads = self.threads().clone();
        threads.iter().for_each(|thread| thread.ask_to_end(|cancel| cancel.cancel_as(Signals::TERM)));
        self.main.ask_to_end(CancelToken::cancel);
    }

    fn allow_cleanup(&self) {
        *self.may_end.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.allow_cleanup();
        self.asked.store(true, Ordering::Release);
        self.stop.cancel();
    }

    fn is_busy(&self) -> bool {
        !self.threads().is_empty()
    }

    fn memory(&self) -> u64 {
        self.memory.as_ref().map_or(0, MemoryBudget::used)
    }

    fn set_program_memory(&self, bytes: u64) {
        self.memory.iter().for_each(|memory| memory.set_program_memory(bytes));
    }
}

/// The registration of a thread in a run.
#[derive(Debug)]
pub(crate) struct RegisteredThread {
    stopping: Arc<Stopping>,
    signals: Arc<SignalInbox>,
}

impl Drop for RegisteredThread {
    fn drop(&mut self) {
        let mut next = Some(&self.stopping);
        while let Some(stopping) = next {
            stopping.threads().retain(|thread| !Arc::ptr_eq(&thread.signals, &self.signals));
            next = stopping.outer.as_ref();
        }
    }
}
