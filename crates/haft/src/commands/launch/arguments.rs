//! The command line of `haft launch`, as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::commands::changes::overlay::OverlayOptions;
use crate::commands::completions::CompletionsArguments;
use crate::enforcement::PolicyOptions;
use crate::units;

const EXAMPLES: &str = "Examples:
  haft launch --dry-run 'fix the failing test'         # write and show everything, start nothing
  haft launch -a claude -r reviewer -c docs task.md    # agent, role, context, task file
  haft launch task review 'only the parser'            # a task of the configuration
  haft launch --overlay 'try a rewrite'                # its changes wait for 'haft changes commit'
  haft launch --supervised --timeout 1h 'do this'      # with a deadline and a transcript
  haft launch -a claude 'do this' -- --verbose         # arguments after '--' are the agent's";
const PROMPT_EXAMPLES: &str = "Examples:
  haft launch prompt --dry-run 'explain this project'";
const TASK_EXAMPLES: &str = "Examples:
  haft launch task review
  haft launch task review 'only the parser' --dry-run";
const LIST_EXAMPLES: &str = "Examples:
  haft launch list
  haft launch list --json | jq -r '.agents[].name'";
const SHOW_EXAMPLES: &str = "Examples:
  haft launch show reviewer
  haft launch show agent/claude --json";
const DOCTOR_EXAMPLES: &str = "Examples:
  haft launch doctor
  haft launch doctor --json";
const INIT_EXAMPLES: &str = "Examples:
  haft launch init                # .haft/config.toml";
const EDIT_EXAMPLES: &str = "Examples:
  EDITOR=cat haft launch edit --user";
const COMPLETIONS_EXAMPLES: &str = "Examples:
  haft launch completions bash > haft.bash";

const ADD_EXAMPLES: &str = "Examples:
  haft launch add role tester --from ~/src/team --yes   # from the .haft of a checkout
  haft launch add task hello --from task.md --yes       # from a text file";
const SEARCH_EXAMPLES: &str = "Examples:
  haft launch search review
  haft launch search tester --from ~/src/team";
const REMOVE_EXAMPLES: &str = "Examples:
  haft launch remove role tester --yes";
const ORDER_EXAMPLES: &str = "Examples:
  haft launch order role tester reviewer     # 'tester' first, then 'reviewer', then the others";

const SELECTION: &str = "Agent and prompt";
const MODE: &str = "How it runs";
const ITEM: &str = "Item";
const PLACE: &str = "Configuration";

