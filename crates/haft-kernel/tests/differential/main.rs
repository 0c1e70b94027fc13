//! Runs the same scripts with bash and with haft, and compares the results.
//!
//! Every entry of `cases/*.txt` runs in a new directory, first with bash 5.2, then with the shell under test, with the same small
//! environment. The results must be equal: standard output, the exit status, whether there is output on standard error, and the
//! files in the directory.
//!
//! ```text
//! cargo test -p haft-kernel --test differential -- [--shell PATH] [--list] [FILTER…]
//! ```
//!
//! As a test of the kernel, the shell under test is the example `shell` and the scripts are files. As a test of the binary, it is the
//! binary, which gets the scripts as arguments and on standard input in turn.
//!
//! A filter selects the entries whose `topic/name` contains it, or the tests, each of several entries, that `--list` shows. With
//! `--shell /bin/bash` the suite finds entries that do not always behave the same.

mod case;
mod compare;
mod options;
mod outcome;
mod schedule;
mod snapshot;

use std::process::ExitCode;

use case::Case;
use options::HarnessOptions;
use schedule::Verdict;

fn main() -> ExitCode {
    let options = HarnessOptions::from_arguments(std::env::args().skip(1));
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
        println!(
            "differential: '{}' does not exist; run 'cargo build --example shell'",
            options.shell.display()
        );
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
