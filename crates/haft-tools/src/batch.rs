//! Many calls at once: side by side where they do not get in one another's way, answered in order.
//!
//! Calls may come one after another for as long as they like: each begins as soon as it may, and is answered as soon as all
//! before it are.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::access::CallAccess;
use crate::call::CallOptions;
use crate::envelope::{CallError, Envelope};
use crate::registry::Registry;

/// So many calls are taken before the first of them is answered.
const AHEAD: usize = 4096;

/// One of many calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
    /// Whatever the caller knows it by; it comes back with the answer.
    #[serde(default)]
    pub id: Option<Value>,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

impl Registry {
    /// Makes calls as they come, at most `width` at once. A call waits for every earlier one that it conflicts with: one that
    /// writes what the other reads or writes, or does not say what it does. `answer` gets the answers in the order of the
    /// calls, each with what came with its call.
    pub fn batch<T: Send>(
        &self,
        calls: impl Iterator<Item = (T, Result<BatchCall, CallError>)> + Send,
        width: usize,
        options: &CallOptions,
        answer: impl FnMut(T, Envelope),
    ) {
        let inner = self.inner();
        let directory = options.directory.as_ref().unwrap_or(&inner.options.directory);
        let prepare = |call: Result<BatchCall, CallError>| {
            let ready = call.and_then(|call| self.prepare(&call.tool, call.arguments, options));
            let touched = match &ready {
                Ok(ready) => ready.tool.descriptor().access.of_call(&ready.arguments, directory),
                Err(_) => CallAccess::default(),
            };
            (ready, touched)
        };
        let make = |ready: Result<_, CallError>| {
            let start = Instant::now();
            let mut envelope = match &ready {
                Ok(ready) => self.run(ready, options, &|_| ()),
                Err(fault) => Envelope::failure(fault.clone()),
            };
            envelope.duration = start.elapsed();
            envelope
        };
        schedule(calls, width, prepare, make, answer);
    }
}

/// Where a piece of work stands.
enum PieceState<N, R, D> {
    /// It has come.
    New(N),
    /// It is known what it touches.
    Ready(R, CallAccess),
    /// Somebody works on it; what it touches may not be known yet.
    Busy(Option<CallAccess>),
    Done(D),
}

/// What somebody may do next.
enum NextStep<N, R> {
    Prepare(N),
    Make(R),
}

/// The pieces of work that were not handed out yet, in order.
struct BatchQueue<T, N, R, D> {
    pieces: VecDeque<(T, PieceState<N, R, D>)>,
    /// How many were handed out.
    gone: usize,
    /// Whether no more will come.
    closed: bool,
}

impl<T, N, R, D> BatchQueue<T, N, R, D> {
    /// Takes the first piece that somebody can do something about, with its number.
    fn next(&mut self) -> Option<(usize, NextStep<N, R>)> {
        let place = (0..self.pieces.len()).find(|place| self.is_open(*place))?;
        let stage = &mut self.pieces[place].1;
        let work = match std::mem::replace(stage, PieceState::Busy(None)) {
            PieceState::New(new) => NextStep::Prepare(new),
            PieceState::Ready(ready, touched) => {
                *stage = PieceState::Busy(Some(touched));
                NextStep::Make(ready)
            }
            PieceState::Busy(_) | PieceState::Done(_) => return None,
        };
        Some((self.gone + place, work))
    }

    /// Whether a piece is new, or conflicts with no earlier one that is not done.
    fn is_open(&self, place: usize) -> bool {
        let touched = match &self.pieces[place].1 {
            PieceState::New(_) => return true,
            PieceState::Ready(_, touched) => touched,
            PieceState::Busy(_) | PieceState::Done(_) => return false,
        };
        self.pieces.range(..place).all(|(_, earlier)| match earlier {
            PieceState::Done(_) => true,
            PieceState::Ready(_, other) | PieceState::Busy(Some(other)) => !touched.conflicts(other),
            PieceState::New(_) | PieceState::Busy(None) => false,
        })
    }

    fn set(&mut self, number: usize, stage: PieceState<N, R, D>) {
        let place = number - self.gone;
        self.pieces[place].1 = stage;
    }

    /// The first piece, once it is done.
    fn take(&mut self) -> Option<(T, D)> {
        if !matches!(self.pieces.front(), Some((_, PieceState::Done(_)))) {
            return None;
        }
        self.gone += 1;
        match self.pieces.pop_front() {
            Some((tag, PieceState::Done(done))) => Some((tag, done)),
            _ => None,
        }
    }

    /// Whether nothing is left to begin, nor will be.
    fn is_over(&self) -> bool {
        let begun =
            |stage: &PieceState<N, R, D>| matches!(stage, PieceState::Busy(Some(_)) | PieceState::Done(_));
        self.closed && self.pieces.iter().all(|(_, stage)| begun(stage))
    }
}

