//! `haft spawn`: a supervised child.

use haft_process::{Command, JobOutcome, Redactor, Task, Tracing, protect_process};

use crate::arguments::SpawnArguments;
use crate::commands::print::print_json;
use crate::commands::supervise::{LEFTOVER_GRACE, OutputPrinter, report, terminal};
use crate::commands::{output, program};
use crate::failure::{Failure, print_message};
use crate::host;
use crate::process_context::ProcessContext;

/// Runs the program, shows what it writes, and answers with its status.
pub(crate) fn run(mut spawn: SpawnArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let json = spawn.supervise.json;
    let redactor = if json { program::redactor(&spawn.start.place, process) } else { Redactor::default() };
    match supervise(&mut spawn, process) {
        Ok(outcome) if json => {
            let mut report = outcome.report(spawn.supervise.budget());
            report.redact(&redactor);
            let words: Vec<_> = outcome.argv.iter().map(|word| word.to_string_lossy()).collect();
            let time = spawn.supervise.keep_output;
            output::keep(
                &outcome.captured,
                &mut report.outputs,
                &redactor.text(&words.join(" ")),
                time,
                process,
            );
            Ok(print_json(&report, outcome.code()))
        }
        Ok(outcome) => Ok(outcome.code()),
        Err(failure) if json => {
            Ok(print_json(&report::StartFailure::new(&failure, &redactor), failure.status))
        }
        Err(failure) => Err(failure),
    }
}

fn supervise(spawn: &mut SpawnArguments, process: &ProcessContext) -> Result<JobOutcome, Failure> {
    // May wait for whoever opens its other end, and does so as any program would.
    let input = spawn.supervise.input()?;
    if spawn.supervise.json {
        // The answer on standard output is ours alone.
        protect_process(Tracing::Allowed)?;
    }
    let signals = host::SignalHandler::start()?;
    let host = host::set_up(process);
    host.warnings().iter().for_each(print_message);
    let command = command(spawn, process)?;
    let supervise = &spawn.supervise;
    let shown = OutputPrinter::new(supervise.limit_output, supervise.timeout, &signals.cancel);
    let task = Task::new(command).supervision(supervise.options(input, &signals.cancel, &shown)?);
    let raw = supervise.raw_terminal();
    let job = task.start(&host)?;
    if supervise.follows_size() {
        let controller = job.controller();
        signals.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome = finish(job.wait(), spawn);
    // It has started where we are; to enter that by its name might not even be allowed.
    outcome.working_directory = outcome.working_directory.or_else(|| process.working_directory.clone());
    drop(raw);
    shown.finish();
    if !supervise.json {
        supervise.explain(&program(&outcome), outcome.timed_out, outcome.needed_input, &outcome.tree);
    }
    supervise.explain_limits(&outcome.limits);
    Ok(outcome)
}

fn program(outcome: &JobOutcome) -> String {
    outcome.argv.first().map(|program| program.display().to_string()).unwrap_or_default()
}

/// Ends what the program has left behind: it belongs to this run, which is over.
fn finish(mut outcome: JobOutcome, spawn: &SpawnArguments) -> JobOutcome {
    let Some(left) = outcome.adopted.take() else { return outcome };
    left.wait_for(LEFTOVER_GRACE);
    left.controller().set_grace(spawn.supervise.grace.unwrap_or(LEFTOVER_GRACE));
    if let Some(end) = left.end() {
        outcome.tree.add_leftovers(&end.tree);
        outcome.limits = end.limits;
        outcome.duration = end.duration;
        spawn.supervise.explain_leftovers(&program(&outcome), end.tree.killed);
    }
    outcome
}

fn command(spawn: &mut SpawnArguments, process: &ProcessContext) -> Result<Command, Failure> {
    let start = std::mem::take(&mut spawn.start);
    let exact = start.place.clear_env;
    let mut command = program::command(start, process)?;
    command.exact_environment(exact);
    if spawn.supervise.merge {
        command.descriptor(2, haft_process::DescriptorSource::Inherit(1));
    }
    command.parent_death_signal(haft_process::Signals::KILL);
    Ok(command)
}
