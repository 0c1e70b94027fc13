//! The tool `run`: runs a script and waits for its end or for a condition.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_kernel::Script;
use haft_kernel::run::{Input, Outcome, Run, Streams};
use haft_process::{Redactor, TerminalSize};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{oneshot, watch};

use super::detail::ResultDetail;
use super::finished_run::FinishedRun;
use super::job_notifications;
use super::job_report::{self, JobReport};
use super::jobs::ScriptJob;
use super::limits::{self, LimitArguments};
use super::listening;
use super::observer::CallRecord;
use super::outputs::RetainedOutput;
use super::overlays::{self, OpenOverlay, OverlayArgument};
use super::reply::ToolReply;
use super::run_session::RunSession;
use super::server_state::{DISCONNECT_GRACE, ServerState};
use super::tool_request::ToolRequest;
use super::until::{UntilArguments, WaitConditions};
use super::view::ViewArguments;
use super::wait::{self, WaitResult};
use super::withheld_variables;

/// Arguments of the tool `run`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunArguments {
    /// The bash script.
    pub(crate) script: String,
    /// Working directory.
    #[serde(default)]
    pub(crate) cwd: Option<PathBuf>,
    /// Additional variables.
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    /// Seconds until the call returns (default 120).
    #[serde(default)]
    timeout: Option<f64>,
    /// At the timeout: kill (default), or continue as a job.
    #[serde(default)]
    on_timeout: OnTimeout,
    /// Text for standard input (default: empty).
    #[serde(default)]
    stdin: Option<String>,
    /// Keep standard input open for job(action="write").
    #[serde(default)]
    interactive: bool,
    /// Keep variables, functions and directory under this name for the next script.
    #[serde(default)]
    pub(crate) session: Option<String>,
    /// End the session after this script.
    #[serde(default)]
    end_session: bool,
    #[serde(default)]
    view: ViewArguments,
    /// Merge stdout and stderr in the order of writing.
    #[serde(default)]
    merge: bool,
    /// Run on a terminal.
    #[serde(default)]
    pty: bool,
    /// true: change only copies of the project's files, see the tool changes; an id: continue in that overlay.
    #[serde(default)]
    pub(crate) overlay: Option<OverlayArgument>,
    #[serde(default)]
    limits: LimitArguments,
    #[serde(default)]
    until: Option<UntilArguments>,
    /// "full" adds the outcome as structured content.
    #[serde(default)]
    detail: ResultDetail,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum OnTimeout {
    #[default]
    Kill,
    Background,
}

/// The timeout of calls that set none.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// The grace period of scripts that must end within a second when they exceed a limit.
const LIMITED_GRACE: Duration = Duration::from_millis(500);
/// Longer timeouts are cut to this.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Converts the argument `timeout`.
pub(crate) fn timeout(seconds: Option<f64>) -> Result<Duration, String> {
    let Some(seconds) = seconds else { return Ok(DEFAULT_TIMEOUT) };
    let invalid = |_| format!("invalid 'timeout': {seconds} (expected a number of seconds)");
    Ok(Duration::try_from_secs_f64(seconds).map_err(invalid)?.min(MAX_TIMEOUT))
}

