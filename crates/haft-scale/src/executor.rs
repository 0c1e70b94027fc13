//! The interface between a fan-out and the engine that runs its items.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::{ItemAttempt, ItemRecord};

/// How many items an executor takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// The number of items that run at a time.
    pub running: usize,
    /// The number of further items to submit, so that the next one is at hand when one ends.
    pub ahead: usize,
}

/// Runs items: on threads of this process, or on other machines.
///
/// Every submitted attempt comes back exactly once from [`collect`](Executor::collect), unless the executor
/// [fails](Executor::failure) or is shut down.
pub trait Executor {
    /// How many items it takes now. The numbers can change while it runs.
    fn capacity(&self) -> Capacity;

    /// Takes an attempt. An item that cannot run comes back as a record that says why.
    fn submit(&mut self, attempt: ItemAttempt);

    /// A descriptor that becomes readable when [`collect`](Executor::collect) has something to do.
    fn event(&self) -> BorrowedFd<'_>;

    /// The time until [`collect`](Executor::collect) must be called even if nothing has happened.
    fn next_deadline(&self) -> Option<Duration> {
        None
    }

    /// Handles what has happened, and returns the attempts that have ended with their records.
    fn collect(&mut self) -> Vec<(ItemAttempt, ItemRecord)>;

    /// Cancels all items. Those that run come back as records.
    fn cancel(&mut self);

    /// Cancels everything that still runs, and returns when nothing of it is left.
    fn shut_down(&mut self);

    /// The number of items that run now, if the executor knows it better than its caller.
    fn running(&self) -> Option<usize> {
        None
    }

    /// Messages for the user since the last call.
    fn take_messages(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The reason why no item will run any more.
    fn failure(&self) -> Option<String> {
        None
    }
}
