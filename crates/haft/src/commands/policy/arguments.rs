//! The command line of `haft policy`, as data.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use haft_policy::Preset;

use crate::commands::options::ScriptArguments;
use crate::policy::PolicyOption;

const EXAMPLES: &str = "Examples:
  haft policy check --policy workspace -c 'git push'    # would it be allowed?
  haft policy explain                                   # the policy in force here, and its files
  haft policy import claude > policy.toml               # rules of Claude Code as a policy";
const CHECK_EXAMPLES: &str = "Examples:
  haft policy check deploy.sh                           # exit status 1 unless all is allowed
  haft policy check --policy read-only -c 'ls -l'
  haft policy check --json -c 'git push && make'        # rule, place and reason of each command";
const EXPLAIN_EXAMPLES: &str = "Examples:
  haft policy explain
  haft policy explain --policy workspace --json";
const TEST_EXAMPLES: &str = "Examples:
  haft policy test --policy policy.toml                 # the examples that its rules carry";
const SHOW_EXAMPLES: &str = "Examples:
  haft policy show workspace > policy.toml              # to start from";
const IMPORT_EXAMPLES: &str = "Examples:
  haft policy import claude .claude/settings.json > policy.toml
  haft policy import codex ~/.codex/rules/default.rules --json";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    pub(crate) action: PolicyAction,
}

impl PolicyArguments {
    /// Whether the result is printed as JSON.
    pub(crate) fn prints_json(&self) -> bool {
        match &self.action {
            PolicyAction::Check(arguments) => arguments.json,
            PolicyAction::Explain(arguments) | PolicyAction::Test(arguments) => arguments.json,
            PolicyAction::Show(arguments) => arguments.json,
            PolicyAction::Import(arguments) => arguments.json,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyAction {
    /// Decide about every command of a script, without running it
    #[command(after_help = CHECK_EXAMPLES)]
    Check(PolicyCheckArguments),
    /// Show the policy in force, with the place of every rule
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(PolicyReportArguments),
    /// Test the examples that rules carry
    #[command(after_help = TEST_EXAMPLES)]
    Test(PolicyReportArguments),
    /// Print a preset
    #[command(after_help = SHOW_EXAMPLES)]
    Show(PolicyShowArguments),
    /// Turn the rules of an agent into a policy, on standard output
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(PolicyImportArguments),
}

#[derive(Args, Debug)]
pub(crate) struct PolicyCheckArguments {
    #[command(flatten)]
    pub(crate) script: ScriptArguments,
    #[command(flatten)]
    pub(crate) policy: PolicyOption,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PolicyReportArguments {
    #[command(flatten)]
    pub(crate) policy: PolicyOption,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PolicyShowArguments {
    /// The preset: read-only, workspace, offline or full
    #[arg(value_name = "PRESET", value_parser = preset)]
    pub(crate) preset: Preset,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn preset(name: &str) -> Result<Preset, String> {
    name.parse().map_err(|unknown: haft_policy::UnknownPreset| unknown.hint().unwrap_or_default())
}

/// An agent whose rules can be imported.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RuleFormat {
    /// Claude Code: `permissions` in settings.json
    Claude,
    /// Codex: `prefix_rule` in files with rules
    Codex,
}

#[derive(Args, Debug)]
pub(crate) struct PolicyImportArguments {
    /// The agent
    pub(crate) agent: RuleFormat,
    /// The file with its rules [default: that of the user]
    pub(crate) file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
