//! Entries, a few at a time.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::case::Case;
use crate::compare;
use crate::options::Options;
use crate::outcome::{self, ORACLE};

/// How many entries run at the same time.
const WORKERS: usize = 2;

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Both shells did the same.
    Same,
    /// They differ, and the entry says why.
    KnownToDiffer,
    /// They differ, or no longer differ where the entry says so.
    Failed,
}

/// Runs all entries; failures are printed as they come.
pub(crate) fn run(cases: &[Case], options: &Options) -> Vec<Verdict> {
    let place = tempfile::tempdir().expect("a temporary directory");
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (sender, next) = (sender.clone(), &next);
            let place = place.path();
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let _ = sender.send(judge(case, options, place));
                }
            });
        }
        drop(sender);
        receiver.into_iter().map(|(verdict, message)| announce(verdict, &message)).collect()
    })
}

fn judge(case: &Case, options: &Options, place: &Path) -> (Verdict, String) {
    let way = case.way(options.in_turn);
    let bash = outcome::run(Path::new(ORACLE), case, way, place);
    let haft = outcome::run(&options.shell, case, way, place);
    match (compare::difference(case, &bash, &haft), &case.known) {
        (None, None) => (Verdict::Same, String::new()),
        (Some(_), Some(_)) => (Verdict::KnownToDiffer, String::new()),
        (Some(report), None) => (Verdict::Failed, report),
        (None, Some(reason)) => {
            (Verdict::Failed, format!("=== {}\nno longer differs, though it says: {reason}\n", case.name))
        }
    }
}

fn announce(verdict: Verdict, message: &str) -> Verdict {
    if !message.is_empty() {
        println!("{message}");
    }
    verdict
}
