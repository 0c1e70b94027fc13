//! The tool `run`: a script, and what one waits for.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_kernel::Session;
use haft_process::{Redactor, TerminalSize};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{oneshot, watch};

use super::finished_run::{self, FinishedRun, Input, RunRequest, Streams};
use super::job_notifications;
use super::job_report;
use super::jobs::ScriptJob;
use super::outputs::RetainedOutput;
use super::reply::ToolReply;
use super::server_state::ServerState;
use super::sessions::SessionGuard;
use super::tool_request::ToolRequest;
use super::until::{UntilArguments, WaitConditions};
use super::view::ViewArguments;
use super::wait::{self, WaitResult};
use super::withheld_variables;

/// What `run` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunArguments {
    /// The script, in bash.
    script: String,
    /// The directory to run it in. Default: the session's, or the server's.
    #[serde(default)]
    cwd: Option<PathBuf>,
    /// Environment variables for this script.
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    /// Seconds until the call returns in any case (default 120).
    #[serde(default)]
    timeout: Option<f64>,
    /// At the time-out: "kill" it with everything it started (default), or leave it as a job: "background".
    #[serde(default)]
    on_timeout: OnTimeout,
    /// What it reads on standard input. Default: nothing, it is at its end.
    #[serde(default)]
    stdin: Option<String>,
    /// Keep standard input open, for the tool "job" to write to.
    #[serde(default)]
    interactive: bool,
    /// A name for state that lasts: variables, functions and directory are found again by the next script in the same
    /// session. Default: a fresh session for this script alone.
    #[serde(default)]
    session: Option<String>,
    /// End the named session after this script.
    #[serde(default)]
    end_session: bool,
    /// Which part of the output to show.
    #[serde(default)]
    view: ViewArguments,
    /// Keep standard output and standard error in one stream, in true order.
    #[serde(default)]
    merge: bool,
    /// Run it on a terminal; it may then be driven with the tool "job". The call returns when it waits for input.
    #[serde(default)]
    pty: bool,
    /// What to wait for, besides its end. What still runs then is a job.
    #[serde(default)]
    until: Option<UntilArguments>,
}

/// What becomes of a script at the time-out.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum OnTimeout {
    #[default]
    Kill,
    Background,
}

/// How long a call takes at most, if it does not say.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest a call may take.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// A time-out in seconds, understood.
pub(crate) fn timeout(seconds: Option<f64>) -> Result<Duration, String> {
    let Some(seconds) = seconds else { return Ok(DEFAULT_TIMEOUT) };
    let wrong = |_| format!("\"timeout\" is no number of seconds: {seconds}");
    Ok(Duration::try_from_secs_f64(seconds).map_err(wrong)?.min(MAX_TIMEOUT))
}

/// Runs a script and answers when it has ended, or what was waited for has come, or the time is up.
pub(crate) async fn run(
    state: &Arc<ServerState>,
    arguments: RunArguments,
    call: &ToolRequest,
) -> Result<ToolReply, String> {
    let deadline = Instant::now() + timeout(arguments.timeout)?;
    let shown = arguments.view.clone().resolve()?;
    state.jobs.check_room()?;
    let mut place = RunSession::enter(state, &arguments, call, deadline).await?;
    let conditions = conditions(&arguments, &place.directory)?;
    let job = start(state, &arguments, place.session.take(), call).await?;
    let stop = wait::wait_for_job(&job, conditions, &[], Some(deadline), call).await;
    let left = left_running(&stop, arguments.on_timeout);
    let expired = matches!(stop, WaitResult::TimedOut) && !left;
    if !left {
        finish(&job, &stop).await;
    }
    place.leave(&job);
    let mut reply = job_report::report_job(&job, &shown, None, &stop, expired);
    withheld_variables::mention(&mut reply, &job, &state.setup.withheld_variables);
    retain_outputs(state, &job);
    if job.is_alive() {
        tokio::spawn(job_notifications::notify_when_ended(state.clone(), job));
    }
    if let Some(name) = arguments.session.filter(|_| arguments.end_session) {
        state.discard(state.sessions.end(&name));
    }
    Ok(reply)
}

/// Where a script runs: a session for itself, or a named one.
struct RunSession {
    session: Option<Session>,
    directory: PathBuf,
    /// The named session's place, and what it holds if the script goes on without it.
    named: Option<(SessionGuard<Session>, Session)>,
}

impl RunSession {
    async fn enter(
        state: &ServerState,
        arguments: &RunArguments,
        call: &ToolRequest,
        deadline: Instant,
    ) -> Result<RunSession, String> {
        let mut guard = match &arguments.session {
            Some(name) => Some(claim(state, name, call, deadline).await?),
            None => None,
        };
        let known = guard.as_mut().and_then(|guard| guard.take());
        if known.is_none() {
            reject_syntax_errors(&arguments.script)?;
        }
        let mut session = known.unwrap_or_else(|| (state.setup.session)());
        if let Some(directory) = &arguments.cwd
            && let Err(message) = finished_run::enter(&mut session, directory)
        {
            if let Some(guard) = &mut guard {
                **guard = Some(session);
            }
            return Err(message);
        }
        let directory = finished_run::directory(&session);
        let named = guard.map(|guard| (guard, session.fork()));
        Ok(RunSession { session: Some(session), directory, named })
    }