/// An agent to start, and what it is given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LaunchArguments {
    #[command(subcommand)]
    pub(crate) action: Option<LaunchAction>,
    /// The prompt: text, a file, or '-' for standard input
    #[arg(value_name = "TEXT|FILE")]
    pub(crate) text: Option<OsString>,
    #[command(flatten)]
    pub(crate) options: LaunchOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LaunchAction {
    /// Launch with a text and only the required contexts
    #[command(after_help = PROMPT_EXAMPLES)]
    Prompt {
        /// The prompt: text, a file, or '-' for standard input
        #[arg(value_name = "TEXT|FILE")]
        text: OsString,
        #[command(flatten)]
        options: LaunchOptions,
    },
    /// Launch with a task of the configuration and only the required contexts
    #[command(after_help = TASK_EXAMPLES)]
    Task {
        /// The task's name, alias, an unambiguous part of either, or a file
        #[arg(value_name = "NAME|FILE")]
        name: String,
        /// Additional instructions: text, a file, or '-' for standard input
        #[arg(value_name = "INSTRUCTIONS|FILE")]
        instructions: Option<OsString>,
        #[command(flatten)]
        options: LaunchOptions,
    },
    /// List agents, roles, contexts and tasks
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show the definition of an agent, role, context or task
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its name, or an unambiguous part of it; 'KIND/NAME' if several kinds share the name
        #[arg(value_name = "NAME")]
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration and the installed agents, and remove files of ended launches
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Create a configuration to start from: the project's, in '.haft'
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// Create the user's configuration instead
        #[arg(long)]
        user: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Copy an item of another configuration, or a text file, into the configuration, after showing it
    #[command(after_help = ADD_EXAMPLES)]
    Add(AddArguments),
    /// Search names, descriptions and texts
    #[command(after_help = SEARCH_EXAMPLES)]
    Search {
        /// The word, in upper or lower case
        #[arg(value_name = "WORD")]
        word: String,
        /// Search this configuration file, project or directory of texts instead
        #[arg(long, value_name = "FILE|DIR")]
        from: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove an item from the configuration, after showing it
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove {
        /// The kind of item
        #[arg(value_enum)]
        kind: ItemKind,
        /// The item's name
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Put items of one kind first, in this order; the others follow
    #[command(after_help = ORDER_EXAMPLES)]
    Order {
        /// The kind of item
        #[arg(value_enum)]
        kind: ItemKind,
        /// The items' names
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Open the configuration in $EDITOR: the project's if there is one, else the user's
    #[command(after_help = EDIT_EXAMPLES)]
    Edit {
        /// Always open the user's configuration
        #[arg(long)]
        user: bool,
    },
    /// The same as 'haft completions'
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArguments),
}

/// An item to add.
#[derive(Args, Debug)]
pub(crate) struct AddArguments {
    /// The kind of item
    #[arg(value_enum)]
    pub(crate) kind: ItemKind,
    /// The item's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A configuration file, a project or checkout with '.haft', a directory of texts, or a text file
    #[arg(long, value_name = "FILE|DIR", help_heading = ITEM)]
    pub(crate) from: PathBuf,
    /// Replace an item of this name
    #[arg(long, help_heading = ITEM)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) place: PlaceOptions,
}

/// Which configuration changes, and how.
#[derive(Args, Debug)]
pub(crate) struct PlaceOptions {
    /// Change the project's configuration instead of the user's
    #[arg(long, help_heading = PLACE)]
    pub(crate) project: bool,
    /// Do not ask
    #[arg(long, help_heading = PLACE)]
    pub(crate) yes: bool,
    /// Print one JSON object; needs --yes
    #[arg(long, requires = "yes", help_heading = PLACE)]
    pub(crate) json: bool,
}

/// A kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ItemKind {
    Agent,
    Role,
    Context,
    Task,
}

impl ItemKind {
    /// The name of the section.
    pub(crate) fn section(self) -> &'static str {
        match self {
            ItemKind::Agent => "agent",
            ItemKind::Role => "role",
            ItemKind::Context => "context",
            ItemKind::Task => "task",
        }
    }
}

#[derive(Args, Debug, Default)]
pub(crate) struct LaunchOptions {
    /// The agent [default: the configured one, else the only installed one]
    #[arg(short, long, value_name = "NAME", help_heading = SELECTION)]
    pub(crate) agent: Option<String>,
    /// The model: its alias, part of an alias, or its id
    #[arg(short, long, value_name = "MODEL", help_heading = SELECTION)]
    pub(crate) model: Option<String>,
    /// The role: its name, part of its name, or a file
    #[arg(short, long, value_name = "NAME|FILE", conflicts_with = "no_role", help_heading = SELECTION)]
    pub(crate) role: Option<String>,
    /// Use no role
    #[arg(long, help_heading = SELECTION)]
    pub(crate) no_role: bool,
    /// Add contexts by name, tag or path, separated by commas; can be repeated
    #[arg(short, long = "context", value_name = "NAME|TAG|FILE", help_heading = SELECTION)]
    pub(crate) contexts: Vec<String>,
    /// Do not connect the agent to haft's tools
    #[arg(long, help_heading = SELECTION)]
    pub(crate) no_mcp: bool,
    /// Start the agent for unattended work [default: unless on a terminal]
    #[arg(long, conflicts_with = "interactive", help_heading = MODE)]
    pub(crate) batch: bool,
    /// Start the agent for interactive work, even without a terminal
    #[arg(long, help_heading = MODE)]
    pub(crate) interactive: bool,
    /// Show the role, the prompt, the size of each of their pieces, and the command; start nothing
    #[arg(long, conflicts_with = "supervised", help_heading = MODE)]
    pub(crate) dry_run: bool,
    /// With --dry-run: write role.md, prompt.md, command.json and the agent's files into this new directory
    #[arg(long, value_name = "DIR", requires = "dry_run", help_heading = MODE)]
    pub(crate) save: Option<PathBuf>,
    /// Run the agent as a supervised child, with a transcript
    #[arg(long, help_heading = MODE)]
    pub(crate) supervised: bool,
    /// With --supervised: end the agent after this time; the exit status is then 124
    #[arg(long, value_name = "TIME", value_parser = units::duration, requires = "supervised", help_heading = MODE)]
    pub(crate) timeout: Option<Duration>,
    /// With --supervised: write the transcript to this file
    #[arg(long, value_name = "FILE", requires = "supervised", help_heading = MODE)]
    pub(crate) transcript: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) overlay: OverlayOptions,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// Close the file descriptors above 2 that haft inherited [default: the agent inherits them]
    #[arg(long = "close-fds", help_heading = MODE)]
    pub(crate) close_descriptors: bool,
    /// Arguments for the agent
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
    /// Print JSON: the plan of a dry run, the result of a supervised run; else the plan, on standard error
    #[arg(long, help_heading = MODE)]
    pub(crate) json: bool,
}

