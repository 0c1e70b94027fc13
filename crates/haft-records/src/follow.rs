//! Following the journals of a directory while they are written.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::files;
use crate::list::{RunFilter, RunState, RunSummary};
use crate::record::{JournalRecord, RunEnd, RunStart};
use crate::store::RecordStore;

/// The most bytes of a journal that one update reads. The next update reads the rest.
const MAX_READ_BYTES: u64 = 4 << 20;

/// Reports runs that start, change or end. It keeps only the runs that have not ended in memory.
#[derive(Debug)]
pub struct RecordFollower {
    directory: PathBuf,
    /// How much of each journal was read.
    positions: HashMap<PathBuf, u64>,
    open: HashMap<String, RunStart>,
    changes: OwnedFd,
}

impl RecordFollower {
    /// Follows the journals of a directory from now on. Creates the directory if it does not exist.
    ///
    /// # Errors
    /// If the directory cannot be created, read or watched.
    pub fn open(directory: &Path) -> io::Result<RecordFollower> {
        files::create_private(directory)?;
        let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        inotify::add_watch(&changes, directory, WatchFlags::MODIFY | WatchFlags::CREATE)?;
        let positions = files::list(directory)?.into_iter().map(|file| (file.path, file.size)).collect();
        let running = RunFilter { running: true, ..RunFilter::default() };
        let running = RecordStore::open(directory).details(&running)?;
        let open = running.into_iter().map(|detail| (detail.start.run.clone(), detail.start)).collect();
        Ok(RecordFollower { directory: directory.to_owned(), positions, open, changes })
    }

    /// Reads what was written since the last call. Returns the runs that are new or have changed, each in its latest
    /// state, in the order of the changes.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn update(&mut self) -> io::Result<Vec<RunSummary>> {
        self.clear_events();
        let mut changed = ChangedRuns::default();
        let files = files::list(&self.directory)?;
        self.positions.retain(|path, _| files.iter().any(|file| file.path == *path));
        for file in files {
            let position = self.positions.get(&file.path).copied().unwrap_or(0).min(file.size);
            let read =
                if position < file.size { self.read(&file.path, position, &mut changed) } else { Ok(0) };
            match read {
                Ok(bytes) => drop(self.positions.insert(file.path, position + bytes)),
                // It was pruned meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(changed.runs)
    }

    /// Returns the runs whose process has ended without a record of that. They are reported once.
    pub fn lost(&mut self) -> Vec<RunSummary> {
        let ended = self.open.extract_if(|_, start| !start.process.is_alive());
        ended.map(|(_, start)| RunSummary { state: RunState::Lost, ..RunSummary::started(&start) }).collect()
    }

    /// Reads the complete lines of a journal from a position on. Returns their length.
    fn read(&mut self, path: &Path, position: u64, changed: &mut ChangedRuns) -> io::Result<u64> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::new();
        file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
        let length = memchr::memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1);
        for line in bytes[..length].split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(JournalRecord::Start(start)) => {
                    changed.add(RunSummary::started(&start));
                    self.open.insert(start.run.clone(), start);
                }
                Ok(JournalRecord::Stage(stage)) => {
                    self.open
                        .get(&stage.run)
                        .into_iter()
                        .for_each(|start| changed.add(RunSummary::started(start)));
                }
                Ok(JournalRecord::End(end)) => {
                    self.open
                        .remove(&end.run)
                        .iter()
                        .for_each(|start| changed.add(RunSummary::ended(start, &end)));
                }
                _ => {}
            }
        }
        Ok(length as u64)
    }

    fn clear_events(&self) {
        let mut buffer = [0; 4096];
        while rustix::io::read(&self.changes, &mut buffer).is_ok_and(|count| count > 0) {}
    }
}

impl AsFd for RecordFollower {
    /// A descriptor for `poll` that is readable when a journal has grown since the last update.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changes.as_fd()
    }
}

/// The runs of one update, each once.
#[derive(Debug, Default)]
struct ChangedRuns {
    runs: Vec<RunSummary>,
    places: HashMap<String, usize>,
}

impl ChangedRuns {
    fn add(&mut self, run: RunSummary) {
        match self.places.get(&run.id) {
            Some(place) => self.runs[*place] = run,
            None => {
                self.places.insert(run.id.clone(), self.runs.len());
                self.runs.push(run);
            }
        }
    }
}

impl RunSummary {
    fn started(start: &RunStart) -> RunSummary {
        RunSummary {
            id: start.run.clone(),
            time: start.time,
            kind: start.kind,
            session: start.session.clone(),
            agent: start.agent.clone().or_else(|| start.client.as_ref().map(|client| client.name.clone())),
            text: start.text(),
            state: RunState::Running,
            code: 0,
            duration: 0.0,
            cpu: 0.0,
            max_rss: 0,
            bytes: 0,
            stages: 0,
        }
    }

    fn ended(start: &RunStart, end: &RunEnd) -> RunSummary {
        RunSummary {
            state: RunState::Ended,
            code: end.code,
            duration: end.duration,
            cpu: end.cpu,
            max_rss: end.max_rss,
            bytes: end.outputs.iter().map(|output| output.bytes).sum(),
            ..RunSummary::started(start)
        }
    }
}