    /// The named session is what the script has made of it, or what it was if that goes on without it.
    fn leave(self, job: &ScriptJob) {
        let Some((mut state, before)) = self.named else { return };
        let after = job.ended().and_then(|ended| ended.take_session());
        *state = Some(after.unwrap_or(before));
    }
}

/// Refuses a script that is not bash before anything of it runs. A session that was used before may have changed what is.
fn reject_syntax_errors(script: &str) -> Result<(), String> {
    let read = haft_lang::parse_script(script.as_bytes(), &haft_lang::ParseOptions::default());
    read.error.map_or(Ok(()), |error| Err(super::script_tools::format_syntax_error(&error, script)))
}

/// What is waited for: on a terminal, input too, since nobody else would notice.
fn conditions(arguments: &RunArguments, directory: &std::path::Path) -> Result<WaitConditions, String> {
    let interactive = arguments.pty || arguments.interactive;
    let mut conditions = match arguments.until.clone() {
        Some(until) => until.resolve()?,
        None => WaitConditions { input: interactive, ..WaitConditions::default() },
    };
    conditions.file = conditions.file.map(|file| directory.join(file));
    Ok(conditions)
}

/// Waits for the named session to be free.
async fn claim(
    state: &ServerState,
    name: &str,
    call: &ToolRequest,
    deadline: Instant,
) -> Result<SessionGuard<Session>, String> {
    let slot = state.sessions.claim(name, call.owner.id, Instant::now())?;
    tokio::select! {
        state = slot.lock_owned() => Ok(state),
        () = tokio::time::sleep_until(deadline.into()) => Err(format!(
            "session \"{name}\" is still busy with an earlier script\nhint: wait longer, or use another session"
        )),
        () = call.cancelled() => Err("cancelled".to_owned()),
    }
}

/// Starts the script on a thread that has nothing else to do meanwhile.
async fn start(
    state: &Arc<ServerState>,
    arguments: &RunArguments,
    session: Option<Session>,
    call: &ToolRequest,
) -> Result<Arc<ScriptJob>, String> {
    let run = order(arguments).run().memory_limit(state.setup.limits.memory);
    let session = session.ok_or("the session has gone")?;
    let (started, controller) = oneshot::channel();
    let (ended, end) = watch::channel(None);
    let host = state.setup.host.clone();
    tokio::task::spawn_blocking(move || {
        let (mut session, mut started) = (session, Some(started));
        let mut tell = |begun| started.take().map(|started| started.send(begun));
        let outcome = run.run_held(&host, &mut session, |controller| drop(tell(Ok(controller.clone()))));
        match outcome {
            Ok(outcome) => drop(ended.send(Some(Arc::new(FinishedRun::new(session, outcome))))),
            Err(error) => {
                let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                tell(Err(format!("{error}{hint}")));
            }
        }
    });
    let controller = controller.await.map_err(|_| "the script could not be started".to_owned())??;
    let number = state.next_number();
    let redactor = redactor(&state.setup.redactor, arguments);
    let job = Arc::new(ScriptJob::new(number, call.owner.id, &arguments.script, redactor, controller, end));
    state.jobs.insert(job.clone());
    Ok(job)
}

/// What masks the keys of the server's environment, and those that the call brings.
fn redactor(common: &Arc<Redactor>, arguments: &RunArguments) -> Arc<Redactor> {
    let Some(env) = arguments.env.as_ref().filter(|env| !env.is_empty()) else { return common.clone() };
    let mut own = Redactor::clone(common);
    own.add(env.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))));
    Arc::new(own)
}

fn order(arguments: &RunArguments) -> RunRequest {
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
    let variables = arguments.env.clone().unwrap_or_default().into_iter().collect();
    RunRequest { script: arguments.script.clone(), variables, input, streams }
}

/// Whether the script goes on after the call.
fn left_running(stop: &WaitResult, on_timeout: OnTimeout) -> bool {
    match stop {
        WaitResult::MetCondition(_) => true,
        WaitResult::TimedOut => on_timeout == OnTimeout::Background,
        WaitResult::Ended | WaitResult::Cancelled => false,
    }
}

/// Ends the job, if it has not ended, and waits until nothing is left of it.
async fn finish(job: &ScriptJob, stop: &WaitResult) {
    if !matches!(stop, WaitResult::Ended) {
        job.controller.cancel();
    }
    job.end().await;
}

/// Keeps what the job wrote, and the job itself only while it runs.
pub(crate) fn retain_outputs(state: &ServerState, job: &Arc<ScriptJob>) {
    for (name, output) in job.streams() {
        if output.total_bytes() > 0 || !output.is_finished() {
            let origin = format!("{name} of {}", job.title());
            state.outputs.keep(RetainedOutput { output, owner: job.owner, origin, since: Instant::now() });
        }
    }
    if !job.is_alive() {
        state.jobs.remove(job);
    }
}