/// Prepares and does pieces of work on `width` threads as they come, each after all earlier ones that it conflicts with, and
/// hands out what came of them in order.
fn schedule<T: Send, N: Send, R: Send, D: Send>(
    pieces: impl Iterator<Item = (T, N)> + Send,
    width: usize,
    prepare: impl Fn(N) -> (R, CallAccess) + Sync,
    make: impl Fn(R) -> D + Sync,
    mut answer: impl FnMut(T, D),
) {
    let queue = Mutex::new(BatchQueue { pieces: VecDeque::new(), gone: 0, closed: false });
    let turn = Condvar::new();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = |queue| turn.wait(queue).unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        let mut queue: MutexGuard<'_, BatchQueue<T, N, R, D>> = lock();
        while !queue.is_over() {
            let Some((number, work)) = queue.next() else {
                queue = wait(queue);
                continue;
            };
            drop(queue);
            let stage = match work {
                NextStep::Prepare(new) => {
                    let (ready, touched) = prepare(new);
                    PieceState::Ready(ready, touched)
                }
                NextStep::Make(ready) => PieceState::Done(make(ready)),
            };
            queue = lock();
            queue.set(number, stage);
            turn.notify_all();
        }
    };
    let reader = || {
        for (tag, new) in pieces {
            let mut queue = lock();
            while queue.pieces.len() >= AHEAD {
                queue = wait(queue);
            }
            queue.pieces.push_back((tag, PieceState::New(new)));
            turn.notify_all();
        }
        lock().closed = true;
        turn.notify_all();
    };
    std::thread::scope(|threads| {
        threads.spawn(reader);
        (0..width.max(1)).for_each(|_| drop(threads.spawn(worker)));
        let mut queue = lock();
        while !(queue.closed && queue.pieces.is_empty()) {
            queue = match queue.take() {
                None => wait(queue),
                Some((tag, done)) => {
                    drop(queue);
                    answer(tag, done);
                    turn.notify_all();
                    lock()
                }
            };
        }
    });
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::{Barrier, mpsc};

    use super::*;

    fn paths(read: &[&str], write: &[&str]) -> CallAccess {
        let own = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        CallAccess::Paths { read: own(read), write: own(write) }
    }

    #[test]
    fn a_write_waits_for_what_it_overlaps_and_a_barrier_for_all() {
        let touched = [
            paths(&["/a"], &[]),
            paths(&["/a"], &[]),
            paths(&[], &["/a"]),
            paths(&[], &["/b"]),
            CallAccess::Everything,
            paths(&["/c"], &[]),
        ];
        let starts = |started: &[usize], finished: &[usize]| {
            let stage = |index: usize| match () {
                () if finished.contains(&index) => PieceState::Done(()),
                () if started.contains(&index) => PieceState::Busy(Some(touched[index].clone())),
                () => PieceState::Ready((), touched[index].clone()),
            };
            let pieces = (0..6).map(|index| ((), stage(index))).collect();
            let mut queue: BatchQueue<(), (), (), ()> = BatchQueue { pieces, gone: 0, closed: false };
            queue.next().map(|(number, _)| number)
        };
        assert_eq!(starts(&[], &[]), Some(0));
        assert_eq!(starts(&[0], &[]), Some(1));
        assert_eq!(starts(&[0, 1], &[]), Some(3));
        assert_eq!(starts(&[0, 1, 3], &[0]), None);
        assert_eq!(starts(&[0, 1, 3], &[0, 1]), Some(2));
        assert_eq!(starts(&[0, 1, 2, 3], &[0, 1, 2]), None);
        assert_eq!(starts(&[0, 1, 2, 3], &[0, 1, 2, 3]), Some(4));
        assert_eq!(starts(&[0, 1, 2, 3, 4], &[0, 1, 2, 3]), None);
    }

    #[test]
    fn nothing_starts_before_it_is_known_what_those_before_it_touch() {
        let mut queue: BatchQueue<(), (), (), ()> =
            BatchQueue { pieces: VecDeque::new(), gone: 0, closed: false };
        queue.pieces.push_back(((), PieceState::Busy(None)));
        queue.pieces.push_back(((), PieceState::Ready((), CallAccess::default())));
        assert!(queue.next().is_none());
        queue.set(0, PieceState::Ready((), CallAccess::default()));
        assert_eq!(queue.next().map(|(number, _)| number), Some(0));
        assert_eq!(queue.next().map(|(number, _)| number), Some(1));
    }

    #[test]
    fn answers_come_in_order_and_what_does_not_conflict_runs_at_the_same_time() {
        let together = Barrier::new(4);
        let mut order = Vec::new();
        let make = |index: usize| {
            together.wait();
            index * 10
        };
        let pieces = (0..8).map(|index| (index, index));
        schedule(
            pieces,
            4,
            |index| (index, CallAccess::default()),
            make,
            |tag, done| order.push((tag, done)),
        );
        assert_eq!(order, (0..8).map(|index| (index, index * 10)).collect::<Vec<_>>());
    }

    #[test]
    fn an_answer_comes_before_the_next_piece_does() {
        let (send, receive) = mpsc::channel();
        send.send(0).expect("somebody listens");
        let mut send = Some(send);
        let mut answered = 0;
        let pieces = receive.into_iter().map(|number| (number, number));
        schedule(
            pieces,
            4,
            |number| (number, CallAccess::Everything),
            |number| number,
            |_, number| {
                answered += 1;
                match &send {
                    Some(next) if number < 3 => next.send(number + 1).expect("somebody listens"),
                    _ => drop(send.take()),
                }
            },
        );
        assert_eq!(answered, 4);
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        let nothing = std::iter::empty::<((), ())>();
        schedule(
            nothing,
            4,
            |()| ((), CallAccess::default()),
            |()| (),
            |(), ()| unreachable!("there is nothing"),
        );
    }
}
