//! The command line of `haft tool`, as data.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::units;

#[derive(Args, Debug)]
pub(crate) struct ToolArguments {
    #[command(subcommand)]
    pub(crate) command: ToolSubcommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolSubcommand {
    /// Show all tools, and what would be one but is not, with the reason
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show all that a tool says of itself
    Show {
        /// The tool
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Call a tool and print its result
    Call(ToolCallArguments),
    /// Make many calls, one {"tool": …, "arguments": …} a line of standard input; answers come in their order
    Batch(ToolBatchArguments),
    /// Ask all tools again that have changed or were rejected, and show them
    Refresh {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Put a tool through the whole contract and say what is wrong with it
    Check {
        /// The tool's file
        file: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a tool to start from
    New(ToolNewArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ToolCallArguments {
    /// Print the whole envelope as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// End it, with all its processes, after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Refuse a result that is larger
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) limit_output: Option<u64>,
    /// Refuse what is not in this toolset, or among these names with commas
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// The tool
    pub(crate) name: String,
    /// Its arguments: a JSON object, '-' for one on standard input, key=value, or --key value
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ToolBatchArguments {
    /// Answers are JSON in any case
    #[arg(long)]
    pub(crate) json: bool,
    /// End each call, with all its processes, after this time
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,
    /// Make at most so many calls at once
    #[arg(long, value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
    /// Refuse what is not in this toolset, or among these names with commas
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ToolNewArguments {
    /// The tool's name: letters, digits and '_'
    pub(crate) name: String,
    /// What it is written in
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "python")]
    pub(crate) lang: StarterLanguage,
    /// Write it into this directory [default: the project's tools, or the user's; for Rust a package here]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Languages to start a tool in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StarterLanguage {
    Python,
    Bash,
    Rust,
}
