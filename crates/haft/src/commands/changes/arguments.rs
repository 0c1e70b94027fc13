//! The command line of `haft changes`, as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::units;

const EXAMPLES: &str = "Examples:
  haft run --overlay -c 'make clean'    # run on a copy-on-write view of the project
  haft changes                          # list all overlays
  haft changes show ID --diff           # what the script changed
  haft changes commit ID                # keep it
  haft changes undo ID                  # take it back";
const SHOW_EXAMPLES: &str = "Examples:
  haft changes show ID                  # one line per changed file
  haft changes show ID --diff src       # a patch of one directory
  haft changes show ID --json";
const COMMIT_EXAMPLES: &str = "Examples:
  haft changes commit ID
  haft changes commit ID src README.md --except '*.log'";
const DISCARD_EXAMPLES: &str = "Examples:
  haft changes discard ID";
const UNDO_EXAMPLES: &str = "Examples:
  haft changes undo ID";
const RUN_EXAMPLES: &str = "Examples:
  haft changes run ID -- git status";
const PRUNE_EXAMPLES: &str = "Examples:
  haft changes prune                    # overlays not used for 14 days
  haft changes prune --older-than 0s    # all that are not in use";

/// An action on overlays; without one, all are listed.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ChangesArguments {
    #[command(subcommand)]
    pub(crate) action: Option<ChangesAction>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesAction {
    /// Show what changed in an overlay
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowArguments),
    /// Write the changes to the real files
    #[command(after_help = COMMIT_EXAMPLES)]
    Commit(CommitArguments),
    /// Throw an overlay and its changes away
    #[command(after_help = DISCARD_EXAMPLES)]
    Discard {
        /// The overlay's id or name
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Take the last commit of an overlay back
    #[command(after_help = UNDO_EXAMPLES)]
    Undo {
        /// The overlay's id or name
        #[arg(value_name = "ID")]
        id: String,
        /// Overwrite files that have changed since the commit
        #[arg(long)]
        force: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Run a program in an overlay
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        /// The overlay's id or name
        #[arg(value_name = "ID")]
        id: String,
        /// The program and its arguments
        #[arg(value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        program: Vec<OsString>,
    },
    /// Remove old overlays that are not in use
    #[command(after_help = PRUNE_EXAMPLES)]
    Prune {
        /// Remove overlays that were not used for this long [default: 14d, unless --max-size is given]
        #[arg(long, value_name = "TIME", value_parser = units::duration)]
        older_than: Option<Duration>,
        /// Remove the oldest overlays until all together need no more than this
        #[arg(long, value_name = "SIZE", value_parser = units::size)]
        max_size: Option<u64>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ShowArguments {
    /// The overlay's id or name
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Show only changes at or below these paths
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print a patch, as 'git diff' does
    #[arg(long, group = "form")]
    pub(crate) diff: bool,
    /// Print numbers of changed files and bytes only
    #[arg(long, group = "form")]
    pub(crate) stat: bool,
    /// Print one JSON object
    #[arg(long, group = "form")]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CommitArguments {
    /// The overlay's id or name
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Commit only changes at or below these paths; the others stay in the overlay
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Leave out paths that match a pattern; can be repeated
    #[arg(long, value_name = "PATTERN")]
    pub(crate) except: Vec<String>,
    /// Overwrite files that have changed outside of the overlay
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl ChangesArguments {
    /// Whether the result, or a failure, is printed as JSON.
    pub(crate) fn prints_json(&self) -> bool {
        match &self.action {
            None => self.json,
            Some(ChangesAction::Show(show)) => show.json,
            Some(ChangesAction::Commit(commit)) => commit.json,
            Some(
                ChangesAction::Discard { json, .. }
                | ChangesAction::Undo { json, .. }
                | ChangesAction::Prune { json, .. },
            ) => *json,
            Some(ChangesAction::Run { .. }) => false,
        }
    }
}
