//! Listing, searching and adding up runs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use haft_records::{
    ClientIdentity, JournalLimits, JournalRecord, OutputReference, RecordStore, RecordedProcess, RunEnd,
    RunFilter, RunJournal, RunKind, RunStart, RunState, StageEnd, TextPattern,
};

const DAY: u64 = 24 * 3600 * 1000;

fn open(directory: &Path, session: &str) -> RunJournal {
    RunJournal::open(directory, session, JournalLimits::default()).expect("a journal")
}

fn add_run(journal: &RunJournal, id: &str, time: u64, script: &str, code: i32) {
    let start = RunStart {
        script: Some(script.to_owned()),
        session: "test".to_owned(),
        agent: Some(if code == 0 { "claude" } else { "codex" }.to_owned()),
        ..RunStart::new(id, time)
    };
    journal.append(&JournalRecord::Start(start)).expect("written");
    let argv = script.split(' ').map(str::to_owned).collect();
    let stage = StageEnd {
        run: id.to_owned(),
        kind: "external".to_owned(),
        argv,
        code,
        wall: 0.25,
        cpu: Some(0.125),
        ..StageEnd::default()
    };
    journal.append(&JournalRecord::Stage(stage)).expect("written");
    let outputs = vec![OutputReference { stream: "stdout".to_owned(), id: "o1".to_owned(), bytes: 10 }];
    let end = RunEnd { code, duration: 0.5, cpu: 0.125, outputs, ..RunEnd::new(id, time + 500) };
    journal.append(&JournalRecord::End(end)).expect("written");
}

fn ids(directory: &Path, filter: &RunFilter) -> Vec<String> {
    let list = RecordStore::open(directory).runs(filter).expect("readable");
    list.runs.into_iter().map(|run| run.id).collect()
}

fn grep(pattern: &str) -> RunFilter {
    RunFilter { grep: Some(TextPattern::new(pattern).expect("a pattern")), ..RunFilter::default() }
}

#[test]
fn a_missing_directory_has_no_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    assert_eq!(ids(&directory.path().join("none"), &RunFilter::default()), [""; 0]);
}

#[test]
fn runs_of_all_files_are_listed_in_the_order_of_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let (one, other) = (open(directory.path(), "one"), open(directory.path(), "other"));
    add_run(&one, "a", 1000, "make", 0);
    add_run(&other, "b", 2000, "make test", 2);
    add_run(&one, "c", 3000, "make install", 0);
    let all = |filter: RunFilter| ids(directory.path(), &filter);
    assert_eq!(all(RunFilter::default()), ["a", "b", "c"]);
    assert_eq!(all(RunFilter { limit: Some(2), ..RunFilter::default() }), ["b", "c"]);
    assert_eq!(all(RunFilter { since: Some(2000), ..RunFilter::default() }), ["b", "c"]);
    assert_eq!(all(RunFilter { failed: true, ..RunFilter::default() }), ["b"]);
    assert_eq!(all(RunFilter { agent: Some("claude".to_owned()), ..RunFilter::default() }), ["a", "c"]);
    assert_eq!(all(RunFilter { agent: Some("nobody".to_owned()), ..RunFilter::default() }), [""; 0]);
    let list = RecordStore::open(directory.path());
    let list = list.runs(&RunFilter { limit: Some(1), ..RunFilter::default() }).expect("readable");
    assert_eq!((list.omitted, list.runs[0].code, list.runs[0].bytes), (2, 0, 10));
}

