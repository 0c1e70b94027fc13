//! `haft check`: what is wrong with a script, before anything runs.

use std::io::Write as _;

use haft_lang::ParseOptions;
use haft_lang::ast::LineIndex;
use haft_lang::check::{Diagnostic, LocatedDiagnostic, RULES, Rule, Severity, check, rule};
use serde::Serialize;

use crate::arguments::CheckArguments;
use crate::commands::script::{self, NameResolver};
use crate::failure::{Failure, USAGE};
use crate::process_context::ProcessContext;

/// Checks and says what was found: 1 if there are errors.
pub(crate) fn run(arguments: CheckArguments, process: &ProcessContext) -> Result<i32, Failure> {
    if let Some(code) = &arguments.explain {
        return explain(code);
    }
    let text = match script::read(arguments.script) {
        Ok(text) => text,
        Err(failure) => return unreadable(failure, arguments.json),
    };
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

/// Says that a script cannot be read: as JSON if that was asked for.
pub(super) fn unreadable(failure: Failure, json: bool) -> Result<i32, Failure> {
    if json {
        print(&script::failure_json(&failure));
        return Ok(USAGE);
    }
    Err(Failure { status: USAGE, ..failure })
}

/// All that was found, as one JSON object.
pub(super) fn json(name: &str, found: &[Diagnostic], lines: &LineIndex) -> String {
    #[derive(Serialize)]
    struct Report<'a> {
        file: &'a str,
        ok: bool,
        incomplete: bool,
        diagnostics: Vec<LocatedDiagnostic<'a>>,
    }
    let report = Report {
        file: name,
        ok: found.iter().all(|diagnostic| diagnostic.severity != Severity::Error),
        incomplete: found.iter().any(|diagnostic| diagnostic.incomplete),
        diagnostics: found.iter().map(|diagnostic| diagnostic.locate(lines)).collect(),
    };
    serde_json::to_string(&report).unwrap_or_default() + "\n"
}

fn explain(code: &str) -> Result<i32, Failure> {
    match rule(code) {
        Some(rule) => {
            print(&explanation(rule));
            Ok(0)
        }
        None => {
            let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
            let hint = Some(format!("the codes are {}", codes.join(", ")));
            Err(Failure { hint, ..Failure::usage(format!("there is no rule \"{code}\"")) })
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

/// A line as it is written, but for characters that cannot be seen.
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

/// Prints data; a reader that has gone away is no failure.
pub(super) fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
