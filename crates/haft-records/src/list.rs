//! Lists of runs.

use std::fs::File;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::detail::read_line;
use crate::grep::TextPattern;
use crate::index::{JournalIndex, RunEntry};
use crate::record::{RunKind, RunStart};
use crate::store::{IndexedFile, RecordStore};

/// Which runs to list.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only runs that started at this time or later, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Only runs that started at this time or earlier.
    pub until: Option<u64>,
    /// Only runs whose status is not 0, and lost ones.
    pub failed: bool,
    /// Only runs that still run.
    pub running: bool,
    /// Only runs of this session.
    pub session: Option<String>,
    /// Only runs of this agent or MCP client.
    pub agent: Option<String>,
    /// Only runs whose script, command line or tool call matches.
    pub grep: Option<TextPattern>,
    /// At most this many runs, the latest.
    pub limit: Option<usize>,
}

/// The runs that match a filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunList {
    /// The runs, latest last.
    pub runs: Vec<RunSummary>,
    /// The number of earlier runs that match and are left out.
    pub omitted: usize,
}

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It still runs.
    Running,
    /// It has ended, and `code` is its status.
    Ended,
    /// It has ended without a record of its end: haft was killed, or a launched agent replaced it.
    Lost,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// When it started, in milliseconds since 1970.
    pub time: u64,
    /// The command that started it.
    pub kind: RunKind,
    /// Its session.
    pub session: String,
    /// The agent or MCP client that asked for it.
    pub agent: Option<String>,
    /// The script, the command line, or the tool with its arguments.
    pub text: String,
    /// Whether it has ended.
    pub state: RunState,
    /// The exit status; 0 if it has not ended.
    pub code: i32,
    /// The time from start to end, in seconds.
    pub duration: f64,
    /// CPU time of its programs, in seconds.
    pub cpu: f64,
    /// The largest resident set size of one of its programs, in bytes.
    pub max_rss: u64,
    /// Bytes of output.
    pub bytes: u64,
    /// The number of stages.
    pub stages: u32,
}

impl RunSummary {
    /// Whether its status is not 0, or it was lost. A launched agent replaces haft, so that its end is not known.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        match self.state {
            RunState::Running => false,
            RunState::Ended => self.code != 0,
            RunState::Lost => self.kind != RunKind::Launch,
        }
    }
}

impl RecordStore {
    /// Lists the runs that match a filter, latest last.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn runs(&self, filter: &RunFilter) -> io::Result<RunList> {
        let files = self.indexes(filter.since)?;
        let mut found = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let matching = filter.matching(file);
            found.extend(matching.into_iter().map(|run| (file.index.runs[run].time, number, run)));
        }
        let omitted = found.len().saturating_sub(filter.limit.unwrap_or(usize::MAX));
        if omitted > 0 {
            found.select_nth_unstable(omitted);
            found.drain(..omitted);
        }
        found.sort_unstable();
        let summary = |&(_, file, run): &(u64, usize, usize)| files[file].summary(run);
        Ok(RunList { runs: found.iter().map(summary).collect(), omitted })
    }
}

impl RunFilter {
    /// Whether a run matches. The limit does not matter.
    #[must_use]
    pub fn accepts(&self, run: &RunSummary) -> bool {
        let is_same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        (self.since.unwrap_or(0)..=self.until.unwrap_or(u64::MAX)).contains(&run.time)
            && (!self.failed || run.has_failed())
            && (!self.running || run.state == RunState::Running)
            && is_same(&self.session, Some(&run.session))
            && is_same(&self.agent, run.agent.as_deref())
            && self.grep.as_ref().is_none_or(|pattern| pattern.is_match(&run.text))
    }

    /// The numbers of the runs of a file that match.
    pub(crate) fn matching(&self, file: &IndexedFile) -> Vec<usize> {
        let index = &file.index;
        let Some(wanted) = IndexFilter::new(self, index) else { return Vec::new() };
        let texts = self.grep.as_ref().map(|pattern| pattern.matching_runs(index));
        let is_match = |&number: &usize| {
            let run = &index.runs[number];
            wanted.accepts(run)
                && texts.as_ref().is_none_or(|texts| texts[number])
                && (!self.failed || file.has_failed(run))
                && (!self.running || file.state(run) == RunState::Running)
        };
        (0..index.runs.len()).filter(is_match).collect()
    }
}

/// A filter with the numbers that strings have in an index.
struct IndexFilter {
    since: u64,
    until: u64,
    session: Option<u32>,
    agent: Option<u32>,
}

impl IndexFilter {
    /// Returns `None` if no run of the index can match.
    fn new(filter: &RunFilter, index: &JournalIndex) -> Option<IndexFilter> {
        let number = |text: &Option<String>| match text {
            Some(text) => index.find_string(text).map(Some),
            None => Some(None),
        };
        let (since, until) = (filter.since.unwrap_or(0), filter.until.unwrap_or(u64::MAX));
        Some(IndexFilter { since, until, session: number(&filter.session)?, agent: number(&filter.agent)? })
    }

    fn accepts(&self, run: &RunEntry) -> bool {
        (self.since..=self.until).contains(&run.time)
            && self.session.is_none_or(|session| session == run.session)
            && self.agent.is_none_or(|agent| agent == run.agent)
    }
}

impl IndexedFile {
    /// Whether a run has ended. Looks for the process of a run without a record of its end.
    pub(crate) fn state(&self, run: &RunEntry) -> RunState {
        if run.end_at != 0 {
            return RunState::Ended;
        }
        let start = File::open(&self.file.path).and_then(|file| read_line::<RunStart>(&file, run.start_at));
        match start.is_ok_and(|start| start.process.is_alive()) {
            true => RunState::Running,
            false => RunState::Lost,
        }
    }

    fn has_failed(&self, run: &RunEntry) -> bool {
        let is_lost = || run.kind != RunKind::Launch as u32 && self.state(run) == RunState::Lost;
        if run.end_at != 0 { run.code != 0 } else { is_lost() }
    }

    pub(crate) fn summary(&self, number: usize) -> RunSummary {
        let (run, index) = (&self.index.runs[number], &self.index);
        RunSummary {
            id: index.id(run).to_owned(),
            time: run.time,
            kind: kind(run.kind),
            session: index.string(run.session).unwrap_or_default().to_owned(),
            agent: index.string(run.agent).map(str::to_owned),
            text: index.text(run).to_owned(),
            state: self.state(run),
            code: run.code,
            duration: seconds(run.duration_us),
            cpu: seconds(run.cpu_us),
            max_rss: run.max_rss,
            bytes: run.bytes,
            stages: run.stages,
        }
    }
}

fn kind(number: u32) -> RunKind {
    let kinds = [RunKind::Run, RunKind::Spawn, RunKind::Tool, RunKind::Mcp, RunKind::Launch, RunKind::Hook];
    kinds.into_iter().find(|kind| *kind as u32 == number).unwrap_or_default()
}

/// Microseconds as seconds.
pub(crate) fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