#[test]
fn a_pattern_is_searched_in_each_text_on_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = open(directory.path(), "one");
    for (id, script) in [("a", "cat one"), ("b", "tac two\ncat three"), ("c", "echo caterpillar"), ("d", "")]
    {
        add_run(&journal, id, 1, script, 0);
    }
    let all = |pattern: &str| ids(directory.path(), &grep(pattern));
    assert_eq!(all("cat"), ["a", "b", "c"]);
    assert_eq!(all("^cat"), ["a", "b"]);
    assert_eq!(all("two$"), ["b"]);
    assert_eq!(all("(?s)one.*two"), [""; 0], "a match does not extend over two runs");
    assert_eq!(all("one[^x]*two"), [""; 0]);
    assert_eq!(all("t[^x]*e"), ["a", "b", "c"]);
    assert_eq!(all("\\Acat"), ["a"]);
    assert_eq!(all("nothing"), [""; 0]);
    assert_eq!(all("").len(), 4);
    assert!(TextPattern::new("(").is_err());
}

#[test]
fn everything_about_a_run_is_found_by_its_id() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = open(directory.path(), "one");
    add_run(&journal, "run-1-abc", 1, "make", 0);
    add_run(&journal, "run-2-def", 2, "make test", 2);
    let store = RecordStore::open(directory.path());
    let detail = store.find("run-2-def").expect("readable").expect("it exists");
    assert_eq!((detail.state, detail.start.text().as_str()), (RunState::Ended, "make test"));
    assert_eq!((detail.stages.len(), detail.end.map(|end| end.code)), (1, Some(2)));
    assert_eq!(store.find("run-1").expect("readable").map(|detail| detail.start.time), Some(1));
    assert_eq!(store.find("run-3").expect("readable"), None);
    assert_eq!(store.find("").expect("readable"), None);
}

#[test]
fn a_run_without_an_end_runs_or_is_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = open(directory.path(), "one");
    let own = RecordedProcess::current();
    let old = RecordedProcess { started: own.started + 1, ..own.clone() };
    for (id, process, kind) in
        [("alive", &own, RunKind::Run), ("dead", &old, RunKind::Run), ("agent", &old, RunKind::Launch)]
    {
        let start = RunStart { process: process.clone(), kind, ..RunStart::new(id, 1) };
        journal.append(&JournalRecord::Start(start)).expect("written");
    }
    let runs = RecordStore::open(directory.path()).runs(&RunFilter::default()).expect("readable").runs;
    let state = |id: &str| runs.iter().find(|run| run.id == id).map(|run| run.state);
    assert_eq!(state("alive"), Some(RunState::Running));
    assert_eq!(state("dead"), Some(RunState::Lost));
    assert_eq!(ids(directory.path(), &RunFilter { running: true, ..RunFilter::default() }), ["alive"]);
    assert_eq!(ids(directory.path(), &RunFilter { failed: true, ..RunFilter::default() }), ["dead"]);
}

#[test]
fn runs_are_added_up_by_day_agent_and_program() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = open(directory.path(), "one");
    add_run(&journal, "a", DAY, "/usr/bin/make", 0);
    add_run(&journal, "b", DAY + 1, "make test", 2);
    add_run(&journal, "c", 2 * DAY, "ls", 0);
    let call = RunStart {
        kind: RunKind::Mcp,
        tool: Some("read_file".to_owned()),
        client: Some(ClientIdentity { name: "cursor".to_owned(), version: "1".to_owned() }),
        ..RunStart::new("d", 2 * DAY)
    };
    journal.append(&JournalRecord::Start(call)).expect("written");
    journal.append(&JournalRecord::End(RunEnd::new("d", 2 * DAY))).expect("written");
    let store = RecordStore::open(directory.path());
    let sums = store.statistics(&RunFilter::default(), 0).expect("readable");
    assert_eq!((sums.total.count, sums.total.failed, sums.total.bytes), (4, 1, 30));
    assert_eq!((sums.total.time, sums.total.cpu), (1.5, 0.375));
    let counts = |rows: &[haft_records::StatisticsRow]| -> Vec<(String, u64)> {
        rows.iter().map(|row| (row.name.clone(), row.count)).collect()
    };
    let named = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
        rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    assert_eq!(counts(&sums.days), named(&[("1970-01-02", 2), ("1970-01-03", 2)]));
    assert_eq!(counts(&sums.agents), named(&[("claude", 2), ("codex", 1), ("cursor", 1)]));
    assert_eq!(counts(&sums.programs), named(&[("make", 2), ("ls", 1), ("read_file", 1)]));
    let later = store.statistics(&RunFilter { failed: true, ..RunFilter::default() }, -1).expect("readable");
    assert_eq!(counts(&later.days), named(&[("1970-01-02", 1)]));
    assert_eq!(counts(&later.programs), named(&[("make", 1)]));
}

