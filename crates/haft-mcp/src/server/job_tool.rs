//! The tool `job`: waits for, reads from, writes to and ends running jobs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{TerminalSize, signal_number};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::detail::ResultDetail;
use super::job_report;
use super::jobs::ScriptJob;
use super::owner::STATELESS;
use super::reply::{ToolReply, format_duration};
use super::run_tool::{retain_outputs, timeout};
use super::server_state::ServerState;
use super::tool_request::ToolRequest;
use super::until::{UntilArguments, WaitConditions};
use super::view::ViewArguments;
use super::wait::{self, WaitResult};

/// Arguments of the tool `job`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobArguments {
    /// All but list need an id and return the output since the last answer.
    action: JobAction,
    /// The job id.
    #[serde(default)]
    id: Option<String>,
    /// For write. "\u0003" is Ctrl-C on a terminal.
    #[serde(default)]
    text: Option<String>,
    /// For signal, such as "INT".
    #[serde(default)]
    signal: Option<String>,
    /// For resize.
    #[serde(default)]
    columns: Option<u16>,
    /// For resize.
    #[serde(default)]
    rows: Option<u16>,
    /// Answer when one of these is met. Default for wait: the end of the job; for write: it waits for input or is silent.
    #[serde(default)]
    until: Option<UntilArguments>,
    /// Seconds to wait (default 120). The job continues afterwards.
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    view: ViewArguments,
    /// "full" adds the outcome as structured content.
    #[serde(default)]
    detail: ResultDetail,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum JobAction {
    List,
    Wait,
    Read,
    Write,
    CloseStdin,
    Resize,
    Signal,
    Kill,
}

/// After input or a signal, the job counts as done once it is silent for this long.
const QUIET_AFTER_INPUT: Duration = Duration::from_secs(1);

/// Performs an action on a job.
pub(crate) async fn job(
    state: &Arc<ServerState>,
    arguments: JobArguments,
    request: &ToolRequest,
) -> Result<ToolReply, String> {
    if arguments.action == JobAction::List {
        let mut reply = list(&state.jobs.list(request.owner.id)).with_detail(arguments.detail);
        if request.owner.id == STATELESS {
            reply
                .text
                .push_str("[jobs of stateless clients are not listed: use the ids that run returned]\n");
        }
        return Ok(reply);
    }
    let id = arguments
        .id
        .as_deref()
        .ok_or("parameter 'id' is missing\nhint: job(action=\"list\") returns all ids")?;
    let job = state.jobs.get(request.owner.id, id)?;
    let deadline = Instant::now() + timeout(arguments.timeout)?;
    let shown = arguments.view.clone().resolve()?;
    let conditions = conditions(&arguments)?;
    let seen = job.seen();
    let _waiting = job.wait();
    act(&job, &arguments)?;
    let stop = match (arguments.action, conditions) {
        (JobAction::Kill, _) => {
            job.finish(None).await;
            WaitResult::Ended
        }
        (_, Some(conditions)) => wait::wait_for_job(&job, conditions, &seen, Some(deadline), request).await,
        (_, None) => WaitResult::Ended,
    };
    let report = job_report::report_job(&job, &shown, Some(&seen), &stop, false);
    retain_outputs(state, &job, report.continues);
    Ok(report.reply.with_detail(arguments.detail))
}

/// The conditions to wait for after the action; `None` means not to wait.
fn conditions(arguments: &JobArguments) -> Result<Option<WaitConditions>, String> {
    if let Some(until) = arguments.until.clone() {
        return until.resolve().map(Some);
    }
    Ok(match arguments.action {
        JobAction::Wait => Some(WaitConditions::default()),
        JobAction::Write | JobAction::CloseStdin => {
            Some(WaitConditions { input: true, quiet: Some(QUIET_AFTER_INPUT), ..WaitConditions::default() })
        }
        JobAction::Signal => {
            Some(WaitConditions { quiet: Some(QUIET_AFTER_INPUT), ..WaitConditions::default() })
        }
        JobAction::List | JobAction::Read | JobAction::Resize | JobAction::Kill => None,
    })
}

/// Performs every action except waiting and killing.
fn act(job: &ScriptJob, arguments: &JobArguments) -> Result<(), String> {
    let controller = &job.controller;
    match arguments.action {
        JobAction::Write => {
            let text = arguments.text.as_deref().ok_or("parameter 'text' is missing")?;
            controller.write(text.as_bytes());
        }
        JobAction::CloseStdin => controller.close_input(),
        JobAction::Resize => {
            let default_size = TerminalSize::default();
            let (rows, columns) = (arguments.rows, arguments.columns);
            controller.resize(TerminalSize {
                rows: rows.unwrap_or(default_size.rows),
                columns: columns.unwrap_or(default_size.columns),
            });
        }
        JobAction::Signal => {
            let name =
                arguments.signal.as_deref().ok_or("parameter 'signal' is missing, for example \"INT\"")?;
            let number = name.parse().ok().or_else(|| signal_number(name.trim_start_matches("SIG")));
            let number = number.ok_or_else(|| format!("unknown signal '{name}'"))?;
            controller.signal(number).map_err(|error| error.to_string())?;
        }
        JobAction::List | JobAction::Wait | JobAction::Read | JobAction::Kill => {}
    }
    Ok(())
}

/// The reply to "list": one line per job.
fn list(jobs: &[Arc<ScriptJob>]) -> ToolReply {
    let mut text = String::new();
    let mut data = Vec::new();
    for job in jobs {
        let waiting = job.controller.needs_input();
        let state = match (job.is_alive(), waiting) {
            (false, _) => "ended",
            (true, Some(_)) => "waiting for input",
            (true, None) => "running",
        };
        let age = format_duration(job.started.elapsed());
        text.push_str(&format!("{}  {state}  {age}  {}\n", job.id, job.title()));
        data.push(json!({
            "id": job.id,
            "state": if job.is_alive() { "running" } else { "ended" },
            "needs_input": waiting.is_some(),
            "pids": job.processes(),
            "age": job.started.elapsed().as_secs_f64(),
            "script": job.redactor.text(&job.script),
        }));
    }
    if data.is_empty() {
        text.push_str("no jobs\n");
    }
    ToolReply::new(text, json!({ "jobs": Value::Array(data) }))
}
