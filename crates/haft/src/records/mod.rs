//! Records of runs: who asked for what, and how it ended.

mod calls;
mod convert;
mod mask;
mod settings;
mod span_sink;
mod trace;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::{fmt, io};

use haft_kernel::run::{Outcome, RunObserver, Stage};
use haft_process::live::LiveRuns;
use haft_process::rundir::RunId;
use haft_process::{JobController, JobOutcome, Redactor};
use haft_records::{
    ChangedFiles, JournalRecord, RecordStore, RecordedProcess, RunEnd, RunJournal, RunKind, RunStart,
    StageEnd,
};

pub(crate) use self::convert::{changed_files, overlay_changes};
pub(crate) use self::settings::RecordSettings;
use self::trace::{RunSpan, RunTrace, RunTracer};
use crate::failure::{Failure, print_message};
use crate::places;
use crate::process_context::ProcessContext;

/// The session that runs belong to. An agent that haft launches has it in its environment.
pub(crate) const SESSION_VARIABLE: &str = "HAFT_SESSION";
/// The agent that asks for runs.
pub(crate) const AGENT_VARIABLE: &str = "HAFT_AGENT";
/// The most decisions of a policy in one record.
const MAX_DECISIONS: usize = 100;
/// The session of commands that no agent started.
const COMMAND_LINE_SESSION: &str = "cli";

/// Records the runs of this process, or none if records are switched off or cannot be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Option<Arc<RecorderState>>);

#[derive(Debug)]
struct RecorderState {
    /// `None` if only spans are made.
    journal: Option<RunJournal>,
    tracer: RunTracer,
    session: String,
    agent: Option<String>,
    /// The working directory of this process.
    directory: String,
    /// The run that this process belongs to.
    parent: Option<String>,
    process: OnceLock<RecordedProcess>,
    /// The runs whose output other processes can read; `None` if that is not possible.
    live: OnceLock<Option<LiveRuns>>,
    patterns: Option<Redactor>,
    /// Masks the secrets in the environment of this process.
    redactor: Arc<Redactor>,
}

impl Recorder {
    /// Opens the journal of this process, in the session of its environment or this one.
    pub(crate) fn open(process: &ProcessContext, session: Option<String>) -> Recorder {
        let places = places::unchecked(process);
        let settings = match RecordSettings::read(&places) {
            Ok(settings) => settings,
            Err(failure) => {
                failure.print();
                print_message("nothing is recorded, because the settings of records are invalid");
                return Recorder::default();
            }
        };
        let tracer = RunTracer::new(&settings.telemetry, process);
        let directory = places.state.as_ref().filter(|_| settings.enabled && has_home(process));
        if directory.is_none() && !tracer.is_active() {
            return Recorder::default();
        }
        let text = |name| process.variable(name).map(|value| value.to_string_lossy().into_owned());
        let redactor = Redactor::new(process.whole_environment().iter());
        let mut session =
            text(SESSION_VARIABLE).or(session).unwrap_or_else(|| COMMAND_LINE_SESSION.to_owned());
        // The name of the journal contains it.
        redactor.redact(&mut session);
        settings.patterns.iter().for_each(|patterns| patterns.redact(&mut session));
        let open = |state| RunJournal::open(&RecordSettings::directory(state), &session, settings.limits);
        let journal = directory.and_then(|state| open(state).inspect_err(explain).ok());
        if journal.is_none() && !tracer.is_active() {
            return Recorder::default();
        }
        Recorder(Some(Arc::new(RecorderState {
            journal,
            tracer,
            session,
            agent: text(AGENT_VARIABLE),
            directory: process.directory_or_link().unwrap_or_default().to_string_lossy().into_owned(),
            parent: text(haft_process::MARKER),
            process: OnceLock::new(),
            live: OnceLock::new(),
            patterns: settings.patterns,
            redactor: Arc::new(redactor),
        })))
    }

    /// Returns the context for the programs of this process, if they belong to a span of it.
    pub(crate) fn traced(&self, process: &ProcessContext) -> Option<ProcessContext> {
        let variables = self.0.as_ref()?.tracer.variables();
        if variables.is_empty() {
            return None;
        }
        let mut process = process.clone();
        for (name, value) in variables {
            let _ = process.environment.set(name, value);
        }
        Some(process)
    }

    /// The session, if anything is recorded.
    pub(crate) fn session(&self) -> Option<&str> {
        self.0.as_ref().map(|state| state.session.as_str())
    }

    /// A record of a run that has not started. Secrets are masked with this redactor and that of the environment.
    pub(crate) fn prepare(&self, start: RunStart, redactor: Option<Redactor>) -> RunRecord {
        self.prepare_as(start, redactor, RunTracer::next_run)
    }

