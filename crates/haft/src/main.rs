//! The `haft` command: runs bash scripts, programs and tools for AI agents.
#![cfg_attr(not(test), no_main)]

mod arguments;
mod commands;
mod enforcement;
mod failure;
mod host;
mod host_commands;
mod json;
#[cfg(test)]
mod json_docs;
mod log;
mod panics;
mod places;
mod policy;
mod process_context;
mod records;
mod repl;
mod sessions;
mod shell;
#[cfg(not(test))]
mod sys;
mod tools;
mod units;
mod usage;

use haft_overlay::Overlay;
use haft_process::Redactor;

use crate::arguments::{CommandLine, HaftCommand};
use crate::commands::print::print_json;
use crate::failure::Failure;
use crate::json::ErrorReport;
use crate::process_context::ProcessContext;
use crate::records::Recorder;
use crate::usage::Refusal;

/// Runs the script or command that the arguments name. Returns its exit status.
fn run() -> i32 {
    haft_process::claim_signals();
    let process = ProcessContext::capture();
    if let Err(failure) = panics::install_hook(&process) {
        return failure.print();
    }
    let status = match shell::arguments_of(&process) {
        Some(words) => shell::run(words, &process).unwrap_or_else(|failure| failure.print()),
        None => parse_and_run(&process),
    };
    log::flush();
    status
}

fn parse_and_run(process: &ProcessContext) -> i32 {
    let (failure, json) = match CommandLine::parse_arguments(&process.arguments) {
        Ok(command) => {
            let json = command.prints_json();
            match run_command(command, process) {
                Ok(status) => return status,
                Err(failure) => (failure, json),
            }
        }
        Err(error) => match usage::refuse(&error, &process.arguments) {
            Refusal::Printed(status) => return status,
            Refusal::Wrong(failure) => (failure, usage::asks_for_json(&process.arguments)),
        },
    };
    if json {
        let redactor = Redactor::new(process.environment.iter());
        return print_json(&ErrorReport::new(&failure, &redactor), failure.status);
    }
    failure.print()
}

fn run_command(command: HaftCommand, process: &ProcessContext) -> Result<i32, Failure> {
    // Before the overlay, in which the journal would not be the real one.
    let recorder = command.recorder(process);
    let traced = recorder.traced(process);
    let process = traced.as_ref().unwrap_or(process);
    // A process with several threads cannot enter a user namespace, and a guarded process has two.
    let overlay = command.enter_overlay(process)?;
    if command.supervises() {
        host::enter_guarded();
    }
    log::mask_keys(process.environment.clone());
    let limited = command.policy().map(|options| enforcement::apply(&options, process)).transpose()?;
    let process = limited.as_ref().unwrap_or(process);
    let result = start_command(command, overlay, &recorder, process);
    recorder.finish();
    result
}

fn start_command(
    command: HaftCommand,
    overlay: Option<Overlay>,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    match command {
        HaftCommand::Spawn(spawn) => commands::spawn::run(spawn, recorder, process),
        HaftCommand::Run(run) => commands::run::run(run, overlay, recorder, process),
        HaftCommand::Output(output) => commands::output::run(&output, process),
        HaftCommand::Changes(changes) => commands::changes::run(changes, process),
        HaftCommand::Ps(ps) => commands::ps::run(&ps, process),
        HaftCommand::Kill(kill) => commands::kill::run(&kill, process),
        HaftCommand::Attach(attach) => commands::attach::run(&attach, process),
        HaftCommand::Log(log) => commands::log::run(&log, process),
        HaftCommand::Watch(watch) => commands::watch::run(&watch, process),
        HaftCommand::Exec(exec) => commands::exec::run(exec, process),
        HaftCommand::Check(check) => commands::check::run(check, process),
        HaftCommand::Plan(plan) => commands::plan::run(plan, process),
        HaftCommand::Policy(policy) => commands::policy::run(policy, process),
        HaftCommand::Hook(hook) => commands::hook::run(&hook, recorder, process),
        HaftCommand::Launch(launch) => commands::launch::run(*launch, recorder, process),
        HaftCommand::Tool(tool) => commands::tool::run(tool, recorder, process),
        HaftCommand::Trust(trust) => commands::trust::run(&trust, process),
        HaftCommand::Mcp(mcp) => commands::mcp::run(&mcp, overlay, recorder, process),
        HaftCommand::Man(man) => commands::man::run(&man),
        HaftCommand::Completions(completions) => Ok(commands::completions::run(&completions)),
        HaftCommand::Doctor(doctor) => commands::doctor::run(&doctor, process),
        HaftCommand::Version(version) => Ok(commands::doctor::version::run(version.json)),
        HaftCommand::Watcher => commands::watcher::run(),
        HaftCommand::ScatterWorker => commands::scatter_worker::run(process),
    }
}

/// Tests have an entry point of their own; this one makes the rest of the program reachable in them.
#[cfg(test)]
fn main() {
    run();
}
