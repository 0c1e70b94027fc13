//! One stage of a job: a process, or a thread of this one.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_process::{CancelToken, Child, Disposition, Exit};
use rustix::event::{EventfdFlags, eventfd};

use super::number::next_number;
use crate::run::{StageRecorder, TERMINATE};
use crate::signals::SignalInbox;

/// The signal that nobody can do anything about.
const KILL: i32 = 9;

/// A stage of a job.
#[derive(Debug)]
pub struct Member {
    /// Its process number; one that no process has, for a thread.
    pub pid: i32,
    /// Its status, once it has ended.
    pub status: Option<i32>,
    /// The signal that ended it, if one did.
    pub died: Option<i32>,
    /// Whether it is a process substitution.
    pub is_substitution: bool,
    work: Work,
    /// What is known of it, if it is recorded.
    record: Option<Box<StageRecorder>>,
}

#[derive(Debug)]
enum Work {
    Process(Child),
    Thread { completion: Arc<Completion>, control: ThreadControl },
    Gone,
}

/// How a thread that runs a subshell is reached.
#[derive(Clone, Debug)]
pub struct ThreadControl {
    /// Ends it.
    pub cancel: CancelToken,
    /// Ends it even while it runs the traps that are due at its end.
    pub stop: CancelToken,
    /// Where its traps are served.
    pub signals: Arc<SignalInbox>,
}

impl From<CancelToken> for ThreadControl {
    /// Whoever has no traps of its own is only ended.
    fn from(cancel: CancelToken) -> Self {
        Self { cancel, stop: CancelToken::new(), signals: Arc::default() }
    }
}

impl ThreadControl {
    /// Sends a signal: its trap runs, or it ends by those that would end a process.
    pub fn signal(&self, signal: i32) {
        match self.signals.disposition(signal) {
            Disposition::Catch => self.signals.raise(signal),
            Disposition::Ignore => {}
            Disposition::Default if matches!(signal, 0 | 17 | 18 | 20..=23 | 28) => {}
            Disposition::Default => {
                self.cancel.cancel_as(signal);
                if signal == KILL {
                    self.stop.cancel();
                }
            }
        }
    }

    /// Sends it what asks programs to end, and to the subshells in its place as well; `cancel` is what is done to one that
    /// has no trap for it.
    pub(crate) fn ask_to_end(&self, cancel: impl FnOnce(&CancelToken)) {
        match self.signals.disposition(TERMINATE) {
            Disposition::Catch => {
                self.signals.raise(TERMINATE);
                self.signals.end_nested(TERMINATE);
            }
            Disposition::Ignore => {}
            Disposition::Default => cancel(&self.cancel),
        }
    }
}

/// Where a thread leaves its status.
#[derive(Debug)]
pub struct Completion {
    status: OnceLock<i32>,
    record: Mutex<Option<Box<StageRecorder>>>,
    event: Option<OwnedFd>,
}

impl Completion {
    /// One that is still open.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        Arc::new(Self { status: OnceLock::new(), record: Mutex::default(), event })
    }

    /// Leaves the record of the stage.
    pub(crate) fn leave_record(&self, record: Option<Box<StageRecorder>>) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) = record;
    }

    fn take_record(&self) -> Option<Box<StageRecorder>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Leaves the status.
    pub fn complete(&self, status: i32) {
        let _ = self.status.set(status);
        if let Some(event) = &self.event {
            let _ = rustix::io::write(event, &1u64.to_ne_bytes());
        }
    }
}

impl Member {
    /// A process.
    #[must_use]
    pub fn process(child: Child) -> Self {
        Self {
            pid: child.pid(),
            status: None,
            died: None,
            is_substitution: false,
            work: Work::Process(child),
            record: None,
        }
    }

    /// A thread.
    #[must_use]
    pub fn thread(pid: i32, completion: Arc<Completion>, control: impl Into<ThreadControl>) -> Self {
        let control = control.into();
        Self {
            pid,
            status: None,
            died: None,
            is_substitution: false,
            work: Work::Thread { completion, control },
            record: None,
        }
    }

    /// A stage that has ended already: one that could not start, or that ran in the place of the session. Its number is
    /// one that no process has, so that a signal to it reaches nothing.
    #[must_use]
    pub fn ended(status: i32) -> Self {
        let pid = next_number();
        Self { pid, status: Some(status), died: None, is_substitution: false, work: Work::Gone, record: None }
    }

    /// Adds the record of the stage.
    pub(crate) fn recorded(mut self, record: Option<Box<StageRecorder>>) -> Self {
        self.record = record;
        if let (Some(record), Some(status)) = (&mut self.record, self.status) {
            record.end_with(status);
        }
        self
    }

    /// The record of the stage, and its status.
    pub(crate) fn into_record(self) -> Option<(Box<StageRecorder>, i32)> {
        let left = match &self.work {
            Work::Thread { completion, .. } => completion.take_record(),
            Work::Process(_) | Work::Gone => self.record,
        };
        Some((left?, self.status.unwrap_or(0)))
    }

    /// Looks whether it has ended, without waiting.
    pub fn update(&mut self) {
        if self.status.is_some() {
            return;
        }
        self.status = match &mut self.work {
            Work::Process(child) => match child.try_wait() {
                Ok(None) => None,
                Ok(Some((exit, usage))) => {
                    self.record.iter_mut().for_each(|record| record.end(exit, usage));
                    if let Exit::Signal(signal) = exit {
                        self.died = Some(signal);
                    }
                    Some(exit.code())
                }
                Err(_) => Some(127),
            },
            Work::Thread { completion, .. } => completion.status.get().copied(),
            Work::Gone => Some(0),
        };
    }

    /// Whether it is a process that cannot be killed.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        matches!(&self.work, Work::Process(child) if child.is_stuck())
    }

    /// A descriptor that can be read when it has ended.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.work {
            Work::Process(child) => child.pidfd(),
            Work::Thread { completion, .. } => completion.event.as_ref().map(|event| event.as_fd()),
            Work::Gone => None,
        }
    }

    /// Sends it a signal. A thread ends by those that would end a process.
    pub fn signal(&self, signal: i32) {
        match &self.work {
            Work::Process(child) => drop(child.signal(signal)),
            Work::Thread { control, .. } => control.signal(signal),
            Work::Gone => {}
        }
    }

    /// Sends a signal to it and to the process group that it leads.
    pub fn signal_group(&self, signal: i32) {
        self.signal(signal);
        if let Work::Process(child) = &self.work
            && let Some(group) = child.group().and_then(rustix::process::Pid::from_raw)
            && let Some(signal) = rustix::process::Signal::from_named_raw(signal)
        {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// How it is reached, if it is a thread of this process.
    #[must_use]
    pub fn control(&self) -> Option<&ThreadControl> {
        match &self.work {
            Work::Thread { control, .. } => Some(control),
            Work::Process(_) | Work::Gone => None,
        }
    }

    /// Whether it is a thread of this process.
    #[must_use]
    pub fn is_thread(&self) -> bool {
        matches!(self.work, Work::Thread { .. })
    }

    /// Lets it go on without anybody waiting for it.
    pub fn detach(self) {
        if let Work::Process(child) = self.work {
            child.detach();
        }
    }
}
