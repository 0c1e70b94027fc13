//! The tool `job`: what still runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{TerminalSize, signal_number};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::Call;
use super::drive::{self, Stop};
use super::jobs::Job;
use super::reply::{Reply, time};
use super::run::{settle, timeout};
use super::shared::Shared;
use super::show;
use super::until::{Conditions, Until};
use super::view::View;

/// What `job` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to do. All but "list" need "id", and answer with what was written since the last answer.
    action: Action,
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
    until: Option<Until>,
    /// Seconds to wait at most (default 120). The job goes on after that.
    #[serde(default)]
    timeout: Option<f64>,
    /// Which part of the new output to show.
    #[serde(default)]
    view: View,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Action {
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
const ANSWERED: Duration = Duration::from_secs(1);

/// Does it.
pub(crate) async fn job(shared: &Arc<Shared>, arguments: Arguments, call: &Call) -> Result<Reply, String> {
    if arguments.action == Action::List {
        return Ok(list(&shared.jobs.list()));
    }
    let id = arguments.id.as_deref().ok_or("\"id\" is missing\nhint: the action \"list\" shows the jobs")?;
    let job = shared.jobs.get(id)?;
    let deadline = Instant::now() + timeout(arguments.timeout)?;
    let shown = arguments.view.clone().shown()?;
    let conditions = conditions(&arguments)?;
    let seen = job.seen();
    let _waiting = job.wait();
    act(&job, &arguments)?;
    let stop = match (arguments.action, conditions) {
        (Action::Kill, _) => {
            job.finish(None).await;
            Stop::Ended
        }
        (_, Some(conditions)) => drive::wait(&job, conditions, &seen, Some(deadline), call).await,
        (_, None) => Stop::Ended,
    };
    let reply = show::job(&job, &shown, Some(&seen), &stop, false);
    settle(shared, &job);
    Ok(reply)
}

/// What to wait for; `None` for nothing.
fn conditions(arguments: &Arguments) -> Result<Option<Conditions>, String> {
    if let Some(until) = arguments.until.clone() {
        return until.conditions().map(Some);
    }
    Ok(match arguments.action {
        Action::Wait => Some(Conditions::default()),
        Action::Write | Action::CloseStdin => {
            Some(Conditions { input: true, quiet: Some(ANSWERED), ..Conditions::default() })
        }
        Action::Signal => Some(Conditions { quiet: Some(ANSWERED), ..Conditions::default() }),
        Action::List | Action::Read | Action::Resize | Action::Kill => None,
    })
}

/// Does to the job what was asked for, besides waiting and ending.
fn act(job: &Job, arguments: &Arguments) -> Result<(), String> {
    let controller = &job.controller;
    match arguments.action {
        Action::Write => {
            let text = arguments.text.as_deref().ok_or("\"text\" is missing: what shall be written?")?;
            controller.write(text.as_bytes());
        }
        Action::CloseStdin => controller.close_input(),
        Action::Resize => {
            let standard = TerminalSize::default();
            let (rows, columns) = (arguments.rows, arguments.columns);
            controller.resize(TerminalSize {
                rows: rows.unwrap_or(standard.rows),
                columns: columns.unwrap_or(standard.columns),
            });
        }
        Action::Signal => {
            let name = arguments.signal.as_deref().ok_or("\"signal\" is missing, for instance \"INT\"")?;
            let number = name.parse().ok().or_else(|| signal_number(name.trim_start_matches("SIG")));
            let number = number.ok_or_else(|| format!("there is no signal \"{name}\""))?;
            controller.signal(number).map_err(|error| error.to_string())?;
        }
        Action::List | Action::Wait | Action::Read | Action::Kill => {}
    }
    Ok(())
}

/// All jobs, a line each.
fn list(jobs: &[Arc<Job>]) -> Reply {
    let mut text = String::new();
    let mut data = Vec::new();
    for job in jobs {
        let waiting = job.controller.needs_input();
        let state = match (job.is_alive(), waiting) {
            (false, _) => "ended",
            (true, Some(_)) => "waits for input",
            (true, None) => "runs",
        };
        let age = time(job.started.elapsed());
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
    Reply::new(text, json!({ "jobs": Value::Array(data) }))
}
