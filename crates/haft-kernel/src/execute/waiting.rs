//! Waiting: for programs, for descriptors; always with an eye on cancellation, signals and captures.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use haft_process::{CancelToken, Child, Exit, Signals, Usage};

use crate::flow::Unwind;
use crate::io::{Ready, wait_readable};
use crate::jobs::Member;
use crate::run::StageRecorder;
use crate::session::Session;
use crate::signals::SignalInbox;
use crate::traps::Trap;

/// How long a program has between being asked to end and being ended.
const GRACE: Duration = Duration::from_millis(500);

/// How long killing everything may take after the grace.
const KILLING: Duration = Duration::from_secs(6);

/// The same while nothing is left but processes that cannot be killed.
const KILLING_STUCK: Duration = Duration::from_millis(600);

impl Session {
    /// Waits for a program and yields how it ended. When the session is to stop, the program is stopped first.
    pub(crate) fn wait_child(
        &mut self,
        child: &mut Child,
        mut record: Option<&mut StageRecorder>,
    ) -> Result<Exit, Unwind> {
        if self.only_children_matter() {
            return Ok(child.wait().map_or(Exit::Code(127), |(exit, _)| exit));
        }
        loop {
            let Some(pidfd) = child.pidfd() else { return Ok(Exit::Code(127)) };
            if let Err(unwind) = self.wait_through(&[pidfd]) {
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

    /// Waits for programs in the foreground: a trap runs after them, but a signal that ends the shell ends it at once.
    pub(crate) fn wait_through(&self, descriptors: &[BorrowedFd<'_>]) -> Result<(), Unwind> {
        let Some(inbox) = self.process_signals() else {
            return self.wait_for_these(descriptors, None).map(drop);
        };
        let mut all: Vec<BorrowedFd<'_>> = descriptors.to_vec();
        all.extend(inbox.news());
        self.obey(inbox)?;
        self.wait_for_these(&all, None)?;
        inbox.seen();
        self.obey(inbox)
    }

    /// Where signals to the process arrive, if they are for this session and any are caught.
    fn process_signals(&self) -> Option<&SignalInbox> {
        (self.is_on_main_thread() && self.owns_process() && !self.traps.is_empty())
            .then_some(&*self.kernel.signals)
    }

    /// Whether this is the shell that its process is, or a subshell that runs in its place.
    pub(crate) fn is_on_main_thread(&self) -> bool {
        self.identity.leads_process() || self.signals.is_none()
    }

    /// Ends the shell by a signal that nobody has set a trap for. A subshell leaves the signal to the shell that it is part
    /// of.
    fn obey(&self, inbox: &SignalInbox) -> Result<(), Unwind> {
        let ends = |signal: &i32| {
            !self.traps.is_listed(Trap::Signal(*signal))
                && if self.identity.leads_process() { inbox.take_signal(*signal) } else { inbox.has(*signal) }
        };
        match [Signals::TERM, Signals::HUP].into_iter().find(ends) {
            Some(signal) => Err(Unwind::Signal(signal)),
            None => Ok(()),
        }
    }

    /// Whether the run that this session is in ends everything that it has started, so that nobody else needs to.
    pub(crate) fn is_being_ended(&self) -> bool {
        self.processes.run().is_some_and(|run| run.stopping.is_ending())
    }

    /// Waits for the end of members that the run is ending.
    fn await_end(&self, members: &mut [Member]) {
        let grace = self.processes.run().map_or(GRACE, |run| run.grace);
        let now = Instant::now();
        members.iter_mut().for_each(|member| {
            wait_until(member, now + grace + KILLING_STUCK);
            if !member.is_stuck() {
                wait_until(member, now + grace + KILLING);
            }
        });
    }

    /// Lets go of members that nobody waits for any more: each is sent the signal, unless all are being ended anyway.
    pub(crate) fn abandon(&self, members: &mut [Member], signal: i32) {
        if self.is_being_ended() {
            return self.await_end(members);
        }
        members.iter().for_each(|member| member.signal(signal));
    }

    /// Ends a member that nobody waits for any more, and stays until it has ended: it is asked, and killed if it takes its time;
    /// unless all are being ended anyway.
    pub fn end_member(&self, member: &mut Member) {
        if self.is_being_ended() {
            return self.await_end(std::slice::from_mut(member));
        }
        for (signals, patience) in [([15, 18].as_slice(), GRACE), (&[9], KILLING)] {
            signals.iter().for_each(|signal| member.signal_group(*signal));
            wait_until(member, Instant::now() + patience.min(KILLING_STUCK));
            if !member.is_stuck() {
                wait_until(member, Instant::now() + patience.saturating_sub(KILLING_STUCK));
            }
        }
    }

    /// Whether nothing but the end of a program can happen while it is waited for: no trap, no capture to read, and
    /// nobody who could cancel.
    fn only_children_matter(&self) -> bool {
        self.kernel.plain_shell
            && !self.traps.has_actions()
            && !self.processes.is_captured()
            && !self.limits.cancel().is_shared()
    }

    /// Ends a program: asks, waits a little, insists. Yields how it ended.
    fn stop_child(&self, child: &mut Child) -> Option<(Exit, Usage)> {
        let ended = self.processes.run().filter(|_| self.is_being_ended());
        let now = Instant::now();
        if ended.is_none() {
            let _ = child.signal(15);
        }
        let grace = ended.map_or(GRACE, |run| run.grace);
        if let Some(exit) = wait_child_until(child, now + grace) {
            return exit;
        }
        if ended.is_none() {
            let _ = child.signal(9);
        }
        wait_child_until(child, now + grace + KILLING_STUCK)
            .or_else(|| if child.is_stuck() { None } else { wait_child_until(child, now + grace + KILLING) })
            .flatten()
    }

    /// Waits until one of the descriptors can be read, a capture has taken something, or a signal has come.
    pub(crate) fn wait_for(&self, descriptors: &[BorrowedFd<'_>]) -> Result<(), Unwind> {
        self.wait_at_most(descriptors, None).map(drop)
    }

    /// Waits for descriptors as the rest of the session does: cancellation, signals and captures are served; for so long at most.
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

    /// Waits until one of the descriptors can be read or a capture has taken something.
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

/// Waits for the end of a program, and for nothing else. `None` if it has not ended, `Some(None)` if nobody knows how.
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

/// Waits for the end of a member, and for nothing else.
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
