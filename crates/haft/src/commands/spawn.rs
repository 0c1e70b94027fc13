//! `haft spawn`: run a program under supervision.

use clap::Args;
use haft_process::{Command, JobOutcome, Task, Tracing, protect_process};
use haft_records::{RunKind, RunStart};

use crate::commands::options::{ProgramArguments, SupervisionArguments};
use crate::commands::print::print_json;
use crate::commands::supervise::{Ending, LEFTOVER_GRACE, OutputPrinter, terminal};
use crate::commands::{output, program};
use crate::enforcement::PolicyOptions;
use crate::failure::{Failure, print_message};
use crate::host;
use crate::json::ErrorReport;
use crate::process_context::ProcessContext;
use crate::records::{self, Recorder, RunRecord};

const EXAMPLES: &str = "Examples:
  haft spawn --timeout 30s -- make test      # status 124 at the deadline, nothing left
  echo hello | haft spawn -- cat             # standard input is inherited
  haft spawn --json --merge -- ls /          # status, output and usage as JSON
  haft spawn --pty -- ls --color=auto        # on a terminal of its own
  haft spawn --limit-memory 2G -- make       # limits for all its processes

For a command line with pipes or variables, use 'haft run -c TEXT'.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpawnArguments {
    #[command(flatten)]
    pub(crate) supervision: SupervisionArguments,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
}

/// Runs the program and prints its output or the JSON result. Returns its exit status.
pub(crate) fn run(
    mut spawn: SpawnArguments,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let json = spawn.supervision.json;
    if let Some(policy) = &process.policy {
        spawn.supervision.tighten(&policy.budgets());
    }
    let is_masked = spawn.supervision.is_captured() || !spawn.program.environment.variables.is_empty();
    let redactor = is_masked.then(|| program::redactor(&spawn.program.environment, process));
    let start = RunStart {
        argv: spawn.program.program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..records::start_of(RunKind::Spawn)
    };
    let record = recorder.prepare(start, redactor.clone());
    let redactor = redactor.unwrap_or_default();
    let outcome = supervise(&mut spawn, &record, process);
    record.add_decisions(process);
    match &outcome {
        Ok(outcome) => record.end_program(outcome, None),
        Err(failure) => record.fail(failure),
    }
    match outcome {
        Ok(outcome) if json => {
            let mut report = outcome.report(spawn.supervision.budget());
            report.redact(&redactor);
            let (command, time) =
                (redactor.text(&command_line(&outcome)).into_owned(), spawn.supervision.keep_output);
            output::store(&outcome.captured, &mut report.outputs, &command, time, process);
            Ok(print_json(&report, outcome.code()))
        }
        Ok(outcome) => {
            if recorder.session().is_some() {
                let time = spawn.supervision.keep_output;
                output::keep(&outcome.captured, &redactor.text(&command_line(&outcome)), time, process);
            }
            Ok(outcome.code())
        }
        Err(failure) if json => Ok(print_json(&ErrorReport::new(&failure, &redactor), failure.status)),
        Err(failure) => Err(failure),
    }
}

fn supervise(
    spawn: &mut SpawnArguments,
    record: &RunRecord,
    process: &ProcessContext,
) -> Result<JobOutcome, Failure> {
    // Opening a FIFO waits for its writer.
    let input = spawn.supervision.input()?;
    if spawn.supervision.json {
        // Only haft may write the result to standard output.
        protect_process(Tracing::Allowed)?;
    }
    let signals = host::SignalHandler::start()?;
    let host = host::set_up(process);
    host.warnings().iter().for_each(print_message);
    let name = spawn.program.program.first().cloned().unwrap_or_default();
    let directory = spawn.program.environment.cwd.clone();
    let command = command(spawn, process)?;
    let supervision = &spawn.supervision;
    let shown = OutputPrinter::new(supervision.limit_output, supervision.timeout, &signals.cancel);
    let task = Task::new(command).supervision(supervision.options(input, &signals.cancel, &shown)?);
    let raw = supervision.raw_terminal();
    let job = task.start(&host).map_err(|error| program::start_failure(error, &name, "haft run -c"))?;
    record.begin_as(Some(&job.controller()), directory.as_deref());
    if supervision.follows_size() {
        let controller = job.controller();
        signals.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome = end_leftovers(job.wait(), spawn);
    outcome.working_directory = outcome.working_directory.or_else(|| process.directory_or_link());
    drop(raw);
    shown.finish();
    supervision.explain(&Ending {
        name: &program_name(&outcome),
        timed_out: outcome.timed_out,
        cancelled: outcome.cancelled,
        signal: signals.cancelled_by(),
        needed_input: outcome.needed_input,
        tree: &outcome.tree,
    });
    supervision.explain_limits(&outcome.limits);
    Ok(outcome)
}

/// The program and its arguments as text.
fn command_line(outcome: &JobOutcome) -> String {
    let words: Vec<_> = outcome.argv.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn program_name(outcome: &JobOutcome) -> String {
    outcome.argv.first().map(|program| program.display().to_string()).unwrap_or_default()
}

/// Ends the processes that the program left running: the run that they belong to is over.
fn end_leftovers(mut outcome: JobOutcome, spawn: &SpawnArguments) -> JobOutcome {
    let Some(left) = outcome.adopted.take() else { return outcome };
    left.wait_for(LEFTOVER_GRACE);
    left.controller().set_grace(spawn.supervision.grace.unwrap_or(LEFTOVER_GRACE));
    if let Some(end) = left.end() {
        outcome.tree.add_leftovers(&end.tree);
        outcome.limits = end.limits;
        outcome.duration = end.duration;
        spawn.supervision.explain_leftovers(&program_name(&outcome), end.tree.killed);
    }
    outcome
}

fn command(spawn: &mut SpawnArguments, process: &ProcessContext) -> Result<Command, Failure> {
    let arguments = std::mem::take(&mut spawn.program);
    let exact = arguments.environment.clear_env;
    let mut command = program::command(arguments, process)?;
    command.exact_environment(exact);
    for (number, descriptor) in program::kept_descriptors(&spawn.supervision.keep_descriptors)? {
        command.descriptor(number, descriptor);
    }
    if spawn.supervision.merge {
        command.descriptor(2, haft_process::DescriptorSource::Inherit(1));
    }
    command.parent_death_signal(haft_process::Signals::KILL);
    Ok(command)
}
