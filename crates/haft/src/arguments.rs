//! The command line of haft: its commands, and the help that shows them.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use haft_overlay::Overlay;

use crate::commands::attach::AttachArguments;
use crate::commands::changes::arguments::ChangesArguments;
use crate::commands::check::CheckArguments;
use crate::commands::completions::CompletionsArguments;
use crate::commands::doctor::DoctorArguments;
use crate::commands::doctor::version::VersionArguments;
use crate::commands::exec::ExecArguments;
use crate::commands::hook::arguments::HookArguments;
use crate::commands::kill::KillArguments;
use crate::commands::launch::arguments::LaunchArguments;
use crate::commands::log::LogArguments;
use crate::commands::man::ManArguments;
use crate::commands::mcp::McpArguments;
use crate::commands::output::OutputArguments;
use crate::commands::plan::PlanArguments;
use crate::commands::policy::arguments::PolicyArguments;
use crate::commands::ps::PsArguments;
use crate::commands::run::RunArguments;
use crate::commands::spawn::SpawnArguments;
use crate::commands::tool::arguments::ToolArguments;
use crate::commands::trust::TrustArguments;
use crate::commands::watch::WatchArguments;
use crate::enforcement::PolicyOptions;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::records::{self, Recorder};

const USAGE: &str = "haft                                      start an interactive shell
       haft -c TEXT [NAME [ARGUMENT]...]         run a script given as text, as bash would
       haft [OPTION]... FILE [ARGUMENT]...       run a script file
       haft -s [ARGUMENT]...                     run the script on standard input
       haft COMMAND [OPTION]... [ARGUMENT]...    run one of the commands below";

const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}";

/// The commands by purpose, in the order in which the help lists them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Run scripts and programs under supervision", &["run", "spawn", "output", "changes", "exec"]),
    ("Inspect a script before it runs", &["check", "plan", "policy"]),
    ("See what runs and what ran", &["ps", "kill", "attach", "log", "watch"]),
    ("Agents and tools", &["launch", "tool", "mcp", "hook", "trust"]),
    ("Help", &["help", "doctor", "man", "completions", "version"]),
];

const OPTIONS: &str = "Options:
  -h, --help     Print help; 'haft COMMAND --help' for one command
  -V, --version  Print the version
  As a shell, haft takes the options of bash: -e, -u, -x, -o NAME, -O NAME, -i, -l, --norc, ...";

const EXAMPLES: &str = "Examples:
  haft -c 'echo hello | tr a-z A-Z'        # a script, as 'bash -c' runs it
  haft run --timeout 30s -c 'make test'    # with a deadline for everything it starts
  haft spawn --json -- ls /                # one program; status and output as JSON
  haft check -c 'rm -rf \"$dir\"/*'          # likely mistakes, before anything runs
  haft tool list                           # tools that scripts and agents can call
  haft mcp --print-config claude           # connect an agent to haft";

/// haft runs bash scripts, programs and tools for AI agents: deadlines that end every process, output that is never lost
#[derive(Debug, Parser)]
#[command(name = "haft", version, override_usage = USAGE, help_template = TEMPLATE)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: HaftCommand,
}

impl CommandLine {
    /// Parses the arguments of the process, the program's name first.
    ///
    /// # Errors
    /// If they are not a valid command, or ask for help.
    pub(crate) fn parse_arguments(arguments: &[OsString]) -> Result<HaftCommand, clap::Error> {
        let matches = CommandLine::definition().try_get_matches_from(arguments)?;
        Ok(CommandLine::from_arg_matches(&matches)?.command)
    }

    /// The commands with their options and help.
    pub(crate) fn definition() -> clap::Command {
        let command = CommandLine::command();
        let help = format!("{}\n{OPTIONS}\n\n{EXAMPLES}", list_commands(&command));
        command.after_help(help)
    }

    /// Whether a word is the name of a command.
    pub(crate) fn has_command(word: &[u8]) -> bool {
        word == b"help"
            || std::str::from_utf8(word)
                .is_ok_and(|word| CommandLine::command().find_subcommand(word).is_some())
    }

    /// The command that a mistyped word probably means.
    pub(crate) fn nearest_command(word: &[u8]) -> Option<&'static str> {
        let word = std::str::from_utf8(word).ok()?;
        let names = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        haft_config::nearest(word, names)
    }
}

