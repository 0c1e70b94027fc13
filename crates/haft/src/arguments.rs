//! The command line, as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::commands::launch::arguments::LaunchArguments;
use crate::commands::tool::arguments::ToolArguments;
use crate::units;

/// Runs real programs for agents: with deadlines that hold, output that is not lost and nothing left behind.
#[derive(Debug, Parser)]
#[command(name = "haft", version, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: HaftCommand,
}

impl CommandLine {
    /// Whether a word is the name of a command of haft's own.
    pub(crate) fn has_command(word: &[u8]) -> bool {
        std::str::from_utf8(word).is_ok_and(|word| CommandLine::command().find_subcommand(word).is_some())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum HaftCommand {
    /// Run a program under supervision: its output streams through, its status is haft's
    Spawn(SpawnArguments),
    /// Run a script under supervision: bash, within haft; with --json the whole outcome
    Run(RunArguments),
    /// Become a program: same process, same terminal, nothing of haft remains
    Exec(ExecArguments),
    /// Show an output of an earlier 'run --json' or 'spawn --json' by its id, or list those that are kept
    Output(OutputArguments),
    /// Say what is wrong with a script before anything runs
    Check(CheckArguments),
    /// Show what a script would run, read and write
    Plan(PlanArguments),
    /// Launch an agent with its role, context and task, and become it
    Launch(Box<LaunchArguments>),
    /// Show, call and write tools: executables that speak JSON
    Tool(ToolArguments),
    /// Allow what a project brings to run, after showing it; by content, until it changes
    Trust(TrustArguments),
    /// Serve the tools of haft to an agent, over the Model Context Protocol
    Mcp(McpArguments),
    /// Clean up after the process that holds the other end of standard input
    #[command(name = "__watch", hide = true)]
    Watch,
}

impl HaftCommand {
    /// Whether it starts programs and stays until they have ended.
    pub(crate) fn supervises(&self) -> bool {
        match self {
            HaftCommand::Spawn(_) | HaftCommand::Run(_) | HaftCommand::Tool(_) => true,
            HaftCommand::Mcp(mcp) => mcp.print_config.is_none(),
            HaftCommand::Launch(launch) => launch.is_supervised(),
            HaftCommand::Exec(_)
            | HaftCommand::Check(_)
            | HaftCommand::Plan(_)
            | HaftCommand::Trust(_)
            | HaftCommand::Output(_)
            | HaftCommand::Watch => false,
        }
    }
}

/// Where something starts, and with which environment.
#[derive(Args, Debug, Default)]
pub(crate) struct EnvironmentOptions {
    /// Start in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set an environment variable, or with a bare NAME remove it
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) variables: Vec<OsString>,
    /// Start with no environment but what --env sets
    #[arg(long)]
    pub(crate) clear_env: bool,
}

/// What a program starts with.
#[derive(Args, Debug, Default)]
pub(crate) struct ProgramArguments {
    #[command(flatten)]
    pub(crate) place: EnvironmentOptions,
    /// The program, found by PATH unless it has a slash, and its arguments
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true)]
    pub(crate) program: Vec<OsString>,
}

/// How something is supervised.
#[derive(Args, Debug)]
pub(crate) struct SupervisionArguments {
    /// End it, with all its descendants, after this time; the status is then 124
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Give it this time to end by itself before it is killed [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) grace: Option<Duration>,
    /// Its standard input: a file, '-' for haft's own, or 'null'
    #[arg(long, value_name = "FILE|-|null", default_value = "null")]
    pub(crate) stdin: OsString,
    /// Run it on a terminal of its own, of this size or haft's terminal's
    #[arg(long, value_name = "COLUMNSxROWS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) pty: Option<String>,
    /// Keep standard output and standard error in one stream, in true order
    #[arg(long)]
    pub(crate) merge: bool,
    /// Show at most this much of each output; the rest is counted
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) limit_output: Option<u64>,
    /// Keep at most this much of each output, from its beginning, and its end; the rest is counted [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) output_cap: Option<u64>,
    /// With --json: keep each output for this time, for 'haft output ID'; 0 keeps none [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) keep_output: Option<Duration>,
    /// Let the programs use at most this much memory together, and the script itself as much [default for the script: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) limit_memory: Option<u64>,
    /// Let each program use the processor for at most this time; what a script does itself is not counted
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) limit_cpu: Option<Duration>,
    /// Let there be at most this many processes and threads at once
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit_processes: Option<u64>,
    /// Start nothing unless the kernel enforces every limit for all processes together
    #[arg(long)]
    pub(crate) strict_limits: bool,
    /// Print one JSON object with status, output and resource usage instead of the output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SpawnArguments {
    #[command(flatten)]
    pub(crate) supervise: SupervisionArguments,
    #[command(flatten)]
    pub(crate) start: ProgramArguments,
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) supervise: SupervisionArguments,
    #[command(flatten)]
    pub(crate) place: EnvironmentOptions,
    /// Start no programs: only what runs within haft
    #[arg(long)]
    pub(crate) no_external: bool,
    /// Let programs run on that the script has disowned, or started with nohup or setsid
    #[arg(long)]
    pub(crate) keep_jobs: bool,
    /// Touch nothing of the machine: files in memory, no programs, no environment
    #[arg(long, conflicts_with = "cwd")]
    pub(crate) isolated: bool,
    /// The script itself
    #[arg(short = 'c', value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) command: Option<OsString>,
    /// The script's file, or '-' for standard input, unless -c gives it; and its arguments
    #[arg(value_name = "FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct ExecArguments {
    #[command(flatten)]
    pub(crate) start: ProgramArguments,
}

