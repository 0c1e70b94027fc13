//! Waiting for programs and descriptors while serving cancellation, signals and captures.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use haft_process::{CancelToken, Child, Exit, Signals, Usage};

use crate::flow::{NOT_FOUND, Unwind};
use crate::io::{Ready, wait_readable};
use crate::jobs::Member;
use crate::session::Session;
use crate::signals::SignalInbox;
use crate::supervision::StageRecorder;
use crate::traps::Trap;

/// Time between `SIGTERM` and `SIGKILL` for a program outside of a run.
const CHILD_GRACE: Duration = Duration::from_millis(500);

/// Time that killed processes are given to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(6);

/// The same if only processes are left that cannot be killed.
const STUCK_KILL_TIMEOUT: Duration = Duration::from_millis(600);

impl Session {
    /// Waits for a program and returns how it ended. If the session is cancelled, the program is ended first.
    pub(crate) fn wait_child(
        &mut self,
        child: &mut Child,
        mut record: Option<&mut StageRecorder>,
    ) -> Result<Exit, Unwind> {
        if self.can_block_on_child() {
            return Ok(child.wait().map_or(Exit::Code(NOT_FOUND), |(exit, _)| exit));
        }
        loop {
            let Some(pidfd) = child.pidfd() else {
                return Ok(child.wait().map_or(Exit::Code(NOT_FOUND), |(exit, _)| exit));
            };
            if let Err(unwind) = self.wait_foreground(&[pidfd]) {
                if unwind == Unwind::Cancelled
                    && let (Some((exit, usage)), Some(record)) = (self.stop_child(child), record)
                {
                    record.end(exit, usage);
                }
                return Err(unwind);
            }
            if let Ok(Some((exit, usage))) = child.try_wait() {
                record.iter_mut().for_each(|record| record.end(exit, usage));
                return Ok(exit);
            }
        }
    }