    /// The same with other ids for the run's span.
    fn prepare_as(
        &self,
        start: RunStart,
        redactor: Option<Redactor>,
        trace: impl FnOnce(&RunTracer) -> RunTrace,
    ) -> RunRecord {
        let redactor = redactor.map(Arc::new);
        RunRecord {
            state: self.0.clone().map(|state| RecordedRun {
                redactor: redactor.unwrap_or_else(|| state.redactor.clone()),
                trace: trace(&state.tracer),
                recorder: state,
                began: Instant::now(),
                progress: Mutex::new(RunProgress { start: Some(start), ..RunProgress::default() }),
            }),
            variables: Vec::new(),
        }
    }

    /// Prints why records were lost, if some were, and removes old journals. Called at the end of a command.
    pub(crate) fn finish(&self) {
        let Some(state) = &self.0 else { return };
        state.tracer.finish();
        let Some(journal) = &state.journal else { return };
        if let Some(reason) = journal.failure() {
            print_message(format_args!("the record of this run is incomplete: {reason}"));
        }
        journal.prune();
    }
}

/// The records of the user's runs.
pub(crate) fn store(process: &ProcessContext) -> Result<RecordStore, Failure> {
    let state = places::unchecked(process).state;
    let state = state.ok_or_else(|| {
        Failure::new("there are no records without a state directory", 1)
            .with_hint("set HOME or XDG_STATE_HOME")
    })?;
    Ok(RecordStore::open(&RecordSettings::directory(&state)))
}

/// Whether the state directory may be created: not below a home directory that does not exist.
fn has_home(process: &ProcessContext) -> bool {
    let is_directory = |name: &str| process.variable(name).is_some_and(|home| Path::new(home).is_dir());
    is_directory("HOME") || process.variable("XDG_STATE_HOME").is_some()
}

/// Prints why nothing is recorded, unless this user cannot write files at all, as in a sandbox.
fn explain(error: &io::Error) {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    if ![PermissionDenied, ReadOnlyFilesystem, NotFound, NotADirectory].contains(&error.kind()) {
        print_message(format_args!("nothing is recorded: {}", haft_process::reason(error)));
    }
}

/// The record of one run. It is shared by the threads that observe the run.
pub(crate) struct RunRecord {
    state: Option<RecordedRun>,
    /// Variables for the programs of the run, if an MCP client has sent a trace context.
    variables: Vec<(String, String)>,
}

struct RecordedRun {
    recorder: Arc<RecorderState>,
    redactor: Arc<Redactor>,
    trace: RunTrace,
    began: Instant,
    progress: Mutex<RunProgress>,
}

/// Records written so far.
#[derive(Debug, Default)]
struct RunProgress {
    /// The first record, until it is written.
    start: Option<RunStart>,
    id: String,
    /// Whether a supervised run has started, whose end will be recorded.
    is_supervised: bool,
    /// Whether an MCP server runs it.
    is_of_server: bool,
    has_ended: bool,
    cpu: f64,
    max_rss: u64,
    policy: Vec<String>,
    span: Option<RunSpan>,
}

impl RunRecord {
    /// Writes the first record, for a run without an id of its own.
    pub(crate) fn begin(&self, directory: Option<&Path>) {
        self.begin_as(None, directory);
    }

    /// Writes the first record, with the id of the run and its directory if they are known.
    pub(crate) fn begin_as(&self, run: Option<&JobController>, directory: Option<&Path>) {
        let Some(state) = &self.state else { return };
        let mut progress = state.progress();
        let Some(mut start) = progress.start.take() else { return };
        let recorder = &state.recorder;
        start.run = run.map_or_else(|| RunId::new().to_string(), |run| run.id().to_owned());
        start.time = now();
        start.session = recorder.session.clone();
        start.agent = start.agent.or_else(|| recorder.agent.clone());
        start.parent = recorder.parent.clone();
        start.process = recorder.process.get_or_init(RecordedProcess::current).clone();
        if let Some(directory) = directory {
            start.cwd = directory.to_string_lossy().into_owned();
        } else if start.cwd.is_empty() {
            start.cwd.clone_from(&recorder.directory);
        }
        progress.id.clone_from(&start.run);
        progress.is_supervised = run.is_some();
        progress.is_of_server = start.kind == RunKind::Mcp;
        if let Some(run) = run.filter(|run| progress.is_of_server || run.captured().is_captured()) {
            recorder.live(&start.process).iter().for_each(|live| live.add(run));
        }
        state.mask_start(&mut start);
        progress.span = recorder.tracer.begin(state.trace, &start);
        recorder.append(&JournalRecord::Start(start));
    }