/// Runs a script. Returns when it has ended, a condition is met, or the timeout expires.
pub(crate) async fn run(
    state: &Arc<ServerState>,
    mut arguments: RunArguments,
    request: &ToolRequest,
) -> Result<ToolReply, String> {
    let wall = state.setup.limits.wall;
    let timeout = timeout(arguments.timeout)?.min(wall.unwrap_or(MAX_TIMEOUT));
    let new_name = name_session(state, &mut arguments, request)?;
    let shown = arguments.view.clone().resolve()?;
    if may_continue(&arguments) {
        state.jobs.check_capacity(request.owner.id)?;
    }
    let mut run_session = RunSession::enter(state, &arguments, request, Instant::now() + timeout).await?;
    let mut conditions = conditions(&arguments, &run_session.directory)?;
    let slot = state.jobs.wait_for_slot(request).await;
    let Some(slot) = slot else {
        run_session.put_back();
        return Err("cancelled".to_owned());
    };
    let deadline = Instant::now() + timeout;
    if let Some(port) = &conditions.port {
        conditions.port_was_open = listening::is_open(port).await;
    }
    let job = start(state, &arguments, &mut run_session, request).await?;
    let stop = wait::wait_for_job(&job, conditions, &[], Some(deadline), request).await;
    let continues = continues_as_job(&stop, arguments.on_timeout);
    let expired = matches!(stop, WaitResult::TimedOut) && !continues;
    if !continues {
        finish(&job, &stop).await;
    }
    drop(slot);
    let overlay = run_session.overlay.clone();
    run_session.store(&job);
    let JobReport { reply, continues } = job_report::report_job(&job, &shown, None, &stop, expired);
    let mut reply = reply.with_detail(arguments.detail);
    withheld_variables::mention(&mut reply, &job, &state.setup.withheld_variables);
    if let Some(name) = new_name {
        mention_session(&mut reply, name);
    }
    if let Some(overlay) = overlay {
        let is_changed = overlays::mention(&mut reply, &overlay);
        if !is_changed && arguments.session.is_none() && !continues {
            let (state, id) = (state.clone(), overlay.id.clone());
            tokio::task::spawn_blocking(move || state.overlays.discard_if_empty(&id));
        }
    }
    retain_outputs(state, &job, continues);
    if continues {
        job.set_in_background();
        tokio::spawn(job_notifications::notify_when_ended(state.clone(), job));
    }
    if let Some(name) = arguments.session.filter(|_| arguments.end_session) {
        state.discard(state.sessions.remove(request.owner.id, &name));
    }
    Ok(reply)
}

/// Adds the name of a session that the client does not know yet.
fn mention_session(reply: &mut ToolReply, name: String) {
    reply.text.push_str(&format!("[new session; continue with session=\"{name}\"]\n"));
    if let Some(data) = &mut reply.data {
        data["session"] = name.into();
    }
}

/// Replaces the name of the session by the one that the server knows it by. Returns it if the client does not know it.
fn name_session(
    state: &ServerState,
    arguments: &mut RunArguments,
    request: &ToolRequest,
) -> Result<Option<String>, String> {
    let Some(name) = &mut arguments.session else { return Ok(None) };
    let known = state.session_name(request.owner.id, name)?;
    let is_new = known != *name && !arguments.end_session;
    name.clone_from(&known);
    Ok(is_new.then_some(known))
}

/// Whether the call asks that the script may continue as a job.
fn may_continue(arguments: &RunArguments) -> bool {
    arguments.until.is_some()
        || arguments.pty
        || arguments.interactive
        || arguments.on_timeout == OnTimeout::Background
}

/// The conditions to wait for. An interactive script also returns when it waits for input, because only the client
/// can provide it.
fn conditions(arguments: &RunArguments, directory: &std::path::Path) -> Result<WaitConditions, String> {
    let interactive = arguments.pty || arguments.interactive;
    let mut conditions = match arguments.until.clone() {
        Some(until) => until.resolve()?,
        None => WaitConditions { input: interactive, ..WaitConditions::default() },
    };
    conditions.file = conditions.file.map(|file| directory.join(file));
    Ok(conditions)
}

/// Starts the script on a blocking thread.
async fn start(
    state: &Arc<ServerState>,
    arguments: &RunArguments,
    run_session: &mut RunSession,
    request: &ToolRequest,
) -> Result<Arc<ScriptJob>, String> {
    let (session, script) = run_session.started.take().ok_or("the session has ended")?;
    let (overlay, questions) = (run_session.overlay.clone(), run_session.questions.clone());
    let asked_client = request.asked_client.clone();
    let limits = limits::resolve(&arguments.limits, &state.setup.limits.scripts)?;
    let run = limits
        .apply(build_run(state, arguments, script, request), || state.overlays.meter(overlay.as_deref()))?;
    let record = request.record.clone();
    let run = record.iter().fold(run, |run, record| run.observer(record.clone()));
    let (started, controller) = oneshot::channel();
    let (ended, end) = watch::channel(None);
    let host = state.setup.host.clone();
    tokio::task::spawn_blocking(move || {
        let (mut session, mut started) = (session, Some(started));
        let observed = record.clone();
        let mut notify = |begun| started.take().map(|started| started.send(begun));
        let outcome = run.run_held(&host, &mut session, |controller| {
            questions.start_script(asked_client, observed, controller);
            drop(notify(Ok(controller.clone())));
        });
        questions.end_script();
        match outcome {
            Ok(outcome) => {
                if let Some(record) = record {
                    record_end(&*record, &outcome, overlay.as_deref());
                }
                drop(ended.send(Some(Arc::new(FinishedRun::new(session, outcome)))));
            }
            Err(error) => {
                let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                notify(Err(format!("{error}{hint}")));
            }
        }
    });
    let controller = controller.await.map_err(|_| "the script could not be started".to_owned())??;
    let id = state.next_job_id();
    let redactor = redactor(&state.setup.redactor, arguments);
    let job = Arc::new(ScriptJob::new(id, request.owner.id, &arguments.script, redactor, controller, end));
    state.jobs.insert(job.clone());
    Ok(job)
}

