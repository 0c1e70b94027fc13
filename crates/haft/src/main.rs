//! The `haft` command: the handle an AI agent holds the machine by.
#![cfg_attr(not(test), no_main)]

mod arguments;
mod commands;
mod failure;
mod host;
mod log;
mod panics;
mod places;
mod repl;
mod sessions;
mod shell;
mod surroundings;
#[cfg(not(test))]
mod sys;
mod tools;
mod units;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Runs what the arguments ask for, a script or a command, and answers with its exit status.
fn run() -> i32 {
    haft_process::own_signals();
    let surroundings = Surroundings::capture();
    if let Err(failure) = panics::prepare(&surroundings) {
        return failure.show();
    }
    let result = match shell::words(&surroundings) {
        Some(words) => shell::run(words, &surroundings),
        None => match Arguments::try_parse_from(&surroundings.arguments) {
            Ok(arguments) => run_command(arguments.command, &surroundings),
            Err(error) => return failure::show_usage(&error),
        },
    };
    let status = result.unwrap_or_else(|failure| failure.show());
    log::flush();
    status
}

fn run_command(command: Command, surroundings: &Surroundings) -> Result<i32, Failure> {
    if command.supervises() {
        host::enter_guarded();
    }
    log::mask_keys(surroundings.environment.clone());
    match command {
        Command::Spawn(spawn) => commands::spawn::run(spawn, surroundings),
        Command::Run(run) => commands::run::run(run, surroundings),
        Command::Output(output) => commands::stored::run(&output, surroundings),
        Command::Exec(exec) => commands::exec::run(exec, surroundings),
        Command::Check(check) => commands::check::run(check, surroundings),
        Command::Plan(plan) => commands::plan::run(plan, surroundings),
        Command::Launch(launch) => commands::launch::run(*launch, surroundings),
        Command::Tool(tool) => commands::tool::run(tool, surroundings),
        Command::Trust(trust) => commands::trust::run(&trust, surroundings),
        Command::Mcp(mcp) => commands::mcp::run(&mcp, surroundings),
        Command::Watch => commands::watch::run(),
    }
}

/// The tests have a start of their own; this is what makes everything else reachable in them.
#[cfg(test)]
fn main() {
    run();
}
