//! The tool `job`: what still runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{TerminalSize, signal_number};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::job_report;
use super::jobs::ScriptJob;
use super::reply::{ToolReply, format_duration};
use super::run_tool::{retain_outputs, timeout};
use super::server_state::ServerState;
use super::tool_request::ToolRequest;
use super::until::{UntilArguments, WaitConditions};
use super::view::ViewArguments;
use super::wait::{self, WaitResult};

/// What `job` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobArguments {
    /// What to do. All but "list" need "id", and answer with what was written since the last answer.
    action: JobAction,
    /// The job, as "run" or "list" names it.
    #[serde(default, alias = "job")]
    id: Option<String>,
    /// With "write": the text, usually with a newline at its end. "\u0003" is Ctrl-C on a terminal.
    #[serde(default)]
    text: Option<String>,
    /// With "signal": its name, such as "INT" or "HUP".
    #[serde(default)]
    signal: Option<String>,
    /// With "resize": columns of the terminal.
    #[serde(default)]
    columns: Option<u16>,
    /// With "resize": rows of the terminal.
    #[serde(default)]
    rows: Option<u16>,
    /// What to wait for, in what was not shown yet, before the answer. After "wait" without it: the end. After "write"
    /// without it: that the job waits for input again, or is quiet for a second.
    #[serde(default)]
    until: Option<UntilArguments>,
    /// Seconds to wait at most (default 120). The job goes on after that.
    #[serde(default)]
    timeout: Option<f64>,
    /// Which part of the new output to show.
    #[serde(default)]
    view: ViewArguments,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum JobAction {
    /// All jobs.
    List,
    /// Wait for it.
    Wait,
    /// What it wrote since the last answer, at once.
    Read,
    /// Write to its standard input or terminal.
    Write,
    /// End its standard input.
    CloseStdin,
    /// Change the size of its terminal.
    Resize,
    /// Send a signal to the processes in its foreground.
    Signal,
    /// End it, with everything it has started.
    Kill,
}

/// A job that was written to has answered when it is quiet for so long.
const QUIET_AFTER_INPUT: Duration = Duration::from_secs(1);

/// Does it.
pub(crate) async fn job(
    state: &Arc<ServerState>,
    arguments: JobArguments,
    call: &ToolRequest,
) -> Result<ToolReply, String> {
    if arguments.action == JobAction::List {
        return Ok(list(&state.jobs.list()));
    }
    let id = arguments.id.as_deref().ok_or("\"id\" is missing\nhint: the action \"list\" shows the jobs")?;
    let job = state.jobs.get(id)?;
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
        (_, Some(conditions)) => wait::wait_for_job(&job, conditions, &seen, Some(deadline), call).await,
        (_, None) => WaitResult::Ended,
    };
    let reply = job_report::report_job(&job, &shown, Some(&seen), &stop, false);
    retain_outputs(state, &job);
    Ok(reply)
}

/// What to wait for; `None` for nothing.
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

/// Does to the job what was asked for, besides waiting and ending.
fn act(job: &ScriptJob, arguments: &JobArguments) -> Result<(), String> {
    let controller = &job.controller;
    match arguments.action {
        JobAction::Write => {
            let text = arguments.text.as_deref().ok_or("\"text\" is missing: what shall be written?")?;
            controller.write(text.as_bytes());
        }
        JobAction::CloseStdin => controller.close_input(),
        JobAction::Resize => {
            let standard = TerminalSize::default();
            let (rows, columns) = (arguments.rows, arguments.columns);
            controller.resize(TerminalSize {
                rows: rows.unwrap_or(standard.rows),
                columns: columns.unwrap_or(standard.columns),
            });
        }
        JobAction::Signal => {
            let name = arguments.signal.as_deref().ok_or("\"signal\" is missing, for instance \"INT\"")?;
            let number = name.parse().ok().or_else(|| signal_number(name.trim_start_matches("SIG")));
            let number = number.ok_or_else(|| format!("there is no signal \"{name}\""))?;
            controller.signal(number).map_err(|error| error.to_string())?;
        }
        JobAction::List | JobAction::Wait | JobAction::Read | JobAction::Kill => {}
    }
    Ok(())
}

/// All jobs, a line each.
fn list(jobs: &[Arc<ScriptJob>]) -> ToolReply {
    let mut text = String::new();
    let mut data = Vec::new();
    for job in jobs {
        let waiting = job.controller.needs_input();
        let state = match (job.is_alive(), waiting) {
            (false, _) => "ended",
            (true, Some(_)) => "waits for input",
            (true, None) => "runs",
        };
        let age = format_duration(job.started.elapsed());
        text.push_str(&format!("{}  {state}  {age}  {}\n", job.id, job.title()));
        data.push(json!({
            "id": job.id,
            "state": if job.is_alive() { "running" } else { "ended" },
            "needs_input": waiting,
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
