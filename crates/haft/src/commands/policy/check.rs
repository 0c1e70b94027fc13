//! `haft policy check`: decide about a script without running it.

use std::fmt::Write as _;

use haft_lang::ast::LineIndex;
use haft_lang::check::Diagnostic;
use haft_lang::plan::plan;
use haft_lang::{ParseOptions, Script};
use haft_policy::{Policy, PolicyVerdict, ScriptSurroundings, StepDecision};
use haft_process::Redactor;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::PolicyCheckArguments;
use crate::commands::print::{json_line, print_text};
use crate::commands::script::{self, NameResolver};
use crate::failure::{Failure, USAGE_STATUS};
use crate::policy;
use crate::process_context::ProcessContext;

/// The decisions about a script.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PolicyCheckReport<'a> {
    /// The script's file, `-c` or `standard input`.
    file: &'a str,
    /// The strictest verdict.
    verdict: PolicyVerdict,
    /// The decisions about its commands, in source order.
    commands: &'a [StepDecision],
    /// The syntax error, because of which a part of the script was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Prints a decision about each command. Returns 1 unless all is allowed.
pub(crate) fn run(arguments: PolicyCheckArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let policy = policy::load(arguments.policy.policy.as_deref(), process)?;
    let text = script::read(arguments.script, "haft policy check")
        .map_err(|failure| Failure { status: USAGE_STATUS, ..failure })?;
    let script = Script::parse(text.source.as_slice(), &ParseOptions::default());
    let error = script.error().map(Diagnostic::from);
    let decisions = decide(&policy, &script, &text.source, &NameResolver::new(process), process);
    let verdict = decisions.iter().map(StepDecision::verdict).max().unwrap_or_default();
    let shown = if arguments.json {
        let error = error.as_ref().map(|error| error.message.clone());
        json_line(&PolicyCheckReport { file: &text.name, verdict, commands: &decisions, error })
    } else {
        if let Some(error) = &error {
            eprint!("{}", error.render(&text.name, &text.source, &LineIndex::new(&text.source)));
        }
        decisions
            .iter()
            .filter(|step| step.kind.is_some() || step.verdict() != PolicyVerdict::Allow)
            .map(line)
            .collect()
    };
    let status = i32::from(verdict != PolicyVerdict::Allow || error.is_some());
    Ok(print_text(&Redactor::new(process.environment.iter()).text(&shown), status))
}

/// The decisions about all commands of a script.
pub(crate) fn decide(
    policy: &Policy,
    script: &Script,
    source: &[u8],
    names: &NameResolver<'_>,
    process: &ProcessContext,
) -> Vec<StepDecision> {
    let plan = plan(&script.program(), source, names);
    let directory = process.directory_or_link().unwrap_or_else(|| "/".into());
    policy.check_script(&plan, &ScriptSurroundings { directory: &directory, resolve: &policy::resolve })
}

/// A decision as text: one line for the command, and one for each file that is not allowed.
fn line(step: &StepDecision) -> String {
    let mut text = String::new();
    let explained = |decision: &haft_policy::Decision| match decision.to_string() {
        reason if reason.is_empty() => String::new(),
        reason => format!("  # {}", reason.trim_start()),
    };
    let _ = writeln!(
        text,
        "{:5} {:>4}  {}{}",
        step.decision.verdict,
        step.line,
        step.command,
        explained(&step.decision)
    );
    for file in &step.files {
        let (verdict, access) = (file.decision.verdict, file.access.as_str());
        let _ = writeln!(text, "{verdict:5}       {access} {}{}", file.path, explained(&file.decision));
    }
    text
}