impl LaunchArguments {
    /// Whether the result, or a failure, is printed as JSON.
    pub(crate) fn prints_json(&self) -> bool {
        let later = match &self.action {
            Some(LaunchAction::Prompt { options, .. } | LaunchAction::Task { options, .. }) => options.json,
            Some(
                LaunchAction::List { json }
                | LaunchAction::Show { json, .. }
                | LaunchAction::Doctor { json }
                | LaunchAction::Init { json, .. }
                | LaunchAction::Search { json, .. },
            ) => *json,
            Some(LaunchAction::Add(AddArguments { place, .. })) => place.json,
            Some(LaunchAction::Remove { place, .. } | LaunchAction::Order { place, .. }) => place.json,
            Some(LaunchAction::Edit { .. } | LaunchAction::Completions { .. }) | None => false,
        };
        self.options.json || later
    }

    /// Whether haft waits for the agent's end.
    pub(crate) fn is_supervised(&self) -> bool {
        self.all_options().any(|options| options.supervised)
    }

    /// Whether it starts an agent.
    pub(crate) fn starts_agent(&self) -> bool {
        let is_dry = self.all_options().any(|options| options.dry_run);
        !is_dry && (self.action.is_none() || self.later_options().is_some())
    }

    /// The policy of the agent itself, if one is chosen. The configured policy is for what agents run.
    pub(crate) fn policy(&self) -> Option<PolicyOptions> {
        self.all_options().map(|options| &options.policy).find(|options| options.policy.is_some()).cloned()
    }

    /// The options before the action, and those after it.
    fn all_options(&self) -> impl Iterator<Item = &LaunchOptions> {
        std::iter::once(&self.options).chain(self.later_options())
    }

    /// The options after the name of an action that launches.
    fn later_options(&self) -> Option<&LaunchOptions> {
        match &self.action {
            Some(LaunchAction::Prompt { options, .. } | LaunchAction::Task { options, .. }) => Some(options),
            _ => None,
        }
    }
}

impl LaunchOptions {
    /// Whether anything is said besides the form of the answer.
    pub(crate) fn says_how_to_launch(&self) -> bool {
        let texts = [&self.agent, &self.model, &self.role];
        let flags = [
            self.no_role,
            self.no_mcp,
            self.batch,
            self.interactive,
            self.dry_run,
            self.supervised,
            self.close_descriptors,
            !self.contexts.is_empty(),
            self.overlay.is_wanted(),
            !self.arguments.is_empty(),
        ];
        texts.iter().any(|text| text.is_some()) || flags.contains(&true)
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
            save: self.save.or(before.save),
            supervised: self.supervised || before.supervised,
            timeout: self.timeout.or(before.timeout),
            transcript: self.transcript.or(before.transcript),
            overlay: self.overlay.or(before.overlay),
            policy: if self.policy.policy.is_some() { self.policy } else { before.policy },
            close_descriptors: self.close_descriptors || before.close_descriptors,
            arguments: before.arguments.into_iter().chain(self.arguments).collect(),
            json: self.json || before.json,
        }
    }
}
