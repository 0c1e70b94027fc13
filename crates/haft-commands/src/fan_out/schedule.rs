//! Decides which item runs next: parallelism, retries and when to stop. Does no I/O and knows no threads.

use std::collections::VecDeque;

use haft_scale::{Capacity, ItemAttempt};

use crate::halt::Halt;

/// The number of results that may wait for an earlier one before reading of items pauses.
const MAX_HELD_RESULTS: usize = 1024;

/// The progress of a fan-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ItemCounts {
    pub(super) done: u64,
    pub(super) failed: u64,
    pub(super) running: usize,
    /// The number of items that run or were submitted to run.
    pub(super) active: usize,
    /// The number of items, once the whole input was read.
    pub(super) total: Option<u64>,
}

/// The items of a fan-out, and the rules by which they run.
#[derive(Debug)]
pub(super) struct Schedule<I> {
    capacity: Capacity,
    retries: u64,
    halt: Option<Halt>,
    waiting: VecDeque<ItemAttempt<I>>,
    offered: u64,
    input_ended: bool,
    halted: bool,
    /// The number of attempts that run or are prepared.
    active: usize,
    counts: ItemCounts,
}

impl<I> Schedule<I> {
    pub(super) fn new(capacity: Capacity, retries: u64, halt: Option<Halt>) -> Self {
        Self {
            capacity,
            retries,
            halt,
            waiting: VecDeque::new(),
            offered: 0,
            input_ended: false,
            halted: false,
            active: 0,
            counts: ItemCounts::default(),
        }
    }

    /// Says how many items the executor takes now.
    pub(super) fn set_capacity(&mut self, capacity: Capacity) {
        self.capacity = capacity;
    }

    fn limit(&self) -> usize {
        self.capacity.running.max(1)
    }

    /// Whether to read another item while `held` results wait to be printed.
    pub(super) fn wants_item(&self, held: usize) -> bool {
        !self.input_ended
            && !self.halted
            && self.waiting.len() < self.limit()
            && held < MAX_HELD_RESULTS.max(self.limit())
    }

    /// Adds an item of the input.
    pub(super) fn offer(&mut self, item: I) {
        if !self.halted {
            self.waiting.push_back(ItemAttempt { index: self.offered, item, number: 1 });
        }
        self.offered += 1;
    }

    /// Marks the end of the input.
    pub(super) fn end_input(&mut self) {
        self.input_ended = true;
        self.counts.total = Some(self.offered);
    }

    /// The next attempt to start, or `None` if enough are active.
    pub(super) fn next(&mut self) -> Option<ItemAttempt<I>> {
        // With retries or a halt policy, the next item depends on how the last one ended.
        let ahead = if self.retries == 0 && self.halt.is_none() { self.capacity.ahead } else { 0 };
        if self.active >= self.limit() + ahead {
            return None;
        }
        let attempt = self.waiting.pop_front()?;
        self.active += 1;
        Some(attempt)
    }

    /// Marks the next item of the input as done before, so that it does not run.
    pub(super) fn skip(&mut self, succeeded: bool) -> u64 {
        let index = self.offered;
        self.offered += 1;
        self.count(succeeded);
        index
    }

    /// The position of the next item of the input.
    pub(super) fn next_index(&self) -> u64 {
        self.offered
    }

    /// Records the end of an attempt. Returns whether the item will be retried.
    pub(super) fn finished(&mut self, attempt: ItemAttempt<I>, succeeded: bool) -> bool {
        self.active -= 1;
        if !succeeded && !self.halted && attempt.number <= self.retries {
            self.waiting.push_front(ItemAttempt { number: attempt.number + 1, ..attempt });
            return true;
        }
        self.count(succeeded);
        false
    }

    fn count(&mut self, succeeded: bool) {
        self.counts.done += 1;
        if !succeeded {
            self.counts.failed += 1;
            if self.halt.is_some_and(|halt| self.counts.failed >= halt.failures) {
                self.halted = true;
                self.waiting.clear();
            }
        }
    }

    /// Whether running items must be terminated.
    pub(super) fn must_cancel(&self) -> bool {
        self.halted && self.halt.is_some_and(|halt| halt.now)
    }

    /// Whether failures have stopped the fan-out.
    pub(super) fn has_halted(&self) -> bool {
        self.halted
    }

    /// Whether no item runs and none will.
    pub(super) fn is_finished(&self) -> bool {
        self.active == 0 && self.waiting.is_empty() && (self.input_ended || self.halted)
    }

    pub(super) fn counts(&self) -> ItemCounts {
        ItemCounts { running: self.active.min(self.limit()), active: self.active, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule_of(items: u64, limit: usize, retries: u64, halt: Option<Halt>) -> Schedule<u64> {
        let mut schedule = Schedule::new(Capacity { running: limit, ahead: limit }, retries, halt);
        (0..items).for_each(|item| schedule.offer(item));
        schedule.end_input();
        schedule
    }

    #[test]
    fn as_many_items_are_prepared_as_run() {
        let mut schedule = schedule_of(9, 2, 0, None);
        let active: Vec<_> = std::iter::from_fn(|| schedule.next()).collect();
        assert_eq!((active.len(), schedule.counts().running), (4, 2));
        assert!(active.into_iter().next().is_some_and(|first| !schedule.finished(first, true)));
        assert_eq!(schedule.next().map(|attempt| attempt.index), Some(4));
    }

    #[test]
    fn failed_items_are_retried_up_to_the_limit() {
        let mut schedule = schedule_of(1, 1, 2, None);
        for number in 1..=3 {
            let attempt = schedule.next().expect("an attempt");
            assert_eq!(attempt.number, number);
            assert_eq!(schedule.finished(attempt, false), number < 3);
        }
        assert!(schedule.is_finished());
        assert_eq!(
            schedule.counts(),
            ItemCounts { done: 1, failed: 1, total: Some(1), ..ItemCounts::default() }
        );
    }

    #[test]
    fn a_halt_starts_no_further_items() {
        let mut schedule = schedule_of(9, 3, 0, Some(Halt { failures: 2, now: false }));
        let running: Vec<_> = std::iter::from_fn(|| schedule.next()).collect();
        assert_eq!(running.len(), 3);
        for (attempt, succeeded) in running.into_iter().zip([false, true, false]) {
            schedule.finished(attempt, succeeded);
        }
        assert!(schedule.has_halted() && !schedule.must_cancel() && schedule.is_finished());
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn reading_pauses_while_enough_items_or_results_wait() {
        let mut schedule: Schedule<u64> = Schedule::new(Capacity { running: 2, ahead: 0 }, 0, None);
        assert!(schedule.wants_item(0) && !schedule.wants_item(MAX_HELD_RESULTS));
        schedule.offer(0);
        schedule.offer(1);
        assert!(!schedule.wants_item(0));
        assert!(schedule.next().is_some() && schedule.wants_item(0));
        schedule.end_input();
        assert!(!schedule.wants_item(0));
    }
}
