//! The command line of `haft tool`, as data.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::enforcement::PolicyOptions;
use crate::units;

const EXAMPLES: &str = "Examples:
  haft tool list                               # all tools, with their sources
  haft tool call add a=1 b=2                   # arguments as key=value, --key value or JSON
  haft tool new line_count --lang python       # a working tool to start from";
const LIST_EXAMPLES: &str = "Examples:
  haft tool list
  haft tool list --json | jq -r '.tools[].name'
  haft tool list --wait 1m                     # servers that take long to start";
const SHOW_EXAMPLES: &str = "Examples:
  haft tool show file_read
  haft tool show file_read --json | jq .parameters";
const CALL_EXAMPLES: &str = "Examples:
  haft tool call add a=1 b=2
  haft tool call add '{\"a\": 1, \"b\": 2}'
  echo '{\"a\": 1, \"b\": 2}' | haft tool call add -
  haft tool call bash command='make test' --json";
const BATCH_EXAMPLES: &str = "Examples:
  echo '{\"tool\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}, \"id\": 7}' | haft tool batch";
const REFRESH_EXAMPLES: &str = "Examples:
  haft tool refresh";
const CHECK_EXAMPLES: &str = "Examples:
  haft tool check add
  haft tool check ~/.config/haft/tools/line-count-tool";
const NEW_EXAMPLES: &str = "Examples:
  haft tool new word_count                     # Python, in the project's or the user's tools
  haft tool new word_count2 --lang bash --into tools
  haft tool new word_count3 --lang rust        # a Cargo package in the current directory";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ToolArguments {
    #[command(subcommand)]
    pub(crate) command: ToolSubcommand,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolSubcommand {
    /// List all tools, and rejected candidates with the reason
    #[command(after_help = LIST_EXAMPLES)]
    List(ToolListArguments),
    /// Show the description and parameters of a tool
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// The tool's name
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Call a tool and print its result
    #[command(after_help = CALL_EXAMPLES)]
    Call(ToolCallArguments),
    /// Make many calls, one JSON object {"tool": …, "arguments": …} per line of standard input
    #[command(after_help = BATCH_EXAMPLES)]
    Batch(ToolBatchArguments),
    /// Read the schemas of changed and rejected tools again, and list all tools
    #[command(after_help = REFRESH_EXAMPLES)]
    Refresh(ToolListArguments),
    /// Test whether an executable follows the tool protocol
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// The tool's name, or its file
        #[arg(value_name = "NAME|FILE")]
        file: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Create a working tool to start from
    #[command(after_help = NEW_EXAMPLES)]
    New(ToolNewArguments),
}

impl ToolSubcommand {
    /// Whether it calls tools.
    pub(crate) fn calls_tools(&self) -> bool {
        matches!(self, ToolSubcommand::Call(_) | ToolSubcommand::Batch(_))
    }

    /// Whether the result, or a failure, is printed as JSON.
    pub(crate) fn prints_json(&self) -> bool {
        match self {
            ToolSubcommand::Show { json, .. } | ToolSubcommand::Check { json, .. } => *json,
            ToolSubcommand::List(list) | ToolSubcommand::Refresh(list) => list.json,
            ToolSubcommand::Call(call) => call.json,
            ToolSubcommand::Batch(_) => true,
            ToolSubcommand::New(new) => new.json,
        }
    }
}

/// How long a list waits for MCP servers.
pub(crate) const LIST_WAIT: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub(crate) struct ToolListArguments {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Wait at most this long for MCP servers, then list the tools of those that have answered
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::duration)]
    pub(crate) wait: Duration,
}

#[derive(Args, Debug)]
pub(crate) struct ToolCallArguments {
    /// Print the whole envelope as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// End the tool and all its processes after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Fail if the result is larger
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) limit_output: Option<u64>,
    /// Allow only the tools of this toolset, or these names separated by commas
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// The tool's name
    pub(crate) name: String,
    /// Arguments: a JSON object, '-' to read one from standard input, key=value, or --key value; after '--', haft's own
    /// options are the tool's too
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ToolBatchArguments {
    /// Accepted for consistency: answers are always JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// End each call and all its processes after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Make at most this many calls at once [default: two per CPU]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    /// Allow only the tools of this toolset, or these names separated by commas
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ToolNewArguments {
    /// The tool's name: letters, digits and '_'
    pub(crate) name: String,
    /// Its programming language
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "python")]
    pub(crate) lang: StarterLanguage,
    /// Create it in this directory [default: the project's tools, else the user's; for Rust the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Languages of the tools that `haft tool new` creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StarterLanguage {
    Python,
    Bash,
    Rust,
}
