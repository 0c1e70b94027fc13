//! The `haft` command: the handle an AI agent holds the machine by.
#![cfg_attr(not(test), no_main)]

mod arguments;
mod commands;
mod failure;
mod host;
mod log;
mod panics;
mod places;
mod process_context;
mod repl;
mod sessions;
mod shell;
#[cfg(not(test))]
mod sys;
mod tools;
mod units;

use clap::Parser as _;

use crate::arguments::{CommandLine, HaftCommand};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// Runs what the arguments ask for, a script or a command, and answers with its exit status.
fn run() -> i32 {
    haft_process::claim_signals();
    let process = ProcessContext::capture();
    if let Err(failure) = panics::prepare(&process) {
        return failure.show();
    }
    let result = match shell::words(&process) {
        Some(words) => shell::run(words, &process),
        None => match CommandLine::try_parse_from(&process.arguments) {
            Ok(arguments) => run_command(arguments.command, &process),
            Err(error) => return failure::show_usage(&error),
        },
    };
    let status = result.unwrap_or_else(|failure| failure.show());
    log::flush();
    status
}

fn run_command(command: HaftCommand, process: &ProcessContext) -> Result<i32, Failure> {
    if command.supervises() {
        host::enter_guarded();
    }
    log::mask_keys(process.environment.clone());
    match command {
        HaftCommand::Spawn(spawn) => commands::spawn::run(spawn, process),
        HaftCommand::Run(run) => commands::run::run(run, process),
        HaftCommand::Output(output) => commands::output::run(&output, process),
        HaftCommand::Exec(exec) => commands::exec::run(exec, process),
        HaftCommand::Check(check) => commands::check::run(check, process),
        HaftCommand::Plan(plan) => commands::plan::run(plan, process),
        HaftCommand::Launch(launch) => commands::launch::run(*launch, process),
        HaftCommand::Tool(tool) => commands::tool::run(tool, process),
        HaftCommand::Trust(trust) => commands::trust::run(&trust, process),
        HaftCommand::Mcp(mcp) => commands::mcp::run(&mcp, process),
        HaftCommand::Watch => commands::watch::run(),
    }
}

/// The tests have a start of their own; this is what makes everything else reachable in them.
#[cfg(test)]
fn main() {
    run();
}
