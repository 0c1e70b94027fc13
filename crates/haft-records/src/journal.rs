//! Writing records.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::files::{self, create_private, journal_path, valid_session};
use crate::limits::JournalLimits;
use crate::locked_file::LockedFile;
use crate::prune::prune;
use crate::record::{FORMAT_VERSION, Gap, JournalHeader, JournalRecord};

/// The most files of a session and day.
const MAX_FILES: usize = 10_000;

/// Appends records to a file of its own. Threads may share it.
#[derive(Debug)]
pub struct RunJournal {
    directory: PathBuf,
    session: String,
    limits: JournalLimits,
    state: Mutex<JournalState>,
}

#[derive(Debug)]
struct JournalState {
    file: LockedFile,
    /// The day whose file it is.
    day: String,
    /// Runs that have started and not ended. All records of a run are in one file.
    open_runs: usize,
    /// Records that were lost since the last one that was written, and why.
    lost: Option<Gap>,
    /// Whether this writer has lost a record, and why.
    failure: Option<String>,
    /// Whether the file was created by this writer, and nothing has been pruned since.
    is_new: bool,
}

impl RunJournal {
    /// Opens a file for the records of a session. Creates the directory if necessary.
    ///
    /// # Errors
    /// If the directory or the file cannot be created, or the directory belongs to another user.
    pub fn open(directory: &Path, session: &str, limits: JournalLimits) -> io::Result<RunJournal> {
        create_private(directory)?;
        let session = valid_session(session);
        let state = JournalState::open(directory, &session, limits)?;
        Ok(RunJournal { directory: directory.to_owned(), session, limits, state: Mutex::new(state) })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If it cannot be written, for example on a full disk. The loss is noted before the next record that can be written.
    pub fn append(&self, record: &JournalRecord) -> io::Result<()> {
        let json = serde_json::to_vec(record)?;
        let mut state = self.lock();
        match record {
            JournalRecord::Start(_) => {
                self.rotate(&mut state);
                state.open_runs += 1;
            }
            JournalRecord::End(_) => state.open_runs = state.open_runs.saturating_sub(1),
            _ => {}
        }
        state.write(&json)
    }

    /// Why records of this writer were lost, if some were.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Removes old files, if this writer has created one since the last call. This takes longer than writing a record.
    pub fn prune(&self) {
        let is_due = std::mem::take(&mut self.lock().is_new);
        if is_due {
            prune(&self.directory, self.limits, SystemTime::now());
        }
    }

    /// Begins another file if the current one is large or of an earlier day, and no run is open.
    fn rotate(&self, state: &mut JournalState) {
        let is_due = state.file.length() >= self.limits.file_size() || state.day != today();
        if is_due
            && state.open_runs == 0
            && let Ok(next) = JournalState::open(&self.directory, &self.session, self.limits)
        {
            *state = JournalState { failure: state.failure.take(), lost: state.lost.take(), ..next };
        }
    }

    fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalState {
    /// Locks the first file of the session and day that is neither full nor locked by another writer.
    fn open(directory: &Path, session: &str, limits: JournalLimits) -> io::Result<JournalState> {
        let day = today();
        for number in 0..MAX_FILES {
            let path = journal_path(directory, session, &day, number);
            let Some(file) = LockedFile::claim(&path, limits.file_size())? else { continue };
            let lost = file
                .is_broken()
                .then(|| Gap { lost: 1, reason: "the writer ended while it wrote the record".to_owned() });
            let is_new = file.is_empty();
            let mut state = JournalState { file, day, open_runs: 0, lost, failure: None, is_new };
            if is_new {
                state.write_header(session, &path)?;
            }
            return Ok(state);
        }
        Err(io::Error::other("there are too many journal files"))
    }

    fn write_header(&mut self, session: &str, path: &Path) -> io::Result<()> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let header = JournalHeader { version: FORMAT_VERSION, session: session.to_owned(), file };
        self.file.write_line(&serde_json::to_vec(&JournalRecord::Header(header))?)
    }

    /// Writes a record, after a note of the records that were lost before it.
    fn write(&mut self, json: &[u8]) -> io::Result<()> {
        let written = self.write_gap().and_then(|()| self.file.write_line(json));
        if let Err(error) = &written {
            let reason = reason(error);
            self.failure = Some(reason.clone());
            let lost = self.lost.as_ref().map_or(0, |gap| gap.lost) + 1;
            self.lost = Some(Gap { lost, reason });
        }
        written
    }

    fn write_gap(&mut self) -> io::Result<()> {
        let Some(gap) = &self.lost else { return Ok(()) };
        self.file.write_line(&serde_json::to_vec(&JournalRecord::Gap(gap.clone()))?)?;
        self.lost = None;
        Ok(())
    }
}

/// The reason of an error, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    files::date(i64::try_from(now.as_millis()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RunStart;

    #[test]
    fn the_date_in_a_file_name_is_todays() {
        assert_eq!(today().len(), "2026-11-18".len());
        assert!(files::date(0) < today());
    }

    #[test]
    fn a_second_writer_of_a_session_gets_another_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || RunJournal::open(directory.path(), "s", JournalLimits::default()).expect("a journal");
        let (one, other) = (open(), open());
        one.append(&JournalRecord::Start(RunStart::new("r1", 1))).expect("written");
        other.append(&JournalRecord::Start(RunStart::new("r2", 1))).expect("written");
        assert_eq!(files::list(directory.path()).expect("a list").len(), 2);
        drop((one, other));
        open().append(&JournalRecord::Start(RunStart::new("r3", 1))).expect("written");
        assert_eq!(files::list(directory.path()).expect("a list").len(), 2, "a released file is used again");
    }
}
