//! Running entries in parallel.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::case::Case;
use crate::compare;
use crate::options::HarnessOptions;
use crate::outcome::{self, ORACLE, Outcome};

/// How many entries run in parallel.
const PARALLEL_ENTRIES: usize = 2;

/// How often bash runs again to find out whether its result varies, as when a signal arrives before it waits for its child.
const ORACLE_REPETITIONS: usize = 8;

/// The verdict on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The results are equal.
    Same,
    /// The results differ, as the entry says.
    KnownToDiffer,
    /// The results differ unexpectedly, or are unexpectedly equal.
    Failed,
}

/// Runs all entries, and prints failures at once.
pub(crate) fn run(cases: &[Case], options: &HarnessOptions) -> Vec<Verdict> {
    let place = tempfile::tempdir().expect("a temporary directory");
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..PARALLEL_ENTRIES {
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

fn judge(case: &Case, options: &HarnessOptions, place: &Path) -> (Verdict, String) {
    let way = case.way(options.in_turn);
    let bash = outcome::run(Path::new(ORACLE), case, way, place);
    let haft = outcome::run(&options.shell, case, way, place);
    let difference = compare::difference(case, &bash, &haft)
        .filter(|_| case.known.is_some() || !bash_may_give(&haft, case, options, place));
    match (difference, &case.known) {
        (None, None) => (Verdict::Same, String::new()),
        (Some(_), Some(_)) => (Verdict::KnownToDiffer, String::new()),
        (Some(report), None) => (Verdict::Failed, report),
        (None, Some(reason)) => (
            Verdict::Failed,
            format!("=== {}\nthe results are equal, but the entry says: differs {reason}\n", case.name),
        ),
    }
}

/// Whether bash gives this result, too, when it runs the script again.
fn bash_may_give(haft: &Outcome, case: &Case, options: &HarnessOptions, place: &Path) -> bool {
    (0..ORACLE_REPETITIONS).any(|_| {
        let bash = outcome::run(Path::new(ORACLE), case, case.way(options.in_turn), place);
        compare::difference(case, &bash, haft).is_none()
    })
}

fn announce(verdict: Verdict, message: &str) -> Verdict {
    if !message.is_empty() {
        println!("{message}");
    }
    verdict
}
