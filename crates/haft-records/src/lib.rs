//! The journal of runs: what ran, for whom, and how it ended.
//!
//! A [`RunJournal`] appends [`JournalRecord`]s to a file in a private directory: one when a run starts, one for each stage of its
//! pipelines, one when it ends. A [`RecordStore`] reads the files of that directory: it lists and filters runs, shows one of
//! them, adds up statistics, and verifies that nothing was removed or changed.
//!
//! ```
//! use haft_records::{JournalLimits, JournalRecord, RecordStore, RunEnd, RunFilter, RunJournal, RunStart};
//!
//! let directory = tempfile::tempdir()?;
//! let place = directory.path().join("records");
//! let journal = RunJournal::open(&place, "example", JournalLimits::default())?;
//! let start = RunStart { script: Some("make test".to_owned()), ..RunStart::new("r1", 1_000) };
//! journal.append(&JournalRecord::Start(start))?;
//! journal.append(&JournalRecord::End(RunEnd { code: 2, ..RunEnd::new("r1", 1_500) }))?;
//!
//! let store = RecordStore::open(&place);
//! let failed = store.runs(&RunFilter { failed: true, ..RunFilter::default() })?;
//! assert_eq!(failed.runs[0].text, "make test");
//! assert!(store.verify()?.problems.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Files
//! A journal file has one JSON object per line. Its first line describes the file. Each line has the hash of the line before
//! it as `prev`, so a line that was changed, removed or moved breaks the chain. Beside `NAME.jsonl`, `NAME.head` has the
//! length and the last hash, so that lines cut off the end are missed too, and `NAME.idx` is an index that readers
//! build and may delete. The hashes are not keyed: anyone who can write the files can compute the chain again. Nor does
//! anything notice the removal of a whole file, which pruning does as well.
//!
//! # Writers
//! A writer holds a lock on its file for as long as it runs, so a file has one writer at a time; a second writer of the same
//! session takes another file. Every record is one `write` in append mode. Killing the writer loses at most the record that it
//! was about to write. If a write fails, the record is lost, and the next one that succeeds is preceded by a
//! [`Gap`] that counts the lost ones.
//!
//! # Limits
//! Files are removed as a whole, oldest first, when they exceed an age or a total size ([`JournalLimits`]). A file that a
//! writer holds is kept.

mod chain;
mod detail;
mod files;
mod follow;
mod grep;
mod index;
mod journal;
mod limits;
mod list;
mod locked_file;
mod process;
mod prune;
mod record;
mod stats;
mod store;
mod verify;

pub use detail::RunDetail;
pub use files::valid_session;
pub use follow::RecordFollower;
pub use grep::TextPattern;
pub use journal::RunJournal;
pub use limits::JournalLimits;
pub use list::{RunFilter, RunList, RunState, RunSummary};
pub use record::{
    ChangedFiles, ClientIdentity, Gap, JournalHeader, JournalRecord, OutputReference, ProcessCounts,
    RecordedProcess, RunEnd, RunKind, RunStart, StageEnd,
};
pub use stats::{RunStatistics, StatisticsRow};
pub use store::RecordStore;
pub use verify::{ChainProblem, Verification};