/// Tells the observer about the end of a script.
fn record_end(record: &dyn CallRecord, outcome: &Outcome, overlay: Option<&OpenOverlay>) {
    let changes = overlay.and_then(|open| Some((&*open.id, open.overlay().changes().ok()?)));
    record.script_ended(outcome, changes.as_ref().map(|(id, changes)| (*id, changes.as_slice())));
}

/// The redactor of the server, extended by the secrets in the `env` argument.
fn redactor(common: &Arc<Redactor>, arguments: &RunArguments) -> Arc<Redactor> {
    let Some(env) = arguments.env.as_ref().filter(|env| !env.is_empty()) else { return common.clone() };
    let mut own = Redactor::clone(common);
    own.add(env.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))));
    Arc::new(own)
}

/// Builds the kernel run.
fn build_run(state: &ServerState, arguments: &RunArguments, script: Script, request: &ToolRequest) -> Run {
    let input = match &arguments.stdin {
        Some(text) => Input::Bytes(Arc::from(text.as_bytes())),
        None if arguments.interactive || arguments.pty => Input::Pipe,
        None => Input::Null,
    };
    let streams = match (arguments.pty, arguments.merge) {
        (true, _) => Streams::Terminal(TerminalSize::default()),
        (false, true) => Streams::Merged,
        (false, false) => Streams::Separate,
    };
    let run = Run::prepared(script).input(input).streams(streams);
    let run = state.setup.limits.wall.into_iter().fold(run, Run::timeout);
    let run = if state.setup.limits.scripts.ends_run { run.grace(LIMITED_GRACE) } else { run };
    let observed = request.record.as_ref().map(|record| record.variables()).unwrap_or_default();
    let run = observed.into_iter().fold(run, |run, (name, value)| run.variable(name, value));
    let variables = arguments.env.iter().flatten();
    variables.fold(run, |run, (name, value)| run.variable(name.as_bytes(), value.as_bytes()))
}

/// Whether the script continues as a job after the call.
fn continues_as_job(stop: &WaitResult, on_timeout: OnTimeout) -> bool {
    match stop {
        WaitResult::ConditionMet(_) => true,
        WaitResult::TimedOut => on_timeout == OnTimeout::Background,
        WaitResult::Ended | WaitResult::Cancelled => false,
    }
}

/// Ends the job if it still runs, and waits until it has ended. If the client cancelled the call, nobody waits for a
/// clean end, so `SIGKILL` follows soon.
async fn finish(job: &ScriptJob, stop: &WaitResult) {
    if matches!(stop, WaitResult::Cancelled) {
        job.controller.set_grace(DISCONNECT_GRACE);
    }
    if !matches!(stop, WaitResult::Ended) {
        job.controller.cancel();
    }
    job.end().await;
}

/// Retains the output of a job, and removes the job unless the client was told that it continues.
pub(crate) fn retain_outputs(state: &ServerState, job: &Arc<ScriptJob>, continues: bool) {
    for (name, output) in job.streams() {
        if output.total_bytes() > 0 || !output.is_finished() {
            let origin = format!("{name} of {}", job.title());
            let (owner, since) = (job.owner(), Instant::now());
            state.outputs.retain(RetainedOutput { output, owner, origin, since });
        }
    }
    if !continues {
        state.jobs.remove(job);
    }
}
