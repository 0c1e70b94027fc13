//! The command line of `haft launch`, as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::units;

/// What to launch, and how.
#[derive(Args, Debug)]
pub(crate) struct LaunchArguments {
    #[command(subcommand)]
    pub(crate) action: Option<LaunchAction>,
    /// What the agent shall do: a text, a file that holds it, or '-' for standard input
    #[arg(value_name = "TEXT|FILE")]
    pub(crate) text: Option<OsString>,
    #[command(flatten)]
    pub(crate) options: LaunchOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LaunchAction {
    /// LaunchArguments with a text, and only the contexts that are required
    Prompt {
        /// What the agent shall do: a text, or '-' for standard input
        #[arg(value_name = "TEXT")]
        text: OsString,
        #[command(flatten)]
        options: LaunchOptions,
    },
    /// LaunchArguments with a task of the configuration, and only the contexts that are required
    Task {
        /// The task, by its name, its alias or a part of it that only one has
        #[arg(value_name = "NAME")]
        name: String,
        /// What else there is to say about it: a text, or '-' for standard input
        #[arg(value_name = "INSTRUCTIONS")]
        instructions: Option<OsString>,
        #[command(flatten)]
        options: LaunchOptions,
    },
    /// List agents, roles, contexts and tasks
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show all that is known about an agent, role, context or task
    Show {
        /// Its name, or a part of it that only one has; 'KIND/NAME' if several kinds have it
        #[arg(value_name = "NAME")]
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Say what is wrong with the configuration, and clean up after launches that are over
    Doctor {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write a configuration to start from: the project's, in '.haft'
    Init {
        /// Write the user's instead
        #[arg(long)]
        user: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Open the configuration in an editor: the project's if there is one, else the user's
    Edit {
        /// Open the user's in any case
        #[arg(long)]
        user: bool,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

#[derive(Args, Debug, Default)]
pub(crate) struct LaunchOptions {
    /// The agent [default: the configured one, else the only one that is installed]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The model, by its alias, a part of one, or its id
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The role
    #[arg(short, long, value_name = "NAME", conflicts_with = "no_role")]
    pub(crate) role: Option<String>,
    /// No role at all
    #[arg(long)]
    pub(crate) no_role: bool,
    /// A context besides those that are there anyway: by name, tag or path; may be repeated
    #[arg(short, long = "context", value_name = "NAME|TAG|PATH")]
    pub(crate) contexts: Vec<String>,
    /// Do not give the agent haft's tools
    #[arg(long)]
    pub(crate) no_mcp: bool,
    /// Start the agent for a run without a person [default: unless on a terminal]
    #[arg(long, conflicts_with = "interactive")]
    pub(crate) batch: bool,
    /// Start the agent for a person, whether there is a terminal or not
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Write role.md, prompt.md and command.json, show them, and launch nothing
    #[arg(long, conflicts_with = "supervised")]
    pub(crate) dry_run: bool,
    /// Run the agent as a child: with a timeout, a transcript, and nothing left behind
    #[arg(long)]
    pub(crate) supervised: bool,
    /// With --supervised: end it after this time; the status is then 124
    #[arg(long, value_name = "TIME", value_parser = units::duration, requires = "supervised")]
    pub(crate) timeout: Option<Duration>,
    /// With --supervised: write the transcript to this file
    #[arg(long, value_name = "FILE", requires = "supervised")]
    pub(crate) transcript: Option<PathBuf>,
    /// Print JSON: what a dry run shows, how a supervised run ended, or before a launch on standard error what it is
    #[arg(long)]
    pub(crate) json: bool,
}

impl LaunchArguments {
    /// Whether haft stays until the agent has ended.
    pub(crate) fn is_supervised(&self) -> bool {
        let later = match &self.action {
            Some(LaunchAction::Prompt { options, .. } | LaunchAction::Task { options, .. }) => {
                options.supervised
            }
            _ => false,
        };
        self.options.supervised || later
    }
}

impl LaunchOptions {
    /// Whether anything is said besides the form of the answer.
    pub(crate) fn says_how_to_launch(&self) -> bool {
        let texts = [&self.agent, &self.model, &self.role];
        let flags = [self.no_role, self.no_mcp, self.batch, self.interactive, self.dry_run, self.supervised];
        texts.iter().any(|text| text.is_some()) || flags.contains(&true) || !self.contexts.is_empty()
    }

    /// These, and where they say nothing those that stand before the name of the action.
    pub(crate) fn or(self, before: LaunchOptions) -> LaunchOptions {
        LaunchOptions {
            agent: self.agent.or(before.agent),
            model: self.model.or(before.model),
            role: self.role.or(before.role),
            no_role: self.no_role || before.no_role,
            contexts: before.contexts.into_iter().chain(self.contexts).collect(),
            no_mcp: self.no_mcp || before.no_mcp,
            batch: self.batch || before.batch,
            interactive: self.interactive || before.interactive,
            dry_run: self.dry_run || before.dry_run,
            supervised: self.supervised || before.supervised,
            timeout: self.timeout.or(before.timeout),
            transcript: self.transcript.or(before.transcript),
            json: self.json || before.json,
        }
    }
}
