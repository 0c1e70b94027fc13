//! The one way down: ask, wait, kill everybody.
//!
//! The ladder decides, and leaves looking and signalling to its [`Victims`], so that it can be tested with none.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::survivors::Survivors;

/// How long killed processes are waited for when each of them can only take its time to die.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long killed processes are waited for when each of them is stuck: of another user, frozen, or in an
/// uninterruptible sleep. A deadline holds within a second after the grace, so this leaves time for the rest.
const STUCK_PATIENCE: Duration = Duration::from_millis(600);

/// How long after a sweep the next one is due while somebody may start others.
const AGAIN: Duration = Duration::from_millis(20);

/// A process for ever: its number and the time of its start.
pub(crate) type Identity = (i32, u64);

/// Until when killed processes are waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// While all that are left are stuck.
    pub(crate) stuck: Instant,
    /// In any case.
    pub(crate) last: Instant,
}

impl Patience {
    /// For processes that are killed from `start` on.
    pub(crate) fn from(start: Instant) -> Patience {
        Patience { stuck: start + STUCK_PATIENCE, last: start + PATIENCE }
    }

    /// For one process that was killed before.
    pub(crate) fn short() -> Patience {
        let now = Instant::now();
        Patience { stuck: now + STUCK_PATIENCE / 6, last: now + PATIENCE }
    }

    /// For processes that are not waited for.
    pub(crate) fn none() -> Patience {
        let now = Instant::now();
        Patience { stuck: now, last: now }
    }

    /// Whether processes that are left are not waited for any longer.
    pub(crate) fn is_over(self, now: Instant, stuck: impl FnOnce() -> bool) -> bool {
        now >= self.last || (now >= self.stuck && stuck())
    }
}

/// Those who are to end.
pub(crate) trait Victims {
    /// Asks all to end, and says who they were.
    fn terminate(&self) -> HashSet<Identity>;
    /// Whether nobody is left.
    fn is_empty(&self) -> bool;
    /// Kills all, says who they were, and which are still there.
    fn kill_all(&self, patience: Patience) -> (HashSet<Identity>, Survivors);
}

/// Where on the ladder a job is.
#[derive(Debug, Default)]
pub(crate) enum Ladder {
    /// Nobody has asked it to end.
    #[default]
    Idle,
    /// It was asked to end, and has until then.
    Asked { until: Instant, patience: Patience, victims: HashSet<Identity> },
    /// It is over.
    Down { killed: usize, survivors: Survivors },
}

impl Ladder {
    /// Takes the first step, unless it was taken.
    pub(crate) fn begin(&mut self, now: Instant, grace: Duration, victims: &impl Victims) {
        if matches!(self, Ladder::Idle) {
            let until = now + grace;
            *self = Ladder::Asked { until, patience: Patience::from(until), victims: victims.terminate() };
        }
    }

    /// Takes the next step if it is due. While somebody is `working` who may start others, the last one is not taken, and
    /// those who are there when the grace is over are killed again and again.
    pub(crate) fn advance(&mut self, now: Instant, working: bool, victims: &impl Victims) {
        let Ladder::Asked { until, patience, victims: asked } = self else { return };
        if now < *until && (working || !victims.is_empty()) {
            return;
        }
        let (killed, survivors) = victims.kill_all(*patience);
        asked.extend(killed);
        if working && now < patience.last {
            *until = now + AGAIN;
            return;
        }
        let ended = |(pid, _): &&Identity| !survivors.pids().contains(pid);
        *self = Ladder::Down { killed: asked.iter().filter(ended).count(), survivors };
    }

