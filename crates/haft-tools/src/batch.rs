//! Batches of calls: they run in parallel unless they conflict, and results arrive in order.
//!
//! Calls may arrive over time. Each starts as soon as no earlier call conflicts with it, and its result is
//! delivered as soon as all earlier results are.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::access::CallAccess;
use crate::call::CallOptions;
use crate::envelope::{CallError, Envelope};
use crate::registry::Registry;

/// Maximum number of calls read ahead of the first unfinished one.
const MAX_PENDING_CALLS: usize = 4096;

/// One call of a batch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchCall {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
    /// An identifier for the caller; it is returned with the result.
    #[serde(default)]
    pub id: Option<Value>,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

impl Registry {
    /// Runs calls as they arrive, at most `width` in parallel. A call waits for every earlier one that it
    /// conflicts with: one of them writes what the other reads or writes, or has not declared its access.
    /// `answer` receives the results in the order of the calls, each with the tag of its call.
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
        let run = |ready: Result<_, CallError>| {
            let start = Instant::now();
            let mut envelope = match &ready {
                Ok(ready) => self.run(ready, options, &|_| ()),
                Err(error) => Envelope::failure(error.clone()),
            };
            envelope.duration = start.elapsed();
            envelope
        };
        schedule(calls, width, prepare, run, answer);
    }
}

/// State of a call in the queue.
enum QueuedCall<N, R, D> {
    /// Not prepared yet.
    New(N),
    /// Prepared; its access is known.
    Ready(R, CallAccess),
    /// A worker is preparing or running it. The access is unknown while it is being prepared.
    Busy(Option<CallAccess>),
    Done(D),
}

/// The next step for a worker.
enum NextStep<N, R> {
    Prepare(N),
    Run(R),
}

/// Calls whose results have not been delivered, in order.
struct BatchQueue<T, N, R, D> {
    calls: VecDeque<(T, QueuedCall<N, R, D>)>,
    /// Number of delivered results.
    delivered: usize,
    /// True once no more calls will arrive.
    closed: bool,
}

impl<T, N, R, D> BatchQueue<T, N, R, D> {
    /// Takes the first call that a worker can prepare or run, with its number.
    fn next(&mut self) -> Option<(usize, NextStep<N, R>)> {
        let index = (0..self.calls.len()).find(|index| self.is_ready(*index))?;
        let stage = &mut self.calls[index].1;
        let work = match std::mem::replace(stage, QueuedCall::Busy(None)) {
            QueuedCall::New(new) => NextStep::Prepare(new),
            QueuedCall::Ready(ready, touched) => {
                *stage = QueuedCall::Busy(Some(touched));
                NextStep::Run(ready)
            }
            QueuedCall::Busy(_) | QueuedCall::Done(_) => return None,
        };
        Some((self.delivered + index, work))
    }

    /// Returns true if the call is new, or if no unfinished earlier call conflicts with it.
    fn is_ready(&self, index: usize) -> bool {
        let touched = match &self.calls[index].1 {
            QueuedCall::New(_) => return true,
            QueuedCall::Ready(_, touched) => touched,
            QueuedCall::Busy(_) | QueuedCall::Done(_) => return false,
        };
        self.calls.range(..index).all(|(_, earlier)| match earlier {
            QueuedCall::Done(_) => true,
            QueuedCall::Ready(_, other) | QueuedCall::Busy(Some(other)) => !touched.conflicts(other),
            QueuedCall::New(_) | QueuedCall::Busy(None) => false,
        })
    }

    fn set(&mut self, number: usize, stage: QueuedCall<N, R, D>) {
        let index = number - self.delivered;
        self.calls[index].1 = stage;
    }

    /// Removes the first call if it is done.
    fn take(&mut self) -> Option<(T, D)> {
        if !matches!(self.calls.front(), Some((_, QueuedCall::Done(_)))) {
            return None;
        }
        self.delivered += 1;
        match self.calls.pop_front() {
            Some((tag, QueuedCall::Done(done))) => Some((tag, done)),
            _ => None,
        }
    }

    /// Returns true if all calls have started and no more will arrive.
    fn is_finished(&self) -> bool {
        let begun =
            |stage: &QueuedCall<N, R, D>| matches!(stage, QueuedCall::Busy(Some(_)) | QueuedCall::Done(_));
        self.closed && self.calls.iter().all(|(_, stage)| begun(stage))
    }
}

