//! `haft policy test`: test the examples that rules carry.

use haft_policy::ExampleResult;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::PolicyReportArguments;
use crate::commands::print::{print_json, print_text};
use crate::failure::{Failure, print_message};
use crate::policy;
use crate::process_context::ProcessContext;
use crate::units::count;

/// The results of the examples.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PolicyTestReport<'a> {
    /// Whether all examples hold.
    ok: bool,
    /// The examples, in the order of the rules.
    examples: &'a [ExampleResult],
}

/// Prints the examples that do not hold. Returns 1 if there are any.
pub(crate) fn run(arguments: &PolicyReportArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let policy = policy::load(arguments.policy.policy.as_deref(), process)?;
    let examples = policy.test_examples();
    let failed = examples.iter().filter(|example| !example.passed);
    let ok = failed.clone().next().is_none();
    let status = i32::from(!ok);
    if arguments.json {
        return Ok(print_json(&PolicyTestReport { ok, examples: &examples }, status));
    }
    let status = print_text(&failed.clone().map(line).collect::<String>(), status);
    print_message(format_args!("{} tested, {} failed", count(examples.len(), "example"), failed.count()));
    Ok(status)
}

fn line(example: &ExampleResult) -> String {
    let problem = match (&example.error, example.expected) {
        (Some(error), _) => format!("is not valid: {error}"),
        (None, true) => format!("does not match {}", example.rule),
        (None, false) => format!("matches {}", example.rule),
    };
    format!("{}: '{}' {problem}\n", example.place, example.command)
}