#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// The id that the result names; without one, all outputs that are kept are listed
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Show this many lines from the beginning
    #[arg(long, value_name = "NUMBER", group = "view", requires = "id")]
    pub(crate) head: Option<u64>,
    /// Show this many lines at the end
    #[arg(long, value_name = "NUMBER", group = "view", requires = "id")]
    pub(crate) tail: Option<u64>,
    /// Show the lines from A to B, counted from 1
    #[arg(long, value_name = "A-B", value_parser = units::range, group = "view", requires = "id")]
    pub(crate) lines: Option<(u64, u64)>,
    /// Show the bytes from A up to but not including B, counted from 0
    #[arg(long, value_name = "A-B", value_parser = units::range, group = "view", requires = "id")]
    pub(crate) bytes: Option<(u64, u64)>,
    /// Show the lines that match a regular expression, with their numbers
    #[arg(long, value_name = "PATTERN", group = "view", requires = "id")]
    pub(crate) grep: Option<String>,
    /// With --grep: show this many lines around each match
    #[arg(long, value_name = "NUMBER", requires = "grep")]
    pub(crate) context: Option<u64>,
    /// Write the bytes as they were, also those that are not text
    #[arg(long, requires = "id", conflicts_with = "grep")]
    pub(crate) raw: bool,
    /// Print one JSON object: the list, or the view with the size of the whole
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
}

/// A script, from wherever it comes.
#[derive(Args, Debug)]
#[group(required = false, multiple = false)]
pub(crate) struct ScriptArguments {
    /// The script's file, or '-' for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<OsString>,
    /// The script itself
    #[arg(short = 'c', value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) command: Option<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) script: ScriptArguments,
    /// Print one JSON object with all that was found
    #[arg(long)]
    pub(crate) json: bool,
    /// Explain a code instead, with examples
    #[arg(long, value_name = "CODE")]
    pub(crate) explain: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) script: ScriptArguments,
    /// Print the plan as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TrustArguments {
    /// Files, or directories with all that is below [default: the project's '.haft']
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Show all that is trusted instead
    #[arg(long, conflicts_with_all = ["revoke", "paths"])]
    pub(crate) list: bool,
    /// Take trust back instead
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Trust without asking
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    pub(crate) yes: bool,
    /// Read the files below these directories whoever owns or may write them; with --revoke, no longer
    #[arg(long, requires = "paths", conflicts_with_all = ["yes", "list"])]
    pub(crate) owner: bool,
    /// Print one JSON object; without --yes it only says what would be trusted
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct McpArguments {
    /// Serve over HTTP at this loopback address, such as 127.0.0.1:8080, instead of standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<String>,
    /// With --http: the file that holds the token which clients must present; made if it is not there
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let sessions and jobs outlive the client that has started them
    #[arg(long)]
    pub(crate) keep: bool,
    /// Offer only the tools of this toolset, or of these names, with commas, besides haft's own
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// Give scripts a variable that looks like a key and is withheld otherwise; '*' gives all
    #[arg(long, value_name = "NAME")]
    pub(crate) env_allow: Vec<String>,
    /// Let programs that run as root trace any process, and so read the server's memory, environment and messages
    #[arg(long)]
    pub(crate) allow_ptrace: bool,
    /// Let each script itself use at most this much memory [default: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) limit_memory: Option<u64>,
    /// Tell every call on standard error, with its duration and what came of it
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print what gives an agent of this kind, such as claude, codex or gemini, this server, and serve nothing
    #[arg(long, value_name = "KIND", conflicts_with_all = ["http", "keep"])]
    pub(crate) print_config: Option<String>,
}