    /// When the next step is due whatever happens.
    pub(crate) fn due(&self) -> Option<Instant> {
        match self {
            Ladder::Asked { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// Whether the first step was taken.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self, Ladder::Idle)
    }

    /// Whether the last step was taken.
    pub(crate) fn is_down(&self) -> bool {
        matches!(self, Ladder::Down { .. })
    }

    /// How many were ended, and which could not be, once the last step was taken.
    pub(crate) fn result(&self) -> Option<(usize, Survivors)> {
        match self {
            Ladder::Down { killed, survivors } => Some((*killed, survivors.clone())),
            Ladder::Idle | Ladder::Asked { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Processes that end when asked, or only when killed, or not even then.
    #[derive(Default)]
    struct Fake {
        polite: RefCell<HashSet<Identity>>,
        stubborn: RefCell<HashSet<Identity>>,
        stuck: Vec<i32>,
        steps: RefCell<Vec<&'static str>>,
    }

    impl Victims for Fake {
        fn terminate(&self) -> HashSet<Identity> {
            self.steps.borrow_mut().push("terminate");
            let polite = std::mem::take(&mut *self.polite.borrow_mut());
            polite.union(&self.stubborn.borrow()).copied().collect()
        }

        fn is_empty(&self) -> bool {
            self.polite.borrow().is_empty() && self.stubborn.borrow().is_empty()
        }

        fn kill_all(&self, _: Patience) -> (HashSet<Identity>, Survivors) {
            self.steps.borrow_mut().push("kill");
            (std::mem::take(&mut *self.stubborn.borrow_mut()), Survivors::Known(self.stuck.clone()))
        }
    }

    fn set(pids: &[i32]) -> RefCell<HashSet<Identity>> {
        RefCell::new(pids.iter().map(|&pid| (pid, 0)).collect())
    }

    const GRACE: Duration = Duration::from_secs(2);

    #[test]
    fn those_who_end_when_asked_are_not_waited_for() {
        let fake = Fake { polite: set(&[1, 2]), ..Fake::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        assert_eq!(ladder.due(), Some(now + GRACE));
        ladder.advance(now, false, &fake);
        assert!(ladder.is_down());
        assert_eq!(ladder.result(), Some((2, Survivors::NONE)));
    }

    #[test]
    fn those_who_do_not_are_killed_when_the_grace_is_over_and_not_before() {
        let fake = Fake { polite: set(&[1]), stubborn: set(&[2, 3]), ..Fake::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        ladder.advance(now + GRACE / 2, false, &fake);
        assert!(!ladder.is_down());
        ladder.advance(now + GRACE, false, &fake);
        assert_eq!(ladder.result(), Some((3, Survivors::NONE)));
        assert_eq!(*fake.steps.borrow(), ["terminate", "kill"]);
    }

    #[test]
    fn who_is_stuck_is_reported() {
        let fake = Fake { stubborn: set(&[2]), stuck: vec![2], ..Fake::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, Duration::ZERO, &fake);
        ladder.advance(now, false, &fake);
        assert_eq!(ladder.result(), Some((0, Survivors::Known(vec![2]))));
    }

    #[test]
    fn while_somebody_works_those_he_starts_are_killed_until_he_has_ended() {
        let fake = Fake { polite: set(&[1]), ..Fake::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        ladder.advance(now, true, &fake);
        assert!(!ladder.is_down() && *fake.steps.borrow() == ["terminate"]);
        ladder.advance(now + GRACE, true, &fake);
        fake.stubborn.borrow_mut().insert((4, 0));
        assert_eq!(ladder.due(), Some(now + GRACE + AGAIN));
        ladder.advance(now + GRACE + AGAIN, true, &fake);
        assert!(!ladder.is_down());
        ladder.advance(now + GRACE + AGAIN, false, &fake);
        assert_eq!(ladder.result(), Some((2, Survivors::NONE)));
    }

    #[test]
    fn who_works_for_ever_is_not_waited_for() {
        let fake = Fake::default();
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        ladder.begin(now, GRACE, &fake);
        ladder.advance(now + GRACE + PATIENCE, true, &fake);
        assert!(ladder.is_down());
    }

    #[test]
    fn stuck_processes_are_waited_for_less_long_than_slow_ones() {
        let now = Instant::now();
        let patience = Patience::from(now);
        assert!(!patience.is_over(now, || true));
        assert!(patience.is_over(now + STUCK_PATIENCE, || true));
        assert!(!patience.is_over(now + STUCK_PATIENCE, || false));
        assert!(patience.is_over(now + PATIENCE, || false));
    }

    #[test]
    fn each_step_is_taken_once() {
        let fake = Fake { polite: set(&[1]), ..Fake::default() };
        let (mut ladder, now) = (Ladder::default(), Instant::now());
        for _ in 0..3 {
            ladder.begin(now, GRACE, &fake);
            ladder.advance(now, false, &fake);
        }
        assert_eq!(*fake.steps.borrow(), ["terminate", "kill"]);
    }
}
