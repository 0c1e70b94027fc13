//! Options that several commands share.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use haft_policy::Budgets;

use crate::units;

/// Headings of the groups of options in the help.
pub(crate) const ENVIRONMENT: &str = "Environment";
pub(crate) const INPUT_AND_OUTPUT: &str = "Input and output";
pub(crate) const DEADLINE: &str = "Deadline";
pub(crate) const LIMITS: &str = "Limits";

/// The working directory and environment of a program or script.
#[derive(Args, Debug, Default)]
pub(crate) struct EnvironmentOptions {
    /// Start in this directory
    #[arg(long, value_name = "DIR", help_heading = ENVIRONMENT)]
    pub(crate) cwd: Option<PathBuf>,
    /// Set an environment variable; a bare NAME removes it
    #[arg(long = "env", value_name = "NAME=VALUE", help_heading = ENVIRONMENT)]
    pub(crate) variables: Vec<OsString>,
    /// Start with an empty environment, except for what --env sets
    #[arg(long, help_heading = ENVIRONMENT)]
    pub(crate) clear_env: bool,
}

/// A program with its arguments and environment.
#[derive(Args, Debug, Default)]
pub(crate) struct ProgramArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// The program, searched in PATH unless it contains a slash, and its arguments
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, required = true)]
    pub(crate) program: Vec<OsString>,
}

/// How `run` and `spawn` supervise what they start.
#[derive(Args, Debug)]
pub(crate) struct SupervisionArguments {
    /// End all its processes after this time; the exit status is then 124
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = DEADLINE)]
    pub(crate) timeout: Option<Duration>,
    /// Wait this long between SIGTERM and SIGKILL [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = DEADLINE)]
    pub(crate) grace: Option<Duration>,
    /// Standard input: 'inherit' (or '-'), 'null' or a FILE [default: inherit; null with --json]
    #[arg(long, value_name = "inherit|null|FILE", help_heading = INPUT_AND_OUTPUT)]
    pub(crate) stdin: Option<OsString>,
    /// Run it on a terminal of its own, of this size or that of haft's terminal; keys typed here reach it
    #[arg(
        long,
        value_name = "COLUMNSxROWS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = INPUT_AND_OUTPUT
    )]
    pub(crate) pty: Option<String>,
    /// Merge standard error into standard output, in the order of writing
    #[arg(long, help_heading = INPUT_AND_OUTPUT)]
    pub(crate) merge: bool,
    /// Show at most this much of each output, half from the beginning and half from the end
    #[arg(long, value_name = "SIZE", value_parser = units::size, help_heading = INPUT_AND_OUTPUT)]
    pub(crate) limit_output: Option<u64>,
    /// Store at most this much of each output, and its last 64 KiB [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = units::size, help_heading = INPUT_AND_OUTPUT)]
    pub(crate) output_cap: Option<u64>,
    /// Keep each captured output this long for 'haft output ID' and 'haft log replay'; 0 keeps none [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = INPUT_AND_OUTPUT)]
    pub(crate) keep_output: Option<Duration>,
    /// Print one JSON object with status, output and resource usage instead of the output
    #[arg(long, help_heading = INPUT_AND_OUTPUT)]
    pub(crate) json: bool,
    /// Memory of the script and all programs together [default for the script: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = units::size, help_heading = LIMITS)]
    pub(crate) limit_memory: Option<u64>,
    /// CPU time of each program; the work of the script itself is not counted
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = LIMITS)]
    pub(crate) limit_cpu: Option<Duration>,
    /// Number of processes and threads at once
    #[arg(long, value_name = "NUMBER", help_heading = LIMITS)]
    pub(crate) limit_processes: Option<u64>,
    /// Let it inherit this file descriptor of haft, 3 or more; can be repeated
    #[arg(long = "keep-fd", value_name = "N", value_parser = clap::value_parser!(i32).range(3..), help_heading = INPUT_AND_OUTPUT)]
    pub(crate) keep_descriptors: Vec<i32>,
    /// Fail unless the kernel enforces every limit for all processes together
    #[arg(long, help_heading = LIMITS)]
    pub(crate) strict_limits: bool,
    /// Whether a policy limits the output, so that it must be counted.
    #[arg(skip)]
    pub(crate) counts_output: bool,
}

impl SupervisionArguments {
    /// Applies the budgets of a policy where they are smaller than the options.
    pub(crate) fn tighten(&mut self, budgets: &Budgets) {
        tighten(&mut self.timeout, budgets.wall);
        tighten(&mut self.limit_cpu, budgets.cpu);
        tighten(&mut self.limit_memory, budgets.memory);
        tighten(&mut self.limit_processes, budgets.processes);
        tighten(&mut self.output_cap, budgets.output);
        self.counts_output = budgets.output.is_some();
        if *budgets != Budgets::default() {
            self.grace.get_or_insert(BUDGET_GRACE);
        }
    }
}

/// The grace period of a run with budgets, which must end within a second.
const BUDGET_GRACE: Duration = Duration::from_millis(500);

/// Lowers a limit to another one.
fn tighten<T: Copy + Ord>(limit: &mut Option<T>, other: Option<T>) {
    *limit = match (*limit, other) {
        (Some(limit), Some(other)) => Some(limit.min(other)),
        (limit, other) => limit.or(other),
    };
}

/// A script: a file, standard input or text.
#[derive(Args, Debug)]
#[group(required = false, multiple = false)]
pub(crate) struct ScriptArguments {
    /// The script's file; '-' reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<OsString>,
    /// The script's text
    #[arg(short = 'c', value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) command: Option<OsString>,
}
