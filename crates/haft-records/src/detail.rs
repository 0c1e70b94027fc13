//! Everything about one run.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::list::{RunFilter, RunState};
use crate::record::{JournalRecord, RunEnd, RunStart, StageEnd};
use crate::store::{IndexedFile, RecordStore};

/// Everything that was recorded about a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunDetail {
    /// Whether it has ended.
    pub state: RunState,
    /// Its start.
    pub start: RunStart,
    /// The stages that have ended.
    pub stages: Vec<StageEnd>,
    /// Its end, if that was recorded.
    pub end: Option<RunEnd>,
}

impl RecordStore {
    /// Finds the runs with this id, or whose ids begin with it. Reads only the latest of them.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn find(&self, id: &str) -> io::Result<Option<RunDetail>> {
        let mut latest: Option<(bool, u64, usize, usize)> = None;
        let files = self.indexes(None)?;
        for (number, file) in files.iter().enumerate() {
            for (run, entry) in file.index.runs.iter().enumerate() {
                let known = file.index.id(entry);
                if known.starts_with(id) && !id.is_empty() {
                    latest = latest.max(Some((known == id, entry.time, number, run)));
                }
            }
        }
        latest.map(|(_, _, file, run)| files[file].detail(run)).transpose()
    }

    /// Everything about the runs that match a filter, latest last.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn details(&self, filter: &RunFilter) -> io::Result<Vec<RunDetail>> {
        let mut details = Vec::new();
        for file in self.indexes(filter.since)? {
            for run in filter.matching(&file) {
                details.push(file.detail(run)?);
            }
        }
        details.sort_by_key(|detail| detail.start.time);
        Ok(details)
    }
}

impl IndexedFile {
    /// Reads the records of a run.
    fn detail(&self, number: usize) -> io::Result<RunDetail> {
        let entry = &self.index.runs[number];
        let mut file = File::open(&self.file.path)?;
        let start: RunStart = read_line(&file, entry.start_at)?;
        file.seek(SeekFrom::Start(entry.start_at))?;
        let mut detail = RunDetail { state: self.state(entry), start, stages: Vec::new(), end: None };
        let mut left = entry.stages;
        for line in BufReader::new(file).split(b'\n') {
            if left == 0 && (entry.end_at == 0 || detail.end.is_some()) {
                break;
            }
            match serde_json::from_slice(&line?) {
                Ok(JournalRecord::Stage(stage)) if stage.run == detail.start.run => {
                    left = left.saturating_sub(1);
                    detail.stages.push(stage);
                }
                Ok(JournalRecord::End(end)) if end.run == detail.start.run => detail.end = Some(end),
                _ => {}
            }
        }
        Ok(detail)
    }
}

/// Reads the record at a position.
pub(crate) fn read_line<T: DeserializeOwned>(mut file: &File, at: u64) -> io::Result<T> {
    file.seek(SeekFrom::Start(at))?;
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}
