//! `haft log`: list, show, count and verify the records of runs.

mod replay;
pub(crate) mod show;
mod stats;
pub(crate) mod table;
mod verify;

use std::time::Duration;

use clap::{Args, Subcommand};
use haft_records::{RunFilter, RunList, TextPattern};
use schemars::JsonSchema;
use serde::Serialize;

use self::replay::ReplayArguments;
use crate::commands::print::{print_json, print_text};
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::{records, units};

/// How many runs are listed without `--limit`.
const DEFAULT_LIMIT: usize = 100;

const EXAMPLES: &str = "Examples:
  haft log                                 # the last 100 runs, latest last
  haft log --since 1h --failed             # what failed in the last hour
  haft log --grep 'cargo (test|build)'     # runs of certain commands
  haft log stats --since 7d                # sums per day, agent and program
  haft log replay run-12                   # play the output of a run on a terminal
  haft log verify                          # whether a record was removed or changed

'haft run', 'spawn', 'tool call', 'launch' and the calls of MCP clients are recorded. The section [records] of the
configuration switches records off and limits them.";
const SHOW_EXAMPLES: &str = "Examples:
  haft run --json -c 'seq 3' | jq -r .id | xargs haft log show";
const STATS_EXAMPLES: &str = "Examples:
  haft log stats
  haft log stats --since 1d --agent claude";
const VERIFY_EXAMPLES: &str = "Examples:
  haft log verify && echo complete";

const FILTER: &str = "Filter";
const FORMAT: &str = "Format";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct LogArguments {
    #[command(subcommand)]
    pub(crate) command: Option<LogSubcommand>,
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// List at most this many runs, the latest; 0 lists all [default: 100]
    #[arg(long, short = 'n', value_name = "NUMBER", help_heading = FORMAT)]
    pub(crate) limit: Option<usize>,
    /// Print one JSON object
    #[arg(long, help_heading = FORMAT)]
    pub(crate) json: bool,
}

/// Which runs a command is about.
#[derive(Args, Debug)]
pub(crate) struct FilterArguments {
    /// Only runs that started at most this long ago, such as 90s, 1h or 7d
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = FILTER)]
    pub(crate) since: Option<Duration>,
    /// Only runs that failed
    #[arg(long, help_heading = FILTER)]
    pub(crate) failed: bool,
    /// Only runs of this session
    #[arg(long, value_name = "NAME", help_heading = FILTER)]
    pub(crate) session: Option<String>,
    /// Only runs of this agent or MCP client
    #[arg(long, value_name = "NAME", help_heading = FILTER)]
    pub(crate) agent: Option<String>,
    /// Only runs whose script, command line or tool call matches a regular expression
    #[arg(long, value_name = "PATTERN", help_heading = FILTER)]
    pub(crate) grep: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogSubcommand {
    /// Show everything about one run
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The id of the run, or its beginning
        #[arg(value_name = "ID")]
        id: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Play the output of a run on a terminal again, or write it as an asciicast
    #[command(after_help = replay::EXAMPLES)]
    Replay(ReplayArguments),
    /// Add up runs, failures, time and output: per day, agent and program
    #[command(after_help = STATS_EXAMPLES)]
    Stats {
        #[command(flatten)]
        filter: FilterArguments,
        /// Print one JSON object
        #[arg(long, help_heading = FORMAT)]
        json: bool,
    },
    /// Check that no record was removed, changed, moved or cut
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// The runs that match.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RunListReport<'a> {
    #[serde(flatten)]
    list: &'a RunList,
}

impl LogArguments {
    /// Whether the result, or a failure, is printed as JSON.
    pub(crate) fn prints_json(&self) -> bool {
        match &self.command {
            None => self.json,
            Some(
                LogSubcommand::Show { json, .. }
                | LogSubcommand::Stats { json, .. }
                | LogSubcommand::Verify { json },
            ) => *json,
            Some(LogSubcommand::Replay(_)) => false,
        }
    }
}

impl FilterArguments {
    fn filter(&self) -> Result<RunFilter, Failure> {
        let ago = |since: Duration| u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Ok(RunFilter {
            since: self.since.map(|since| records::now().saturating_sub(ago(since))),
            failed: self.failed,
            session: self.session.clone(),
            agent: self.agent.clone(),
            grep: self.grep.as_deref().map(TextPattern::new).transpose().map_err(Failure::usage)?,
            ..RunFilter::default()
        })
    }
}

/// Lists the runs, or does what the subcommand says.
pub(crate) fn run(arguments: &LogArguments, process: &ProcessContext) -> Result<i32, Failure> {
    match &arguments.command {
        None => list(arguments, process),
        Some(LogSubcommand::Show { id, json }) => show::run(id, *json, process),
        Some(LogSubcommand::Replay(arguments)) => replay::run(arguments, process),
        Some(LogSubcommand::Stats { filter, json }) => stats::run(&filter.filter()?, *json, process),
        Some(LogSubcommand::Verify { json }) => verify::run(*json, process),
    }
}

fn list(arguments: &LogArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let limit = Some(arguments.limit.unwrap_or(DEFAULT_LIMIT)).filter(|limit| *limit > 0);
    let filter = RunFilter { limit, ..arguments.filter.filter()? };
    let list = records::store(process)?.runs(&filter).map_err(|error| cannot_read(&error))?;
    if arguments.json {
        return Ok(print_json(&RunListReport { list: &list }, 0));
    }
    if list.omitted > 0 {
        print_message(format_args!(
            "{} not shown; '--limit 0' shows all",
            units::count(list.omitted, "earlier run")
        ));
    }
    Ok(print_text(&table::runs(&list.runs), 0))
}

/// The failure of a command that cannot read the records.
pub(crate) fn cannot_read(error: &std::io::Error) -> Failure {
    Failure::new(format_args!("the records cannot be read: {}", haft_process::reason(error)), 1)
}