/// Prepares and runs calls on `width` threads. Each runs after all earlier ones that it conflicts with.
/// Delivers results in order.
fn schedule<T: Send, N: Send, R: Send, D: Send>(
    calls: impl Iterator<Item = (T, N)> + Send,
    width: usize,
    prepare: impl Fn(N) -> (R, CallAccess) + Sync,
    run: impl Fn(R) -> D + Sync,
    mut answer: impl FnMut(T, D),
) {
    let queue = Mutex::new(BatchQueue { calls: VecDeque::new(), delivered: 0, closed: false });
    let changed = Condvar::new();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = |queue| changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        let mut queue: MutexGuard<'_, BatchQueue<T, N, R, D>> = lock();
        while !queue.is_finished() {
            let Some((number, work)) = queue.next() else {
                queue = wait(queue);
                continue;
            };
            drop(queue);
            let stage = match work {
                NextStep::Prepare(new) => {
                    let (ready, touched) = prepare(new);
                    QueuedCall::Ready(ready, touched)
                }
                NextStep::Run(ready) => QueuedCall::Done(run(ready)),
            };
            queue = lock();
            queue.set(number, stage);
            changed.notify_all();
        }
    };
    let reader = || {
        for (tag, new) in calls {
            let mut queue = lock();
            while queue.calls.len() >= MAX_PENDING_CALLS {
                queue = wait(queue);
            }
            queue.calls.push_back((tag, QueuedCall::New(new)));
            changed.notify_all();
        }
        lock().closed = true;
        changed.notify_all();
    };
    std::thread::scope(|threads| {
        threads.spawn(reader);
        (0..width.max(1)).for_each(|_| drop(threads.spawn(worker)));
        let mut queue = lock();
        while !(queue.closed && queue.calls.is_empty()) {
            queue = match queue.take() {
                None => wait(queue),
                Some((tag, done)) => {
                    drop(queue);
                    answer(tag, done);
                    changed.notify_all();
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
    fn a_write_waits_for_overlapping_access_and_undeclared_access_for_everything() {
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
                () if finished.contains(&index) => QueuedCall::Done(()),
                () if started.contains(&index) => QueuedCall::Busy(Some(touched[index].clone())),
                () => QueuedCall::Ready((), touched[index].clone()),
            };
            let calls = (0..6).map(|index| ((), stage(index))).collect();
            let mut queue: BatchQueue<(), (), (), ()> = BatchQueue { calls, delivered: 0, closed: false };
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
    fn a_call_waits_until_the_access_of_earlier_calls_is_known() {
        let mut queue: BatchQueue<(), (), (), ()> =
            BatchQueue { calls: VecDeque::new(), delivered: 0, closed: false };
        queue.calls.push_back(((), QueuedCall::Busy(None)));
        queue.calls.push_back(((), QueuedCall::Ready((), CallAccess::default())));
        assert!(queue.next().is_none());
        queue.set(0, QueuedCall::Ready((), CallAccess::default()));
        assert_eq!(queue.next().map(|(number, _)| number), Some(0));
        assert_eq!(queue.next().map(|(number, _)| number), Some(1));
    }

    #[test]
    fn calls_without_conflicts_run_in_parallel_and_results_arrive_in_order() {
        let together = Barrier::new(4);
        let mut order = Vec::new();
        let run = |index: usize| {
            together.wait();
            index * 10
        };
        let calls = (0..8).map(|index| (index, index));
        schedule(calls, 4, |index| (index, CallAccess::default()), run, |tag, done| order.push((tag, done)));
        assert_eq!(order, (0..8).map(|index| (index, index * 10)).collect::<Vec<_>>());
    }

    #[test]
    fn a_result_is_delivered_before_the_next_call_arrives() {
        let (send, receive) = mpsc::channel();
        send.send(0).expect("the receiver exists");
        let mut send = Some(send);
        let mut answered = 0;
        let calls = receive.into_iter().map(|number| (number, number));
        schedule(
            calls,
            4,
            |number| (number, CallAccess::Everything),
            |number| number,
            |_, number| {
                answered += 1;
                match &send {
                    Some(next) if number < 3 => next.send(number + 1).expect("the receiver exists"),
                    _ => drop(send.take()),
                }
            },
        );
        assert_eq!(answered, 4);
    }

    #[test]
    fn an_empty_batch_ends_at_once() {
        let nothing = std::iter::empty::<((), ())>();
        schedule(
            nothing,
            4,
            |()| ((), CallAccess::default()),
            |()| (),
            |(), ()| unreachable!("the batch is empty"),
        );
    }
}
