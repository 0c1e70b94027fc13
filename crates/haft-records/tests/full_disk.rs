//! A disk that is full: records are lost, the writer goes on, and the loss is noted. Alone in its file, because the limit
//! that stands for the size of the disk holds for the whole process.

use std::io;

use haft_records::{JournalLimits, JournalRecord, RecordStore, RunEnd, RunJournal, RunStart};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

fn limit_files(current: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current, maximum }).expect("the limit can be set");
}

#[test]
fn lost_records_are_counted_where_they_are_missing() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = RunJournal::open(directory.path(), "test", JournalLimits::default()).expect("a journal");
    journal.append(&JournalRecord::Start(RunStart::new("r1", 1))).expect("written");
    limit_files(Some(600));
    let mut lost = 0;
    for number in 2..10 {
        let start = RunStart { script: Some("x".repeat(100)), ..RunStart::new(format!("r{number}"), 1) };
        if let Err(error) = journal.append(&JournalRecord::Start(start)) {
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            lost += 1;
        }
    }
    assert!(lost >= 6, "{lost}");
    limit_files(None);
    assert_eq!(journal.failure().as_deref(), Some("file too large"));
    journal.append(&JournalRecord::End(RunEnd::new("r1", 2))).expect("written");
    let found = RecordStore::open(directory.path()).verify().expect("readable");
    assert_eq!((found.problems.as_slice(), found.lost), (&[][..], lost));
}
