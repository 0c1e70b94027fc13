//! `haft spawn`: a supervised child.

mod outlet;
mod report;
mod show;
mod terminal;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_process::capture::Limits;
use haft_process::{Command, Input, Limit, Live, Outcome, ScopeLimits, Streams, Task, reason};

use crate::arguments::Spawn;
use crate::commands::output::print_json;
use crate::commands::start;
use crate::failure::{Failure, tell};
use crate::host;
use crate::surroundings::Surroundings;

/// What processes that nobody asked for, left behind by the one that was, get to end by themselves; and then again
/// once they were asked to.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// Runs the program, shows what it writes, and answers with its status.
pub(crate) fn run(mut spawn: Spawn, surroundings: &Surroundings) -> Result<i32, Failure> {
    let json = spawn.json;
    match supervise(&mut spawn, surroundings) {
        Ok(outcome) if json => Ok(print_json(&outcome.report(budget(&spawn)), outcome.code())),
        Ok(outcome) => Ok(outcome.code()),
        Err(failure) if json => Ok(print_json(&report::Unstarted::from(&failure), failure.status)),
        Err(failure) => Err(failure),
    }
}

fn supervise(spawn: &mut Spawn, surroundings: &Surroundings) -> Result<Outcome, Failure> {
    let listener = host::Listener::start()?;
    let host = host::set_up(surroundings);
    host.warnings().iter().for_each(tell);
    let command = command(spawn, surroundings)?;
    let streams = streams(spawn)?;
    let mut task = Task::new(command)
        .streams(streams)
        .input(input(spawn)?)
        .limits(limits(spawn))
        .cancel(&listener.cancel);
    task = task.scope_limits(ScopeLimits { processes: spawn.limit_processes, memory: spawn.limit_memory });
    if let Some(timeout) = spawn.timeout {
        task = task.timeout(timeout);
    }
    if let Some(grace) = spawn.grace {
        task = task.grace(grace);
    }
    let shown = show::Shown::new(spawn.limit_output, spawn.timeout, &listener.cancel);
    if !spawn.json && streams != Streams::Passed {
        let shown = shown.clone();
        task = task.live(Live::new(move |kind, bytes| shown.take(kind, bytes)));
    }
    let raw = terminal::Raw::enter(spawn.pty.is_some() && spawn.stdin == "-");
    let job = task.start(&host)?;
    if spawn.pty.as_deref() == Some("") {
        let controller = job.controller();
        listener.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome = finish(job.wait(), spawn);
    // It has started where we are; to enter that by its name might not even be allowed.
    outcome.working_directory = outcome.working_directory.or_else(|| surroundings.working_directory.clone());
    drop(raw);
    shown.finish();
    if !spawn.json {
        explain(&outcome, spawn.timeout);
    }
    Ok(outcome)
}

/// Says what cannot be seen from the output and the status.
fn explain(outcome: &Outcome, timeout: Option<Duration>) {
    let program = program(outcome);
    if let Some(timeout) = timeout.filter(|_| outcome.timed_out) {
        let waiting = if outcome.needed_input { " while it waited for input" } else { "" };
        let ended = processes(outcome.tree.killed);
        tell(format_args!("'{program}' timed out after {timeout:?}{waiting}; {ended} ended"));
    }
    if outcome.tree.survivors > 0 {
        tell(format_args!("{} could not be ended", processes(outcome.tree.survivors)));
    }
}

fn program(outcome: &Outcome) -> String {
    outcome.argv.first().map(|program| program.display().to_string()).unwrap_or_default()
}

/// Ends what the program has left behind: it belongs to this run, which is over.
fn finish(mut outcome: Outcome, spawn: &Spawn) -> Outcome {
    let Some(left) = outcome.adopted.take() else { return outcome };
    left.wait_for(LEFTOVER_GRACE);
    left.controller().set_grace(spawn.grace.unwrap_or(LEFTOVER_GRACE));
    if let Some(end) = left.end() {
        outcome.tree.killed += end.tree.killed;
        outcome.tree.survivors += end.tree.survivors;
        outcome.duration = end.duration;
        if !spawn.json && end.tree.killed > 0 {
            tell(format_args!(
                "ended {} left running by '{}'",
                processes(end.tree.killed),
                program(&outcome)
            ));
        }
    }
    outcome
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

fn command(spawn: &mut Spawn, surroundings: &Surroundings) -> Result<Command, Failure> {
    let start = std::mem::take(&mut spawn.start);
    let exact = start.clear_env;
    let mut command = start::command(start, surroundings)?;
    command.exact_environment(exact);
    if let Some(time) = spawn.limit_cpu {
        command.limit(Limit::cpu(time));
    }
    if spawn.merge {
        command.descriptor(2, haft_process::Descriptor::Inherit(1));
    }
    command.parent_death_signal(haft_process::Signals::KILL);
    Ok(command)
}

fn streams(spawn: &Spawn) -> Result<Streams, Failure> {
    Ok(match (&spawn.pty, spawn.merge) {
        (Some(size), _) => Streams::Terminal(terminal::size(size)?),
        (None, _) if !spawn.json && spawn.limit_output.is_none() => Streams::Passed,
        (None, true) => Streams::Merged,
        (None, false) => Streams::Separate,
    })
}

fn input(spawn: &Spawn) -> Result<Input, Failure> {
    if spawn.stdin == "null" {
        return Ok(Input::Null);
    }
    let file: OwnedFd = if spawn.stdin == "-" {
        rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(|error| {
            Failure::usage(format_args!("cannot use standard input: {}", reason(&error.into())))
        })?
    } else {
        let shown = spawn.stdin.display();
        let opened = File::open(&spawn.stdin);
        opened
            .map_err(|error| Failure::usage(format_args!("cannot open input '{shown}': {}", reason(&error))))?
            .into()
    };
    Ok(if spawn.pty.is_some() { Input::Forward(Arc::new(file)) } else { Input::File(Arc::new(file)) })
}

/// Keeps in reach at least what may have to be shown.
fn limits(spawn: &Spawn) -> Limits {
    let limits = Limits::default();
    Limits { spill: limits.spill.max(spawn.limit_output.unwrap_or(0)), ..limits }
}

/// How much of each output a report shows: all that is kept, unless there is a limit.
fn budget(spawn: &Spawn) -> usize {
    spawn.limit_output.map_or(usize::MAX >> 1, |limit| usize::try_from(limit).unwrap_or(usize::MAX >> 1))
}
