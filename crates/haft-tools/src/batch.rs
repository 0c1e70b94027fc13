//! Many calls at once: side by side where they do not get in one another's way, answered in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use crate::access::Touched;
use crate::call::{CallOptions, Ready};
use crate::envelope::{Envelope, Fault};
use crate::registry::Registry;

/// One of many calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
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
    /// Makes calls, at most `width` at once. A call waits for every earlier one that it conflicts with: one that writes
    /// what the other reads or writes, or does not say what it does. `answer` gets the answers in the order of the calls.
    pub fn batch(
        &self,
        calls: &[Call],
        width: usize,
        options: &CallOptions,
        answer: impl FnMut(usize, Envelope),
    ) {
        let ready = self.prepare_all(calls, width, options);
        let inner = self.inner();
        let directory = options.directory.as_ref().unwrap_or(&inner.options.directory);
        let touched: Vec<Touched> = ready
            .iter()
            .map(|ready| match ready {
                Ok(ready) => ready.tool.descriptor().access.of_call(&ready.arguments, directory),
                Err(_) => Touched::default(),
            })
            .collect();
        let make = |index: usize| {
            let start = Instant::now();
            let mut envelope = match &ready[index] {
                Ok(ready) => self.run(ready, options, &|_| ()),
                Err(fault) => Envelope::failure(fault.clone()),
            };
            envelope.duration = start.elapsed();
            envelope
        };
        schedule(&touched, width, make, answer);
    }

    /// Looks for all the tools, several at a time, since each may have to be asked.
    fn prepare_all(&self, calls: &[Call], width: usize, options: &CallOptions) -> Vec<Result<Ready, Fault>> {
        let mut ready = Vec::with_capacity(calls.len());
        let prepare = |call: &Call| self.prepare(&call.tool, call.arguments.clone(), options);
        let nothing = vec![Touched::default(); calls.len()];
        schedule(&nothing, width, |index| prepare(&calls[index]), |_, result| ready.push(result));
        ready
    }
}

/// What became of each piece of work.
struct Progress<T> {
    started: Vec<bool>,
    finished: Vec<bool>,
    answers: BTreeMap<usize, T>,
}

/// Does pieces of work on `width` threads, each after all earlier ones that it conflicts with, and hands out what came
/// of them in order.
fn schedule<T: Send>(
    touched: &[Touched],
    width: usize,
    work: impl Fn(usize) -> T + Sync,
    mut answer: impl FnMut(usize, T),
) {
    let count = touched.len();
    let progress = Mutex::new(Progress {
        started: vec![false; count],
        finished: vec![false; count],
        answers: BTreeMap::new(),
    });
    let turn = Condvar::new();
    let lock = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        let mut state = lock();
        loop {
            match next(&state.started, &state.finished, touched) {
                Some(index) => {
                    state.started[index] = true;
                    drop(state);
                    let result = work(index);
                    state = lock();
                    state.finished[index] = true;
                    state.answers.insert(index, result);
                    turn.notify_all();
                }
                None if state.started.iter().all(|started| *started) => return,
                None => state = turn.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..width.clamp(1, count.max(1)) {
            threads.spawn(worker);
        }
        for index in 0..count {
            let mut state = lock();
            let result = loop {
                match state.answers.remove(&index) {
                    Some(result) => break result,
                    None => state = turn.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            answer(index, result);
        }
    });
}

/// The first that has not started and conflicts with no earlier one that has not finished.
fn next(started: &[bool], finished: &[bool], touched: &[Touched]) -> Option<usize> {
    let may_start = |index: &usize| {
        !started[*index]
            && (0..*index).all(|earlier| finished[earlier] || !touched[*index].conflicts(&touched[earlier]))
    };
    (0..touched.len()).find(may_start)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Barrier;

    use super::*;

    fn paths(read: &[&str], write: &[&str]) -> Touched {
        let own = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Touched::Paths { read: own(read), write: own(write) }
    }

    #[test]
    fn a_write_waits_for_what_it_overlaps_and_a_barrier_for_all() {
        let touched = [
            paths(&["/a"], &[]),
            paths(&["/a"], &[]),
            paths(&[], &["/a"]),
            paths(&[], &["/b"]),
            Touched::Everything,
            paths(&["/c"], &[]),
        ];
        let none = [false; 6];
        let starts = |started: &[usize], finished: &[usize]| {
            let flags = |set: &[usize]| {
                let mut flags = none;
                set.iter().for_each(|index| flags[*index] = true);
                flags
            };
            next(&flags(started), &flags(finished), &touched)
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
    fn answers_come_in_order_and_what_does_not_conflict_runs_at_the_same_time() {
        let together = Barrier::new(4);
        let touched = vec![Touched::default(); 8];
        let mut order = Vec::new();
        let work = |index: usize| {
            together.wait();
            index * 10
        };
        schedule(&touched, 4, work, |index, result| order.push((index, result)));
        assert_eq!(order, (0..8).map(|index| (index, index * 10)).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        schedule(&[], 4, |_| (), |_, ()| unreachable!("there is nothing"));
    }
}
