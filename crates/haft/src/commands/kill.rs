//! `haft kill`: end a run with all its processes.

use clap::Args;
use haft_records::{RecordedProcess, RunDetail, RunKind, RunState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::commands::log::show;
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// How long the command waits for the end of the run: longer than the default grace period.
const END_TIMEOUT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

const EXAMPLES: &str = "Examples:
  haft ps --json | jq -r '.runs[].id' | xargs -r -n 1 haft kill     # end everything

'haft ps' lists the ids. The run ends as after Ctrl-C: SIGTERM to its processes, and SIGKILL after the grace period. A
script of an MCP client is ended by its agent, with job(action=\"kill\").";

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
    if start.kind == RunKind::Mcp {
        let message =
            format_args!("run '{}' belongs to an MCP server, which runs other scripts too", start.run);
        return Err(Failure::new(message, 1).with_hint(format_args!(
            "its agent can end it with job(action=\"kill\"); 'kill {}' ends the server with all its scripts",
            start.process.pid
        )));
    }
    end(&start.process)
        .ok_or_else(|| Failure::new(format_args!("run '{}' cannot be ended", start.run), 1))?;
    Ok(0)
}

/// Asks a process to end, and waits for that. Returns `None` if that is not possible, or takes too long.
fn end(recorded: &RecordedProcess) -> Option<()> {
    let descriptor = pidfd_open(Pid::from_raw(recorded.pid)?, PidfdFlags::empty()).ok();
    // The descriptor may be that of a later process with the same pid.
    if !recorded.is_alive() {
        return Some(());
    }
    let descriptor = descriptor?;
    pidfd_send_signal(&descriptor, Signal::TERM).ok()?;
    let mut set = [PollFd::new(&descriptor, PollFlags::IN)];
    poll(&mut set, Some(&END_TIMEOUT)).ok()?;
    (!set[0].revents().is_empty()).then_some(())
}
