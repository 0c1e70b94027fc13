//! The kill ladder: `SIGTERM`, a grace period, `SIGKILL` until no process is left.
//!
//! The ladder only decides. Its [`LadderTarget`] finds and signals processes, so the ladder can be tested without processes.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::survivors::Survivors;

/// Maximum wait for killed processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum wait for killed processes if all of them are stuck: owned by another user, frozen, or in uninterruptible sleep. A
/// call must return within a second after the grace period, so this leaves time for other work.
const STUCK_KILL_TIMEOUT: Duration = Duration::from_millis(600);

/// Interval between kills while in-process work may start more processes.
const KILL_INTERVAL: Duration = Duration::from_millis(20);

/// Pid and start time of a process, which together are never reused.
pub(crate) type ProcessIdentity = (i32, u64);

/// How long to wait for killed processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KillDeadline {
    /// The end of the wait if all remaining processes are stuck.
    pub(crate) stuck: Instant,
    /// The end of the wait in any case.
    pub(crate) last: Instant,
}

impl KillDeadline {
    /// The deadline for processes that are killed from `start` on.
    pub(crate) fn from(start: Instant) -> KillDeadline {
        KillDeadline { stuck: start + STUCK_KILL_TIMEOUT, last: start + KILL_TIMEOUT }
    }

    /// The deadline for a single process.
    pub(crate) fn short() -> KillDeadline {
        let now = Instant::now();
        KillDeadline { stuck: now + STUCK_KILL_TIMEOUT / 6, last: now + KILL_TIMEOUT }
    }

    /// A deadline that has passed.
    pub(crate) fn passed() -> KillDeadline {
        let now = Instant::now();
        KillDeadline { stuck: now, last: now }
    }

    /// Whether the wait is over.
    pub(crate) fn is_over(self, now: Instant, stuck: impl FnOnce() -> bool) -> bool {
        now >= self.last || (now >= self.stuck && stuck())
    }
}

/// A set of processes that a ladder ends.
pub(crate) trait LadderTarget {
    /// Sends `SIGTERM` to all processes and returns them.
    fn terminate(&self) -> HashSet<ProcessIdentity>;
    /// Whether no process is left.
    fn is_empty(&self) -> bool;
    /// Sends `SIGKILL` to all processes. Returns them, and those that survived.
    fn kill_all(&self, deadline: KillDeadline) -> (HashSet<ProcessIdentity>, Survivors);
}

/// The state of ending a job.
#[derive(Debug, Default)]
pub(crate) enum Ladder {
    /// The job was not asked to end.
    #[default]
    Idle,
    /// `SIGTERM` was sent to `signalled`. `SIGKILL` follows at `kill_at`.
    Terminating { kill_at: Instant, deadline: KillDeadline, signalled: HashSet<ProcessIdentity> },
    /// All processes were killed, except survivors.
    Down { killed: usize, survivors: Survivors },
}

impl Ladder {
    /// Sends `SIGTERM` and starts the grace period. Has no effect after the first call.
    pub(crate) fn begin(&mut self, now: Instant, grace: Duration, target: &impl LadderTarget) {
        if matches!(self, Ladder::Idle) {
            let (kill_at, signalled) = (now + grace, target.terminate());
            *self = Ladder::Terminating { kill_at, deadline: KillDeadline::from(kill_at), signalled };
        }
    }

    /// Starts without `SIGTERM` and grace period: `SIGKILL` is due at once. Has no effect after the first call.
    pub(crate) fn begin_with_kill(&mut self, now: Instant) {
        if matches!(self, Ladder::Idle) {
            let deadline = KillDeadline::from(now);
            *self = Ladder::Terminating { kill_at: now, deadline, signalled: HashSet::new() };
        }
    }

    /// Sends `SIGKILL` if the grace period is over or no process is left. While in-process work is `working`, which may start
    /// more processes, kills repeatedly and does not finish.
    pub(crate) fn advance(&mut self, now: Instant, working: bool, target: &impl LadderTarget) {
        let Ladder::Terminating { kill_at, deadline, signalled } = self else { return };
        if now < *kill_at && (working || !target.is_empty()) {
            return;
        }
        let (killed, survivors) = target.kill_all(*deadline);
        signalled.extend(killed);
        if working && now < deadline.last {
            *kill_at = now + KILL_INTERVAL;
            return;
        }
        let has_ended = |(pid, _): &&ProcessIdentity| !survivors.pids().contains(pid);
        *self = Ladder::Down { killed: signalled.iter().filter(has_ended).count(), survivors };
    }

