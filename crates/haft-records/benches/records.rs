//! Times of writing a record, and of reading a million of them. Not a comparison: it prints microseconds and milliseconds.

use std::path::Path;
use std::time::Instant;

use haft_records::{
    JournalLimits, JournalRecord, OutputReference, RecordStore, RunEnd, RunFilter, RunJournal, RunStart,
    StageEnd, TextPattern,
};

const RUNS: u64 = 333_334;

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    // Nothing is pruned, because only the journals of three runs exceed the default limit.
    let limits = JournalLimits { max_size: 4 << 30, ..JournalLimits::default() };
    let journal = RunJournal::open(directory.path(), "bench", limits).expect("a journal");
    let start = Instant::now();
    (0..RUNS).for_each(|number| add_run(&journal, number));
    println!("{:8.2} µs per record written", start.elapsed().as_secs_f64() * 1e6 / (3.0 * RUNS as f64));
    drop(journal);
    let store = RecordStore::open(directory.path());
    let filter = |pattern: &str| RunFilter {
        grep: Some(TextPattern::new(pattern).expect("a pattern")),
        limit: Some(100),
        ..RunFilter::default()
    };
    let list = RunFilter { limit: Some(100), ..RunFilter::default() };
    let failed = RunFilter { failed: true, ..list.clone() };
    time("list, first time (builds the indexes)", || store.runs(&list).expect("readable").omitted);
    time("list", || store.runs(&list).expect("readable").omitted);
    time("list failed", || store.runs(&failed).expect("readable").omitted);
    time("grep a common word", || store.runs(&filter("cargo")).expect("readable").omitted);
    time("grep a rare expression", || store.runs(&filter("crate-[0-9]*77777 ")).expect("readable").omitted);
    time("show", || store.find("run-123-00000166666").expect("readable").map_or(0, |run| run.stages.len()));
    time("statistics", || store.statistics(&RunFilter::default(), 0).expect("readable").programs.len());
    time("verify", || store.verify().expect("readable").records as usize);
    println!("{:8} MB of journals and indexes", size(directory.path()) >> 20);
}

fn add_run(journal: &RunJournal, number: u64) {
    let run = format!("run-123-{number:011}");
    let time = 1_700_000_000_000 + number * 1000;
    let start = RunStart {
        session: "bench".to_owned(),
        script: Some(format!("cd project && cargo test -p crate-{number} 2>&1 | tail -n 20")),
        cwd: "/home/user/project".to_owned(),
        agent: Some(["claude", "codex", "gemini"][(number % 3) as usize].to_owned()),
        ..RunStart::new(&run, time)
    };
    journal.append(&JournalRecord::Start(start)).expect("written");
    let stage = StageEnd {
        run: run.clone(),
        kind: "external".to_owned(),
        argv: ["cargo", "test", "-p", "crate"].map(str::to_owned).to_vec(),
        wall: 0.01,
        cpu: Some(0.01),
        ..StageEnd::default()
    };
    journal.append(&JournalRecord::Stage(stage)).expect("written");
    let outputs =
        vec![OutputReference { stream: "stdout".to_owned(), id: "o12345678901".to_owned(), bytes: 100 }];
    let end = RunEnd {
        code: i32::from(number.is_multiple_of(7)),
        duration: 0.01,
        outputs,
        ..RunEnd::new(&run, time + 10)
    };
    journal.append(&JournalRecord::End(end)).expect("written");
}

fn time(name: &str, work: impl Fn() -> usize) {
    let start = Instant::now();
    let result = work();
    println!("{:8.1} ms {name} ({result})", start.elapsed().as_secs_f64() * 1e3);
}

fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}
