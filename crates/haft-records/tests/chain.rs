//! The chain of hashes: what was removed, changed, moved or cut is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use haft_records::{JournalLimits, JournalRecord, RecordStore, RunEnd, RunJournal, RunStart, StageEnd};

fn write_runs(directory: &Path, count: usize) {
    let journal = RunJournal::open(directory, "test", JournalLimits::default()).expect("a journal");
    for number in 0..count {
        let run = format!("r{number}");
        let start = RunStart { script: Some(format!("echo {number}")), ..RunStart::new(&run, 1000) };
        journal.append(&JournalRecord::Start(start)).expect("written");
        let stage = StageEnd { run: run.clone(), argv: vec!["echo".to_owned()], ..StageEnd::default() };
        journal.append(&JournalRecord::Stage(stage)).expect("written");
        journal.append(&JournalRecord::End(RunEnd::new(&run, 2000))).expect("written");
    }
}

fn journal_file(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect();
    assert_eq!(files.len(), 1);
    files.remove(0)
}

fn problems(directory: &Path) -> Vec<(u64, String)> {
    let found = RecordStore::open(directory).verify().expect("readable");
    found.problems.into_iter().map(|problem| (problem.line, problem.problem)).collect()
}

/// Changes the lines of a journal of three runs, and returns the lines that have problems.
fn after(change: impl Fn(&mut Vec<String>)) -> Vec<u64> {
    let directory = tempfile::tempdir().expect("a directory");
    write_runs(directory.path(), 3);
    assert_eq!(problems(directory.path()), [], "nothing was changed yet");
    let path = journal_file(directory.path());
    let text = fs::read_to_string(&path).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 10);
    change(&mut lines);
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("written");
    problems(directory.path()).into_iter().map(|(line, _)| line).collect()
}

#[test]
fn a_removed_changed_or_moved_line_is_found() {
    assert_eq!(after(|lines| drop(lines.remove(4))), [5]);
    assert_eq!(after(|lines| lines[4] = lines[4].replace("echo", "true")), [6]);
    assert_eq!(after(|lines| lines.swap(3, 4)), [4, 5, 6]);
    assert_eq!(after(|lines| lines.insert(5, lines[4].clone())), [6]);
    assert_eq!(after(|lines| lines[4].truncate(20)), [6, 5], "a line that is no record");
    assert_eq!(after(|lines| drop(lines.remove(0))), [1, 1], "the chain and the header");
}

#[test]
fn lines_cut_off_the_end_are_missed() {
    assert_eq!(after(|lines| lines.truncate(9)), [10]);
    assert_eq!(after(|lines| lines.truncate(1)), [2]);
    assert_eq!(after(|lines| lines[9] = lines[9].replace("\"code\":0", "\"code\":1")), [11]);
}

#[test]
fn a_renamed_file_and_a_missing_head_are_noticed() {
    let directory = tempfile::tempdir().expect("a directory");
    write_runs(directory.path(), 1);
    let path = journal_file(directory.path());
    fs::remove_file(path.with_extension("head")).expect("removed");
    assert_eq!(problems(directory.path()).len(), 1);
    fs::rename(&path, directory.path().join("other.jsonl")).expect("renamed");
    assert_eq!(problems(directory.path())[0], (1, "the file was renamed".to_owned()));
}

#[test]
fn an_interrupted_record_is_a_gap_and_the_next_writer_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    write_runs(directory.path(), 2);
    let path = journal_file(directory.path());
    let mut bytes = fs::read(&path).expect("bytes");
    bytes.extend_from_slice(br#"{"prev":"0123"#);
    fs::write(&path, &bytes).expect("written");
    assert_eq!(problems(directory.path()), [], "a writer may be writing it now");
    write_runs(directory.path(), 1);
    let store = RecordStore::open(directory.path());
    let found = store.verify().expect("readable");
    assert_eq!((found.problems.as_slice(), found.lost, found.records), (&[][..], 1, 11));
    assert_eq!(store.runs(&Default::default()).expect("readable").runs.len(), 3);
}

#[test]
fn a_complete_record_without_its_newline_is_not_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    write_runs(directory.path(), 2);
    let path = journal_file(directory.path());
    let bytes = fs::read(&path).expect("bytes");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("written");
    write_runs(directory.path(), 1);
    let found = RecordStore::open(directory.path()).verify().expect("readable");
    assert_eq!((found.problems.as_slice(), found.lost, found.records), (&[][..], 0, 10));
}

#[test]
fn files_and_directory_are_accessible_to_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().expect("a directory");
    let place = directory.path().join("state/records");
    write_runs(&place, 1);
    RecordStore::open(&place).runs(&Default::default()).expect("readable");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&place), 0o700);
    for entry in fs::read_dir(&place).expect("a directory").flatten() {
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
    }
}
