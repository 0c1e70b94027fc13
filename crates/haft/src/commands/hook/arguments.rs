//! The command line of `haft hook`, as data.

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "Examples:
  haft hook install claude               # let Claude Code ask haft before every command
  haft hook uninstall claude             # take it out again
  haft hook claude < call.json           # what the agent runs: JSON in, decision out";
const INSTALL_EXAMPLES: &str = "Examples:
  haft hook install claude               # show the change, ask, and write it
  haft hook install codex --project --yes";
const UNINSTALL_EXAMPLES: &str = "Examples:
  haft hook uninstall claude";
const ANSWER_EXAMPLES: &str = "Examples:
  haft hook claude < call.json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HookArguments {
    #[command(subcommand)]
    pub(crate) action: HookAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookAction {
    /// Answer Claude Code: PreToolUse and PermissionRequest
    #[command(after_help = ANSWER_EXAMPLES)]
    Claude,
    /// Answer Codex: PreToolUse and PermissionRequest
    #[command(after_help = ANSWER_EXAMPLES)]
    Codex,
    /// Answer Gemini CLI: BeforeTool
    #[command(after_help = ANSWER_EXAMPLES)]
    Gemini,
    /// Answer Cursor: beforeShellExecution, beforeReadFile and preToolUse
    #[command(after_help = ANSWER_EXAMPLES)]
    Cursor,
    /// Answer GitHub Copilot CLI: preToolUse
    #[command(after_help = ANSWER_EXAMPLES)]
    Copilot,
    /// Add the hook to an agent's settings
    #[command(after_help = INSTALL_EXAMPLES)]
    Install(HookInstallArguments),
    /// Remove the hook from an agent's settings
    #[command(after_help = UNINSTALL_EXAMPLES)]
    Uninstall(HookInstallArguments),
}

/// An agent whose settings can be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookTarget {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Cursor
    Cursor,
}

#[derive(Args, Debug)]
pub(crate) struct HookInstallArguments {
    /// The agent
    pub(crate) agent: HookTarget,
    /// Edit the settings of the project in the working directory, not those of the user
    #[arg(long)]
    pub(crate) project: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

impl HookAction {
    /// Whether it answers a call of an agent.
    pub(crate) fn is_call(&self) -> bool {
        !matches!(self, HookAction::Install(_) | HookAction::Uninstall(_))
    }
}