    /// Waits for foreground programs. Traps run only afterwards, but a signal that ends the shell ends it at once.
    pub(crate) fn wait_foreground(&self, descriptors: &[BorrowedFd<'_>]) -> Result<(), Unwind> {
        let Some(inbox) = self.process_signals() else {
            return self.wait_for_these(descriptors, None).map(drop);
        };
        let mut all: Vec<BorrowedFd<'_>> = descriptors.to_vec();
        all.extend(inbox.news());
        self.exit_on_fatal_signal(inbox)?;
        self.wait_for_these(&all, None)?;
        inbox.seen();
        self.exit_on_fatal_signal(inbox)
    }

    /// The inbox for signals to the process, if they are for this session and any are caught.
    fn process_signals(&self) -> Option<&SignalInbox> {
        (self.is_on_main_thread() && self.owns_process() && !self.traps.is_empty())
            .then_some(&*self.kernel.signals)
    }

    /// Whether this is the shell of its process, or a subshell on the same thread.
    pub(crate) fn is_on_main_thread(&self) -> bool {
        self.identity.leads_process() || self.signals.is_none()
    }

    /// Ends the shell if a signal without a trap has arrived. A subshell leaves the signal in the inbox for the main shell.
    fn exit_on_fatal_signal(&self, inbox: &SignalInbox) -> Result<(), Unwind> {
        let ends = |signal: &i32| {
            !self.traps.is_listed(Trap::Signal(*signal))
                && if self.identity.leads_process() { inbox.take_signal(*signal) } else { inbox.has(*signal) }
        };
        match [Signals::TERM, Signals::HUP].into_iter().find(ends) {
            Some(signal) => Err(Unwind::Signal(signal)),
            None => Ok(()),
        }
    }

    /// Whether the run that this session is in is ending all its processes.
    pub(crate) fn is_being_ended(&self) -> bool {
        self.processes.run().is_some_and(|run| run.stopping.is_ending())
    }

    /// Waits for the end of members that the run is ending.
    fn await_end(&self, members: &mut [Member]) {
        let grace = self.processes.run().map_or(CHILD_GRACE, |run| run.grace);
        let now = Instant::now();
        members.iter_mut().for_each(|member| {
            wait_until(member, now + grace + STUCK_KILL_TIMEOUT);
            if !member.is_stuck() {
                wait_until(member, now + grace + KILL_TIMEOUT);
            }
        });
    }

    /// Signals members that are not waited for any more, unless the run is ending all its processes.
    pub(crate) fn abandon(&self, members: &mut [Member], signal: i32) {
        if self.is_being_ended() {
            return self.await_end(members);
        }
        members.iter().for_each(|member| member.signal(signal));
    }

    /// Ends a member and waits until it has ended: `SIGTERM`, a grace period, `SIGKILL`. If the run is ending all its
    /// processes, this only waits.
    pub fn end_member(&self, member: &mut Member) {
        if self.is_being_ended() {
            return self.await_end(std::slice::from_mut(member));
        }
        let ask = [Signals::TERM, Signals::CONT];
        for (signals, timeout) in [(ask.as_slice(), CHILD_GRACE), (&[Signals::KILL], KILL_TIMEOUT)] {
            signals.iter().for_each(|signal| member.signal_group(*signal));
            wait_until(member, Instant::now() + timeout.min(STUCK_KILL_TIMEOUT));
            if !member.is_stuck() {
                wait_until(member, Instant::now() + timeout.saturating_sub(STUCK_KILL_TIMEOUT));
            }
        }
    }

    /// Whether only the end of the program can happen during a wait: there are no traps and captures, and nothing can cancel
    /// the session.
    fn can_block_on_child(&self) -> bool {
        self.kernel.plain_shell
            && !self.traps.has_actions()
            && !self.processes.is_captured()
            && !self.limits.cancel().is_shared()
    }

    /// Ends a program: `SIGTERM`, a grace period, `SIGKILL`. Returns how it ended.
    fn stop_child(&self, child: &mut Child) -> Option<(Exit, Usage)> {
        let ended = self.processes.run().filter(|_| self.is_being_ended());
        let now = Instant::now();
        if ended.is_none() {
            let _ = child.signal(Signals::TERM);
        }
        let grace = ended.map_or(CHILD_GRACE, |run| run.grace);
        if let Some(exit) = wait_child_until(child, now + grace) {
            return exit;
        }
        if ended.is_none() {
            let _ = child.signal(Signals::KILL);
        }
        wait_child_until(child, now + grace + STUCK_KILL_TIMEOUT)
            .or_else(|| {
                if child.is_stuck() { None } else { wait_child_until(child, now + grace + KILL_TIMEOUT) }
            })
            .flatten()
    }

    /// Waits until one of the descriptors is readable, a capture has received something, or a signal has arrived.
    pub(crate) fn wait_for(&self, descriptors: &[BorrowedFd<'_>]) -> Result<(), Unwind> {
        self.wait_at_most(descriptors, None).map(drop)
    }

    /// The same, for at most `timeout`.
    ///
    /// # Errors
    /// Cancellation.
    pub fn wait_at_most(
        &self,
        descriptors: &[BorrowedFd<'_>],
        timeout: Option<Duration>,
    ) -> Result<Ready, Unwind> {
        let mut all: Vec<BorrowedFd<'_>> = descriptors.to_vec();
        if let Some(signals) = self
            .signals
            .as_ref()
            .filter(|_| self.trap_state.catches_fatal_signals() || !self.traps.is_empty())
        {
            all.extend(signals.descriptor());
        }
        self.wait_for_these(&all, timeout)
    }

    /// Waits until one of the descriptors is readable or a capture has received something.
    fn wait_for_these(
        &self,
        descriptors: &[BorrowedFd<'_>],
        timeout: Option<Duration>,
    ) -> Result<Ready, Unwind> {
        let readers: Vec<_> = self
            .processes
            .captures()
            .iter()
            .filter_map(|capture| Some((capture, capture.reader()?)))
            .collect();
        let mut all: Vec<BorrowedFd<'_>> = descriptors.to_vec();
        all.extend(readers.iter().map(|(_, reader)| reader.as_fd()));
        match wait_readable(&all, timeout, self.limits.cancel()) {
            Ready::Cancelled => Err(Unwind::Cancelled),
            ready => {
                for (capture, _) in &readers {
                    let before = capture.len();
                    let _ = capture.drain();
                    self.memory.note_growth(capture.len().saturating_sub(before));
                }
                self.check_cancelled()?;
                Ok(ready)
            }
        }
    }
}

/// Waits for the end of a program and serves nothing meanwhile. `None` if it has not ended, `Some(None)` if its status is
/// unknown.
fn wait_child_until(child: &mut Child, deadline: Instant) -> Option<Option<(Exit, Usage)>> {
    loop {
        match child.try_wait() {
            Ok(None) => {}
            ended => return Some(ended.ok().flatten()),
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let (Some(pidfd), false) = (child.pidfd(), left.is_zero()) else { return None };
        let _ = wait_readable(&[pidfd], Some(left), &CancelToken::new());
    }
}

/// Waits for the end of a member and serves nothing meanwhile.
fn wait_until(member: &mut Member, deadline: Instant) {
    loop {
        member.update();
        let left = deadline.saturating_duration_since(Instant::now());
        let (None, Some(descriptor), false) = (member.status, member.descriptor(), left.is_zero()) else {
            return;
        };
        let _ = wait_readable(&[descriptor], Some(left), &CancelToken::new());
    }
}