    /// Whether the run is recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.recorder.journal.is_some())
    }

    /// Whether a supervised run has started, whose end will be recorded.
    fn is_supervised(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.progress().is_supervised)
    }

    /// Records the end of a script.
    pub(crate) fn end_script(&self, outcome: &Outcome, changed: Option<ChangedFiles>) {
        self.end(|| RunEnd { changed, ..convert::script_end(outcome) });
    }

    /// Records the only stage of a program, and its end.
    pub(crate) fn end_program(&self, outcome: &JobOutcome, changed: Option<ChangedFiles>) {
        self.add_stage(|| convert::program_stage(outcome));
        self.end(|| RunEnd { changed, ..convert::program_end(outcome) });
    }

    /// Keeps one decision of a policy for the record of the end.
    fn add_decision(&self, decision: &str) {
        let Some(state) = &self.state else { return };
        let policy = &mut state.progress().policy;
        if policy.len() < MAX_DECISIONS && !policy.iter().any(|other| other == decision) {
            policy.push(decision.to_owned());
        }
    }

    /// Keeps what a policy decided for the record of the end.
    pub(crate) fn add_decisions(&self, process: &ProcessContext) {
        if let (Some(state), Some(policy)) = (&self.state, &process.policy) {
            state.progress().policy = policy.decisions();
        }
    }

    /// Records the answer to a hook. What the agent does with it is not known.
    pub(crate) fn end_hook(&self, answer: String) {
        if let Some(state) = &self.state {
            state.progress().policy.push(answer);
        }
        self.end(RunEnd::default);
    }

    /// Records a run that did not start, or whose result is not known.
    pub(crate) fn fail(&self, failure: &Failure) {
        self.end(|| RunEnd {
            code: failure.status,
            error: Some(failure.message.clone()),
            ..RunEnd::default()
        });
    }

    /// Records the end, after the start if that is not written yet. Later ends are ignored.
    pub(crate) fn end(&self, make: impl FnOnce() -> RunEnd) {
        self.begin(None);
        let Some(state) = &self.state else { return };
        let mut progress = state.progress();
        if std::mem::replace(&mut progress.has_ended, true) {
            return;
        }
        let mut end = make();
        end.run.clone_from(&progress.id);
        end.time = now();
        if end.duration == 0.0 {
            end.duration = state.began.elapsed().as_micros() as f64 / 1e6;
        }
        (end.cpu, end.max_rss) = (progress.cpu, progress.max_rss);
        end.policy = std::mem::take(&mut progress.policy);
        state.mask_end(&mut end);
        let live = state.recorder.live.get().and_then(Option::as_ref);
        let run = end.run.clone();
        let span = progress.span.take();
        span.into_iter().for_each(|span| state.recorder.tracer.end(span, &end));
        live.inspect(|live| live.end(&run));
        state.recorder.append(&JournalRecord::End(end));
        // A server keeps its outputs; another process ends now.
        live.filter(|_| !progress.is_of_server).inspect(|live| live.wait_for_followers(&run));
    }

    fn add_stage(&self, make: impl FnOnce() -> StageEnd) {
        let Some(state) = &self.state else { return };
        let mut stage = make();
        let mut progress = state.progress();
        stage.run.clone_from(&progress.id);
        progress.cpu += stage.cpu.unwrap_or(0.0);
        progress.max_rss = progress.max_rss.max(stage.max_rss.unwrap_or(0));
        state.mask_stage(&mut stage);
        progress.span.iter().for_each(|span| state.recorder.tracer.end_stage(span, &stage));
        state.recorder.append(&JournalRecord::Stage(stage));
    }
}

impl RecorderState {
    /// Writes a record. One that is lost is counted in the journal.
    fn append(&self, record: &JournalRecord) {
        let _ = self.journal.as_ref().map(|journal| journal.append(record));
    }

    /// Lets other processes read outputs and end runs, from the first run on that has something to read.
    fn live(&self, process: &RecordedProcess) -> &Option<LiveRuns> {
        self.live.get_or_init(|| LiveRuns::start(process.pid, process.started).ok())
    }
}

impl RecordedRun {
    fn progress(&self) -> MutexGuard<'_, RunProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunObserver for RunRecord {
    fn started(&self, run: &JobController, directory: &Path) {
        self.begin_as(Some(run), Some(directory));
    }

    fn stage_ended(&self, stage: &Stage) {
        self.add_stage(|| convert::script_stage(stage));
    }
}

impl fmt::Debug for RunRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunRecord")
            .field("is_recorded", &self.state.is_some())
            .finish_non_exhaustive()
    }
}

/// The start of a run of this kind.
pub(crate) fn start_of(kind: RunKind) -> RunStart {
    RunStart { kind, ..RunStart::default() }
}

/// A name for the session of a server or of a launched agent.
pub(crate) fn new_session(kind: &str) -> String {
    RunId::new().to_string().replacen("run", kind, 1)
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