#[test]
fn an_index_that_no_longer_fits_is_built_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = open(directory.path(), "one");
    let script = "x".repeat(1000);
    for number in 0..300 {
        add_run(&journal, &format!("r{number}"), number, &script, 0);
    }
    let has_index = || {
        fs::read_dir(directory.path())
            .expect("a directory")
            .flatten()
            .find(|entry| entry.path().extension().is_some_and(|extension| extension == "idx"))
    };
    assert_eq!(ids(directory.path(), &RunFilter::default()).len(), 300);
    let index = has_index().expect("an index was written").path();
    add_run(&journal, "more", 1000, "true", 0);
    assert_eq!(ids(directory.path(), &RunFilter::default()).last().map(String::as_str), Some("more"));
    fs::write(&index, b"haftidx1 and nonsense").expect("written");
    assert_eq!(ids(directory.path(), &RunFilter::default()).len(), 301);
    // The journal was replaced by another one of the same name.
    drop(journal);
    let journal = index.with_extension("jsonl");
    fs::remove_file(&journal).expect("removed");
    let journal = open(directory.path(), "one");
    add_run(&journal, "new", 1, "true", 0);
    assert_eq!(ids(directory.path(), &RunFilter::default()), ["new"]);
}

#[test]
fn writers_on_many_threads_and_files_never_mix_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let shared = open(directory.path(), "one");
    // All are open at once, so that none takes over the file of another.
    let own: Vec<_> = (0..4).map(|_| open(directory.path(), "one")).collect();
    thread::scope(|scope| {
        for (thread, own) in own.into_iter().enumerate() {
            let shared = &shared;
            scope.spawn(move || {
                for number in 0..50 {
                    add_run(shared, &format!("s{thread}-{number}"), number, &"long ".repeat(200), 0);
                    add_run(&own, &format!("o{thread}-{number}"), number, "short", 0);
                }
            });
        }
    });
    let store = RecordStore::open(directory.path());
    let found = store.verify().expect("readable");
    assert_eq!((found.files, found.records, found.problems.as_slice()), (5, 5 + 4 * 300, &[][..]));
    assert_eq!(ids(directory.path(), &RunFilter::default()).len(), 400);
}

#[test]
fn files_may_be_pruned_while_they_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = JournalLimits { max_size: 1 << 20, ..JournalLimits::default() };
    let journal = RunJournal::open(directory.path(), "one", limits).expect("a journal");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let store = RecordStore::open(directory.path());
            let mut count = 0;
            while !is_done.load(Ordering::Relaxed) || count == 0 {
                let runs = store.runs(&grep("number")).expect("readable").runs;
                assert!(runs.iter().all(|run| run.text.starts_with("number ")));
                assert_eq!(store.verify().expect("readable").problems, []);
                count += 1;
            }
        });
        for number in 0..3000 {
            add_run(
                &journal,
                &format!("r{number}"),
                number,
                &format!("number {number} {}", "x".repeat(400)),
                0,
            );
            journal.prune();
        }
        is_done.store(true, Ordering::Relaxed);
        reader.join().expect("the reader never fails");
    });
    let size: u64 = fs::read_dir(directory.path())
        .expect("a directory")
        .flatten()
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum();
    assert!(size <= 2 << 20, "{size} bytes are left");
    assert_eq!(ids(directory.path(), &grep("number 2999")).len(), 1, "the latest run is kept");
}