    /// Returns when `SIGKILL` is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self {
            Ladder::Terminating { kill_at, .. } => Some(*kill_at),
            _ => None,
        }
    }

    /// Whether `SIGTERM` was sent.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self, Ladder::Idle)
    }

    /// Whether all processes were killed, except survivors.
    pub(crate) fn is_down(&self) -> bool {
        matches!(self, Ladder::Down { .. })
    }

    /// Returns the number of ended processes and the survivors, after all were killed.
    pub(crate) fn result(&self) -> Option<(usize, Survivors)> {
        match self {
            Ladder::Down { killed, survivors } => Some((*killed, survivors.clone())),
            Ladder::Idle | Ladder::Terminating { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Processes that end on `SIGTERM`, only on `SIGKILL`, or not at all.
    #[derive(Default)]
    struct FakeProcesses {
        cooperative: RefCell<HashSet<ProcessIdentity>>,
        stubborn: RefCell<HashSet<ProcessIdentity>>,
        stuck: Vec<i32>,
        steps: RefCell<Vec<&'static str>>,
    }

    impl LadderTarget for FakeProcesses {
        fn terminate(&self) -> HashSet<ProcessIdentity> {
            self.steps.borrow_mut().push("terminate");
            let cooperative = std::mem::take(&mut *self.cooperative.borrow_mut());
            cooperative.union(&self.stubborn.borrow()).copied().collect()
        }

        fn is_empty(&self) -> bool {
            self.cooperative.borrow().is_empty() && self.stubborn.borrow().is_empty()
        }

        fn kill_all(&self, _: KillDeadline) -> (HashSet<ProcessIdentity>, Survivors) {
            self.steps.borrow_mut().push("kill");
            (std::mem::take(&mut *self.stubborn.borrow_mut()), Survivors::Known(self.stuck.clone()))
        }
    }

    fn set(pids: &[i32]) -> RefCell<HashSet<ProcessIdentity>> {
        RefCell::new(pids.iter().map(|&pid| (pid, 0)).collect())
    }

    const GRACE: Duration = Duration::from_secs(2);

    #[test]
    fn processes_that_end_on_sigterm_end_the_grace_period() {
        let fake = FakeProcesses { cooperative: set(&[1, 2]), ..FakeProcesses::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        assert_eq!(ladder.due(), Some(now + GRACE));
        ladder.advance(now, false, &fake);
        assert!(ladder.is_down());
        assert_eq!(ladder.result(), Some((2, Survivors::NONE)));
    }

    #[test]
    fn other_processes_are_killed_after_the_grace_period_and_not_before() {
        let fake =
            FakeProcesses { cooperative: set(&[1]), stubborn: set(&[2, 3]), ..FakeProcesses::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        ladder.advance(now + GRACE / 2, false, &fake);
        assert!(!ladder.is_down());
        ladder.advance(now + GRACE, false, &fake);
        assert_eq!(ladder.result(), Some((3, Survivors::NONE)));
        assert_eq!(*fake.steps.borrow(), ["terminate", "kill"]);
    }

    #[test]
    fn stuck_processes_are_reported_as_survivors() {
        let fake = FakeProcesses { stubborn: set(&[2]), stuck: vec![2], ..FakeProcesses::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, Duration::ZERO, &fake);
        ladder.advance(now, false, &fake);
        assert_eq!(ladder.result(), Some((0, Survivors::Known(vec![2]))));
    }

    #[test]
    fn processes_started_by_running_work_are_killed_until_the_work_ends() {
        let fake = FakeProcesses { cooperative: set(&[1]), ..FakeProcesses::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        ladder.advance(now, true, &fake);
        assert!(!ladder.is_down() && *fake.steps.borrow() == ["terminate"]);
        ladder.advance(now + GRACE, true, &fake);
        fake.stubborn.borrow_mut().insert((4, 0));
        assert_eq!(ladder.due(), Some(now + GRACE + KILL_INTERVAL));
        ladder.advance(now + GRACE + KILL_INTERVAL, true, &fake);
        assert!(!ladder.is_down());
        ladder.advance(now + GRACE + KILL_INTERVAL, false, &fake);
        assert_eq!(ladder.result(), Some((2, Survivors::NONE)));
    }

    #[test]
    fn endless_work_does_not_block_the_end() {
        let fake = FakeProcesses::default();
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        ladder.advance(now + GRACE + KILL_TIMEOUT, true, &fake);
        assert!(ladder.is_down());
    }

    #[test]
    fn stuck_processes_have_a_shorter_timeout_than_slow_ones() {
        let now = Instant::now();
        let deadline = KillDeadline::from(now);
        assert!(!deadline.is_over(now, || true));
        assert!(deadline.is_over(now + STUCK_KILL_TIMEOUT, || true));
        assert!(!deadline.is_over(now + STUCK_KILL_TIMEOUT, || false));
        assert!(deadline.is_over(now + KILL_TIMEOUT, || false));
    }

    #[test]
    fn each_signal_is_sent_once() {
        let fake = FakeProcesses { cooperative: set(&[1]), ..FakeProcesses::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        for _ in 0..3 {
            ladder.begin(now, GRACE, &fake);
            ladder.advance(now, false, &fake);
        }
        assert_eq!(*fake.steps.borrow(), ["terminate", "kill"]);
    }
}
