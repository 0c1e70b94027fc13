//! The same script through bash and through haft.
//!
//! Every entry of `cases/*.txt` runs in a fresh directory, first by bash 5.2, then by the shell under test, with the same
//! small environment. Whatever a script's user could notice has to be the same: standard output, the exit status, whether
//! anything was said on standard error, and the directory left behind.
//!
//! ```text
//! cargo test -p haft-kernel --test differential -- [--shell PATH] [--list] [FILTER…]
//! ```
//!
//! Built as a test of the kernel, the shell is the kernel's example, and the scripts are files; built as a test of the binary, it
//! is the binary, and it gets them as arguments and on standard input in turn.
//!
//! A filter selects the entries whose `topic/name` holds it, or the tests, each of a few entries, that `--list` shows. With `--shell /bin/bash` the suite shows whether its own
//! entries always behave the same.

mod case;
mod compare;
mod options;
mod outcome;
mod schedule;
mod snapshot;

use std::process::ExitCode;

use case::Case;
use options::Options;
use schedule::Verdict;

fn main() -> ExitCode {
    let options = Options::from_arguments(std::env::args().skip(1));
    let cases: Vec<Case> = case::all().into_iter().filter(|case| options.selects(case)).collect();
    if options.list {
        let mut batches: Vec<&str> = cases.iter().map(|case| case.batch.as_str()).collect();
        batches.dedup();
        batches.iter().for_each(|batch| println!("{batch}: test"));
        return ExitCode::SUCCESS;
    }
    if let Some(reason) = options.unusable() {
        println!("differential: skipped: {reason}");
        return ExitCode::SUCCESS;
    }
    if !options.shell.exists() {
        println!("differential: '{}' is not there: cargo build --example shell", options.shell.display());
        return ExitCode::FAILURE;
    }
    let verdicts = schedule::run(&cases, &options);
    let count = |wanted: &Verdict| verdicts.iter().filter(|verdict| *verdict == wanted).count();
    println!(
        "differential: {} entries, {} the same, {} known to differ, {} failed",
        cases.len(),
        count(&Verdict::Same),
        count(&Verdict::KnownToDiffer),
        count(&Verdict::Failed)
    );
    if count(&Verdict::Failed) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
