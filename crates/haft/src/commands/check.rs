//! `haft check`: report errors and likely mistakes in a script without running it.

use std::io::Write as _;

use clap::Args;
use haft_lang::ParseOptions;
use haft_lang::ast::LineIndex;
use haft_lang::check::{Diagnostic, LocatedDiagnostic, RULES, Rule, Severity, check, rule};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::options::ScriptArguments;
use crate::commands::print::json_line;
use crate::commands::script::{self, NameResolver};
use crate::failure::{Failure, USAGE_STATUS};
use crate::process_context::ProcessContext;

const EXAMPLES: &str = "Examples:
  haft check deploy.sh                     # exit status 1 if there are errors
  haft check --json -c 'cd $dir && rm *'   # findings with positions and fixes as JSON
  haft check --explain rm-root             # why a rule matters, with examples";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) script: ScriptArguments,
    /// Print one JSON object with all findings
    #[arg(long)]
    pub(crate) json: bool,
    /// Explain a rule, with examples, instead of checking a script
    #[arg(long, value_name = "CODE")]
    pub(crate) explain: Option<String>,
}

/// Checks the script and prints what it finds. Returns 1 if there are errors.
pub(crate) fn run(arguments: CheckArguments, process: &ProcessContext) -> Result<i32, Failure> {
    if let Some(code) = &arguments.explain {
        return explain(code);
    }
    let text = script::read(arguments.script, "haft check")
        .map_err(|failure| Failure { status: USAGE_STATUS, ..failure })?;
    let found = check(&text.source, &ParseOptions::default(), &NameResolver::new(process));
    let lines = LineIndex::new(&text.source);
    let shown = if arguments.json {
        json(&text.name, &found, &lines)
    } else {
        found.iter().map(|diagnostic| diagnostic.render(&text.name, &text.source, &lines)).collect()
    };
    print(&shown);
    Ok(i32::from(found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)))
}

/// The findings in a script.
#[derive(JsonSchema, Serialize)]
pub(crate) struct CheckReport<'a> {
    /// The script's file, `-c` or `standard input`.
    file: &'a str,
    /// Whether no finding is an error.
    ok: bool,
    /// Whether the script is incomplete, so that more input could make it valid.
    incomplete: bool,
    /// The findings, in the order of the text.
    diagnostics: Vec<LocatedDiagnostic<'a>>,
}

/// The findings as one JSON object.
pub(super) fn json(name: &str, found: &[Diagnostic], lines: &LineIndex) -> String {
    let report = CheckReport {
        file: name,
        ok: found.iter().all(|diagnostic| diagnostic.severity != Severity::Error),
        incomplete: found.iter().any(|diagnostic| diagnostic.incomplete),
        diagnostics: found.iter().map(|diagnostic| diagnostic.locate(lines)).collect(),
    };
    json_line(&report)
}

fn explain(code: &str) -> Result<i32, Failure> {
    match rule(code) {
        Some(rule) => {
            print(&explanation(rule));
            Ok(0)
        }
        None => {
            let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
            let unknown = Failure::usage(format_args!("unknown rule '{code}'"));
            Err(unknown.with_hint(format_args!("the codes are {}", codes.join(", "))))
        }
    }
}

fn explanation(rule: &Rule) -> String {
    let indented = |examples: &[&str]| -> String {
        let example = |example: &&str| {
            example.lines().map(|line| format!("    {}\n", visible(line))).collect::<String>()
        };
        examples.iter().map(example).collect::<Vec<_>>().join("\n")
    };
    format!(
        "{} ({}): {}\n\n{}\n\nfound in:\n{}\nnot found in:\n{}",
        rule.code,
        rule.severity.word(),
        rule.summary,
        rule.explanation,
        indented(rule.wrong),
        indented(rule.right)
    )
}

/// A line with its invisible characters escaped.
fn visible(line: &str) -> String {
    let hidden = |character: char| character.is_control() || (character.is_whitespace() && character != ' ');
    line.chars()
        .map(
            |character| {
                if hidden(character) { character.escape_default().to_string() } else { character.into() }
            },
        )
        .collect()
}

/// Prints text; a closed pipe is not an error.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
