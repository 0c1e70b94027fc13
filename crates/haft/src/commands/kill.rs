//! `haft kill`: end a run with all its processes.

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use haft_process::end_process;
use haft_process::live::LiveClient;
use haft_records::{RunDetail, RunKind, RunState};

use crate::commands::log::show;
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// How long the command waits for the end of the run: longer than the default grace period.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// How often the command checks whether a script of an MCP server has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "Examples:
  haft ps --json | jq -r '.runs[].id' | xargs -r -n 1 haft kill     # end everything

'haft ps' lists the ids. The run ends as after Ctrl-C: SIGTERM to its processes, and SIGKILL after the grace period. Of
an MCP server, only the script with that id ends.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KillArguments {
    /// The id of the run, or its beginning
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

/// Ends a run, and waits until it has ended.
pub(crate) fn run(arguments: &KillArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let detail = show::find(&arguments.id, process)?;
    let RunDetail { state, start, .. } = &detail;
    if *state != RunState::Running {
        return Err(Failure::new(format_args!("run '{}' has ended", start.run), 1)
            .with_hint("'haft ps' lists what runs"));
    }
    let has_ended = match start.kind {
        // Its process is a server, which runs other scripts too.
        RunKind::Mcp => end_script(&detail)?,
        _ => end_process(start.process.pid, || start.process.is_alive(), END_TIMEOUT),
    };
    match has_ended {
        true => Ok(0),
        false => Err(Failure::new(format_args!("run '{}' cannot be ended", start.run), 1)),
    }
}

/// Ends a script of an MCP server. Returns whether it has ended in time.
fn end_script(detail: &RunDetail) -> Result<bool, Failure> {
    let RunDetail { start, .. } = detail;
    let client = LiveClient::new(start.process.pid, start.process.started);
    client.kill(&start.run).map_err(|error| {
        Failure::new(format_args!("cannot end run '{}': {error}", start.run), 1).with_hint(format_args!(
            "its agent can end it with job(action=\"kill\"); 'kill {}' ends the server with all its scripts",
            start.process.pid
        ))
    })?;
    let limit = Instant::now() + END_TIMEOUT;
    while client.status(&start.run).is_ok_and(|status| status.running) {
        if Instant::now() > limit {
            return Ok(false);
        }
        thread::sleep(CHECK_INTERVAL);
    }
    Ok(true)
}
