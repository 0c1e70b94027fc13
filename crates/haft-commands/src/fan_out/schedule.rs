//! Which item runs next: limits, retries, when to stop. No input, no output, no threads.

use std::collections::VecDeque;

use super::Halt;

/// How many items beyond those that run are read ahead, at least; and how many results may wait for an earlier one.
const AHEAD: usize = 1024;

/// How many items may be made ready beyond those that run, at most: whoever ends one finds the next without asking. Where
/// what comes next depends on how the last one ended, none is.
const READY: usize = 4;

/// An item that is to be run, or runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ItemAttempt<I> {
    /// The place of the item in the input, from 0.
    pub(super) index: u64,
    pub(super) item: I,
    /// Which attempt it is, from 1.
    pub(super) number: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemCounts {
    pub(super) done: u64,
    pub(super) failed: u64,
    pub(super) running: usize,
    /// How many items there are, once that is known.
    pub(super) total: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Schedule<I> {
    limit: usize,
    retries: u64,
    halt: Option<Halt>,
    waiting: VecDeque<ItemAttempt<I>>,
    offered: u64,
    ended: bool,
    halted: bool,
    /// How many run or are ready to.
    taken: usize,
    counts: ItemCounts,
}

impl<I> Schedule<I> {
    pub(super) fn new(limit: usize, retries: u64, halt: Option<Halt>) -> Self {
        Self {
            limit: limit.max(1),
            retries,
            halt,
            waiting: VecDeque::new(),
            offered: 0,
            ended: false,
            halted: false,
            taken: 0,
            counts: ItemCounts::default(),
        }
    }

    /// Whether another item is of use, while so many results wait to be shown.
    pub(super) fn wants_item(&self, held: usize) -> bool {
        !self.ended && !self.halted && self.waiting.len() < self.limit && held < AHEAD.max(self.limit)
    }

    /// Takes an item.
    pub(super) fn offer(&mut self, item: I) {
        if !self.halted {
            self.waiting.push_back(ItemAttempt { index: self.offered, item, number: 1 });
        }
        self.offered += 1;
    }

    /// There are no further items.
    pub(super) fn end_input(&mut self) {
        self.ended = true;
        self.counts.total = Some(self.offered);
    }

    /// The item to make ready now, if one may be: as many run as may, and a few wait for them to end.
    pub(super) fn next(&mut self) -> Option<ItemAttempt<I>> {
        let ready = if self.retries == 0 && self.halt.is_none() { self.limit.min(READY) } else { 0 };
        if self.taken >= self.limit + ready {
            return None;
        }
        let attempt = self.waiting.pop_front()?;
        self.taken += 1;
        Some(attempt)
    }

    /// An attempt has ended. Yields whether the item is tried again.
    pub(super) fn finished(&mut self, attempt: ItemAttempt<I>, succeeded: bool) -> bool {
        self.taken -= 1;
        if !succeeded && !self.halted && attempt.number <= self.retries {
            self.waiting.push_front(ItemAttempt { number: attempt.number + 1, ..attempt });
            return true;
        }
        self.counts.done += 1;
        if !succeeded {
            self.counts.failed += 1;
            if self.halt.is_some_and(|halt| self.counts.failed >= halt.failures) {
                self.halted = true;
                self.waiting.clear();
            }
        }
        false
    }

    /// Whether what runs is to be ended too.
    pub(super) fn stops_now(&self) -> bool {
        self.halted && self.halt.is_some_and(|halt| halt.now)
    }

    pub(super) fn has_halted(&self) -> bool {
        self.halted
    }

    pub(super) fn is_over(&self) -> bool {
        self.taken == 0 && self.waiting.is_empty() && (self.ended || self.halted)
    }

    pub(super) fn counts(&self) -> ItemCounts {
        ItemCounts { running: self.taken.min(self.limit), ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(items: u64, limit: usize, retries: u64, halt: Option<Halt>) -> Schedule<u64> {
        let mut schedule = Schedule::new(limit, retries, halt);
        (0..items).for_each(|item| schedule.offer(item));
        schedule.end_input();
        schedule
    }

    #[test]
    fn those_that_run_and_as_many_again_are_made_ready() {
        let mut schedule = with(9, 2, 0, None);
        let taken: Vec<_> = std::iter::from_fn(|| schedule.next()).collect();
        assert_eq!((taken.len(), schedule.counts().running), (4, 2));
        assert!(taken.into_iter().next().is_some_and(|first| !schedule.finished(first, true)));
        assert_eq!(schedule.next().map(|attempt| attempt.index), Some(4));
    }

    #[test]
    fn what_failed_is_tried_again_as_often_as_asked() {
        let mut schedule = with(1, 1, 2, None);
        for number in 1..=3 {
            let attempt = schedule.next().expect("it is tried");
            assert_eq!(attempt.number, number);
            assert_eq!(schedule.finished(attempt, false), number < 3);
        }
        assert!(schedule.is_over());
        assert_eq!(schedule.counts(), ItemCounts { done: 1, failed: 1, running: 0, total: Some(1) });
    }

    #[test]
    fn enough_failures_stop_what_has_not_begun() {
        let mut schedule = with(9, 3, 0, Some(Halt { failures: 2, now: false }));
        let running: Vec<_> = std::iter::from_fn(|| schedule.next()).collect();
        assert_eq!(running.len(), 3);
        for (attempt, succeeded) in running.into_iter().zip([false, true, false]) {
            schedule.finished(attempt, succeeded);
        }
        assert!(schedule.has_halted() && !schedule.stops_now() && schedule.is_over());
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn items_are_read_only_as_far_ahead_as_is_of_use() {
        let mut schedule: Schedule<u64> = Schedule::new(2, 0, None);
        assert!(schedule.wants_item(0) && !schedule.wants_item(AHEAD));
        schedule.offer(0);
        schedule.offer(1);
        assert!(!schedule.wants_item(0));
        assert!(schedule.next().is_some() && schedule.wants_item(0));
        schedule.end_input();
        assert!(!schedule.wants_item(0));
    }
}