fn list_commands(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in names {
            let about = match command.find_subcommand(name).and_then(clap::Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print the help of a command: haft help COMMAND".to_owned(),
            };
            let _ = writeln!(text, "  {name:13}{about}");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

#[derive(Debug, Subcommand)]
pub(crate) enum HaftCommand {
    /// Run a bash script; its output streams through, its exit status is haft's
    Run(RunArguments),
    /// Run a program; its output streams through, its exit status is haft's
    Spawn(SpawnArguments),
    /// Replace haft with a program: same process, same terminal
    Exec(ExecArguments),
    /// Show a stored output of an earlier 'run --json' or 'spawn --json'
    Output(OutputArguments),
    /// Look at changes made with 'run --overlay'; keep, discard or undo them
    Changes(ChangesArguments),
    /// List what haft runs now
    Ps(PsArguments),
    /// End a run with all its processes
    Kill(KillArguments),
    /// Show the output of a run while it goes on
    Attach(AttachArguments),
    /// List, show and count what haft ran, and for whom
    Log(LogArguments),
    /// Show what runs and what ran on a web page of this machine
    Watch(WatchArguments),
    /// Report errors and likely mistakes in a script
    Check(CheckArguments),
    /// List what a script would run, read and write
    Plan(PlanArguments),
    /// Decide what scripts may do: check, explain, test and import policies
    Policy(PolicyArguments),
    /// Start an agent CLI with its role, context and task
    Launch(Box<LaunchArguments>),
    /// List, call, check and create tools: executables that speak JSON
    Tool(ToolArguments),
    /// Allow a project's tools and configuration to run
    Trust(TrustArguments),
    /// Serve haft's tools to an agent over the Model Context Protocol
    Mcp(McpArguments),
    /// Answer an agent's hooks from the policy, before it runs a command
    Hook(HookArguments),
    /// Check what works on this machine, and say what to do about the rest
    Doctor(DoctorArguments),
    /// Print or write the manual pages
    Man(ManArguments),
    /// Print a script that completes haft's command line in a shell
    Completions(CompletionsArguments),
    /// Print the version
    Version(VersionArguments),
    /// Clean up after the process at the other end of standard input
    #[command(name = "__watch", hide = true)]
    Watcher,
    /// Run items that 'scatter' on another machine sends on standard input
    #[command(name = "__scatter-worker", hide = true)]
    ScatterWorker,
}

impl HaftCommand {
    /// Moves this process into the overlay that the command works on, if there is one. There must be no other thread yet.
    ///
    /// # Errors
    /// If a directory cannot be overlaid.
    pub(crate) fn enter_overlay(&self, process: &ProcessContext) -> Result<Option<Overlay>, Failure> {
        match self {
            HaftCommand::Run(run) => run.enter_overlay(process),
            HaftCommand::Mcp(mcp) => mcp.overlay.enter(process, None),
            _ => Ok(None),
        }
    }

    /// Opens the journal, if the command starts something that is recorded.
    pub(crate) fn recorder(&self, process: &ProcessContext) -> Recorder {
        match self {
            HaftCommand::Spawn(_) | HaftCommand::Run(_) => Recorder::open(process, None),
            HaftCommand::Tool(tool) if tool.command.calls_tools() => Recorder::open(process, None),
            HaftCommand::Hook(hook) if hook.action.is_call() => Recorder::open(process, None),
            HaftCommand::Mcp(mcp) if mcp.serves() => {
                Recorder::open(process, Some(records::new_session("mcp")))
            }
            HaftCommand::Launch(launch) if launch.starts_agent() => {
                Recorder::open(process, Some(records::new_session("launch")))
            }
            _ => Recorder::default(),
        }
    }

    /// The policy of a command that runs something for an agent.
    pub(crate) fn policy(&self) -> Option<PolicyOptions> {
        match self {
            HaftCommand::Run(run) => Some(PolicyOptions {
                directory: run.environment.cwd.clone(),
                asks: !run.supervision.json,
                ..run.policy.clone()
            }),
            HaftCommand::Spawn(spawn) => Some(PolicyOptions {
                directory: spawn.program.environment.cwd.clone(),
                asks: !spawn.supervision.json,
                ..spawn.policy.clone()
            }),
            HaftCommand::Tool(tool) => Some(PolicyOptions { asks: true, ..tool.policy.clone() }),
            HaftCommand::Launch(launch) => launch.policy(),
            HaftCommand::Mcp(mcp) => Some(mcp.policy.clone()),
            _ => None,
        }
    }

    /// Whether the command starts programs and waits for their end.
    pub(crate) fn supervises(&self) -> bool {
        match self {
            HaftCommand::Spawn(_)
            | HaftCommand::Run(_)
            | HaftCommand::Tool(_)
            | HaftCommand::Doctor(_)
            | HaftCommand::ScatterWorker => true,
            HaftCommand::Mcp(mcp) => mcp.serves(),
            HaftCommand::Launch(launch) => launch.is_supervised(),
            HaftCommand::Exec(_)
            | HaftCommand::Check(_)
            | HaftCommand::Plan(_)
            | HaftCommand::Policy(_)
            | HaftCommand::Hook(_)
            | HaftCommand::Trust(_)
            | HaftCommand::Output(_)
            | HaftCommand::Changes(_)
            | HaftCommand::Log(_)
            | HaftCommand::Ps(_)
            | HaftCommand::Kill(_)
            | HaftCommand::Man(_)
            | HaftCommand::Completions(_)
            | HaftCommand::Attach(_)
            | HaftCommand::Watch(_)
            | HaftCommand::Version(_)
            | HaftCommand::Watcher => false,
        }
    }

    /// Whether the result, or a failure, is printed as JSON.
    pub(crate) fn prints_json(&self) -> bool {
        match self {
            HaftCommand::Spawn(spawn) => spawn.supervision.json,
            HaftCommand::Run(run) => run.supervision.json,
            HaftCommand::Output(output) => output.json,
            HaftCommand::Changes(changes) => changes.prints_json(),
            HaftCommand::Log(log) => log.prints_json(),
            HaftCommand::Ps(ps) => ps.json,
            HaftCommand::Check(check) => check.json,
            HaftCommand::Plan(plan) => plan.json,
            HaftCommand::Policy(policy) => policy.prints_json(),
            HaftCommand::Launch(launch) => launch.prints_json(),
            HaftCommand::Tool(tool) => tool.command.prints_json(),
            HaftCommand::Trust(trust) => trust.json,
            HaftCommand::Doctor(doctor) => doctor.json,
            HaftCommand::Version(version) => version.json,
            HaftCommand::Exec(_)
            | HaftCommand::Kill(_)
            | HaftCommand::Mcp(_)
            | HaftCommand::Hook(_)
            | HaftCommand::Man(_)
            | HaftCommand::Completions(_)
            | HaftCommand::Attach(_)
            | HaftCommand::Watch(_)
            | HaftCommand::Watcher
            | HaftCommand::ScatterWorker => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_command_in_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let definition = CommandLine::definition();
        let visible = definition.get_subcommands().filter(|command| !command.is_hide_set());
        let mut commands: Vec<&str> = visible.map(clap::Command::get_name).chain(["help"]).collect();
        commands.sort_unstable();
        let mut sorted = listed;
        sorted.sort_unstable();
        assert_eq!(sorted, commands);
    }

    #[test]
    fn every_command_has_examples_and_every_option_a_group() {
        let definition = CommandLine::definition();
        check_help(&definition, "haft");
    }

    fn check_help(command: &clap::Command, name: &str) {
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let name = format!("{name} {}", inner.get_name());
            let help = inner.get_after_help().map(ToString::to_string).unwrap_or_default();
            let is_plain = ["version"].contains(&inner.get_name());
            assert!(is_plain || help.starts_with("Examples:\n  "), "{name} has no examples");
            let options = inner.get_arguments().filter(|argument| !argument.is_positional());
            let options: Vec<_> = options.filter(|option| option.get_id() != "help").collect();
            let grouped = options.iter().filter(|option| option.get_help_heading().is_some()).count();
            assert!(options.len() <= 4 || grouped == options.len(), "{name} has options without a group");
            check_help(inner, &name);
        }
    }
}
