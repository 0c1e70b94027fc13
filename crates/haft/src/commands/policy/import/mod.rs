//! `haft policy import`: turn the rules of an agent into a policy.

mod claude;
mod codex;
mod imported;
mod starlark;

use std::path::{Path, PathBuf};

use haft_config::{FileErrorKind, FileRules, MAX_CONFIG_BYTES, printable};
use schemars::JsonSchema;
use serde::Serialize;

use self::imported::{ImportedRules, SkippedRule};
use super::arguments::{PolicyImportArguments, RuleFormat};
use crate::commands::print::{print_json, print_text};
use crate::failure::{Failure, NOT_FOUND_STATUS, USAGE_STATUS, print_message};
use crate::process_context::ProcessContext;
use crate::units::count;

/// An imported policy.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PolicyImportReport<'a> {
    /// The file with the agent's rules.
    file: String,
    /// The policy in TOML.
    policy: String,
    /// The number of rules in it.
    imported: usize,
    /// Rules that a policy cannot express, or only in part.
    skipped: &'a [SkippedRule],
}

/// Prints the policy on standard output, and the rules that it lacks on standard error.
pub(crate) fn run(arguments: &PolicyImportArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => default_file(arguments.agent, process)?,
    };
    let text = read(&file)?;
    let rules = match arguments.agent {
        RuleFormat::Claude => claude::read(&text),
        RuleFormat::Codex => codex::read(&text),
    };
    let rules = rules
        .map_err(|reason| Failure::usage(format_args!("cannot import '{}': {reason}", printable(&file))))?;
    let policy = rules.to_toml(&printable(&file));
    if arguments.json {
        let (file, imported) = (printable(&file), rules.count());
        return Ok(print_json(&PolicyImportReport { file, policy, imported, skipped: &rules.skipped }, 0));
    }
    let status = print_text(&policy, 0);
    report(&rules);
    Ok(status)
}

fn report(rules: &ImportedRules) {
    for skipped in &rules.skipped {
        let place = skipped.line.map_or(String::new(), |line| format!("line {line}: "));
        print_message(format_args!("{place}'{}': {}", skipped.rule, skipped.reason));
    }
    let (imported, skipped) = (rules.count(), rules.skipped.len());
    print_message(format_args!("{} imported, {skipped} not or only in part", count(imported, "rule")));
}

fn default_file(agent: RuleFormat, process: &ProcessContext) -> Result<PathBuf, Failure> {
    let (variable, below, file) = match agent {
        RuleFormat::Claude => ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
        RuleFormat::Codex => ("CODEX_HOME", ".codex", "rules/default.rules"),
    };
    let home = || Some(Path::new(process.variable("HOME")?).join(below));
    let directory = process.variable(variable).map(PathBuf::from).or_else(home);
    directory
        .map(|directory| directory.join(file))
        .ok_or_else(|| Failure::usage("cannot find the agent's rules: HOME is not set"))
}

fn read(file: &Path) -> Result<String, Failure> {
    let bytes = FileRules::up_to(MAX_CONFIG_BYTES).or_pipe().read(file).map_err(|error| {
        let is_missing = error.kind() == FileErrorKind::NotFound;
        Failure::new(&error, if is_missing { NOT_FOUND_STATUS } else { USAGE_STATUS })
    })?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format_args!("cannot read '{}': it is not UTF-8 text", printable(file))))
}
