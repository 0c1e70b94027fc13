//! One stage of a job: a process, or a thread of this process.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_process::{CancelToken, Child, Disposition, Exit, Signals};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::Signal;

use super::number::next_number;
use crate::flow::NOT_FOUND;
use crate::signals::SignalInbox;
use crate::supervision::StageRecorder;

/// A stage of a job.
#[derive(Debug)]
pub struct Member {
    /// Its process number. A thread has a number that no process has.
    pub pid: i32,
    /// Its status, once it has ended.
    pub status: Option<i32>,
    /// The signal that ended it, if one did.
    pub died: Option<i32>,
    /// Whether it is a process substitution.
    pub is_substitution: bool,
    work: MemberWork,
    /// Its record, if it is recorded.
    record: Option<Box<StageRecorder>>,
}

#[derive(Debug)]
enum MemberWork {
    Process(Child),
    Thread { completion: Arc<Completion>, control: ThreadControl },
    Gone,
}

/// Controls a thread that runs a subshell.
#[derive(Clone, Debug)]
pub struct ThreadControl {
    /// Cancels it.
    pub cancel: CancelToken,
    /// Stops it even while its last traps run.
    pub stop: CancelToken,
    /// Its inbox for signals.
    pub signals: Arc<SignalInbox>,
}

impl From<CancelToken> for ThreadControl {
    /// A thread without traps can only be cancelled.
    fn from(cancel: CancelToken) -> Self {
        Self { cancel, stop: CancelToken::new(), signals: Arc::default() }
    }
}

impl ThreadControl {
    /// Sends a signal: its trap runs, or the thread ends if the signal would end a process.
    pub fn signal(&self, signal: i32) {
        match self.signals.disposition(signal) {
            Disposition::Catch => self.signals.raise(signal),
            Disposition::Ignore => {}
            Disposition::Default if !ends_process(signal) => {}
            Disposition::Default => {
                self.cancel.cancel_as(signal);
                if signal == Signals::KILL {
                    self.stop.cancel();
                }
            }
        }
    }

    /// Sends `SIGTERM` to it and to the subshells on its thread. Without a trap for it, `cancel` is called instead.
    pub(crate) fn ask_to_end(&self, cancel: impl FnOnce(&CancelToken)) {
        match self.signals.disposition(Signals::TERM) {
            Disposition::Catch => {
                self.signals.raise(Signals::TERM);
                self.signals.end_nested(Signals::TERM);
            }
            Disposition::Ignore => {}
            Disposition::Default => cancel(&self.cancel),
        }
    }
}

/// Whether the default action of a signal ends a process.
fn ends_process(signal: i32) -> bool {
    let stops = matches!(signal, Signals::TSTP | Signals::TTIN | Signals::TTOU);
    let ignored = matches!(signal, 0 | Signals::CHLD | Signals::CONT | Signals::WINCH);
    !stops && !ignored && signal != Signal::URG.as_raw()
}

/// Receives the status of a thread.
#[derive(Debug)]
pub struct Completion {
    status: OnceLock<i32>,
    record: Mutex<Option<Box<StageRecorder>>>,
    event: Option<OwnedFd>,
}

impl Completion {
    /// A completion without a status.
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

    /// Sets the status.
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
            work: MemberWork::Process(child),
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
            work: MemberWork::Thread { completion, control },
            record: None,
        }
    }

    /// A stage that has ended already: it could not start, or it ran on the thread of the session. No process has its number,
    /// so a signal to it does nothing.
    #[must_use]
    pub fn ended(status: i32) -> Self {
        let pid = next_number();
        Self {
            pid,
            status: Some(status),
            died: None,
            is_substitution: false,
            work: MemberWork::Gone,
            record: None,
        }
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
            MemberWork::Thread { completion, .. } => completion.take_record(),
            MemberWork::Process(_) | MemberWork::Gone => self.record,
        };
        Some((left?, self.status.unwrap_or(0)))
    }

    /// Checks whether it has ended, without waiting.
    pub fn update(&mut self) {
        self.finish(false);
    }

    fn finish(&mut self, block: bool) {
        if self.status.is_some() {
            return;
        }
        self.status = match &mut self.work {
            MemberWork::Process(child) => match if block { child.wait().map(Some) } else { child.try_wait() }
            {
                Ok(None) => None,
                Ok(Some((exit, usage))) => {
                    self.record.iter_mut().for_each(|record| record.end(exit, usage));
                    if let Exit::Signal(signal) = exit {
                        self.died = Some(signal);
                    }
                    Some(exit.code())
                }
                Err(_) => Some(NOT_FOUND),
            },
            MemberWork::Thread { completion, .. } => completion.status.get().copied(),
            MemberWork::Gone => Some(0),
        };
    }

    /// Waits until it has ended and serves nothing meanwhile. Only for a member without a [descriptor](Member::descriptor).
    pub fn wait_without_descriptor(&mut self) -> i32 {
        self.finish(true);
        *self.status.get_or_insert(NOT_FOUND)
    }

    /// Whether it is a process that cannot be killed.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        matches!(&self.work, MemberWork::Process(child) if child.is_stuck())
    }

    /// A descriptor that becomes readable when it has ended. `None` if it has ended, or if no descriptor is left.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match &self.work {
            MemberWork::Process(child) => child.pidfd(),
            MemberWork::Thread { completion, .. } => completion.event.as_ref().map(|event| event.as_fd()),
            MemberWork::Gone => None,
        }
    }

    /// Sends it a signal. A thread ends if the signal would end a process.
    pub fn signal(&self, signal: i32) {
        match &self.work {
            MemberWork::Process(child) => drop(child.signal(signal)),
            MemberWork::Thread { control, .. } => control.signal(signal),
            MemberWork::Gone => {}
        }
    }

    /// Sends a signal to it and to the process group that it leads.
    pub fn signal_group(&self, signal: i32) {
        self.signal(signal);
        if let MemberWork::Process(child) = &self.work
            && let Some(group) = child.group().and_then(rustix::process::Pid::from_raw)
            && let Some(signal) = rustix::process::Signal::from_named_raw(signal)
        {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// Controls it, if it is a thread of this process.
    #[must_use]
    pub fn control(&self) -> Option<&ThreadControl> {
        match &self.work {
            MemberWork::Thread { control, .. } => Some(control),
            MemberWork::Process(_) | MemberWork::Gone => None,
        }
    }

    /// Whether it is a thread of this process.
    #[must_use]
    pub fn is_thread(&self) -> bool {
        matches!(self.work, MemberWork::Thread { .. })
    }

    /// Lets it go on without waiting for it.
    pub fn detach(self) {
        if let MemberWork::Process(child) = self.work {
            child.detach();
        }
    }
}
