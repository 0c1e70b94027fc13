//! The tools `check` and `plan`: they analyze a script without running it.

use haft_lang::ast::LineIndex;
use haft_lang::check::{Diagnostic, Severity};
use haft_lang::{ParseOptions, Resolver, Script};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::reply::ToolReply;

/// Arguments of the tools `check` and `plan`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptArguments {
    /// The bash script.
    script: String,
}

/// The file name in diagnostics.
const SCRIPT_NAME: &str = "script";

/// Reports errors and likely mistakes in a script.
pub(crate) fn check(arguments: &ScriptArguments, names: &dyn Resolver) -> ToolReply {
    let source = arguments.script.as_bytes();
    let found = haft_lang::check::check(source, &ParseOptions::default(), names);
    let lines = LineIndex::new(source);
    let mut text: String =
        found.iter().map(|diagnostic| diagnostic.render(SCRIPT_NAME, source, &lines)).collect();
    if found.is_empty() {
        text.push_str("no problems found\n");
    }
    let data = json!({
        "ok": found.iter().all(|diagnostic| diagnostic.severity != Severity::Error),
        "incomplete": found.iter().any(|diagnostic| diagnostic.incomplete),
        "diagnostics": found.iter().map(|diagnostic| diagnostic.locate(&lines)).collect::<Vec<_>>(),
    });
    ToolReply::new(text, data)
}

/// Formats a syntax error with the line it is in.
pub(crate) fn format_syntax_error(error: &haft_lang::SyntaxError, script: &str) -> String {
    let source = script.as_bytes();
    Diagnostic::from(error).render(SCRIPT_NAME, source, &LineIndex::new(source))
}

/// Lists the commands that a script can run.
pub(crate) fn plan(arguments: &ScriptArguments, names: &dyn Resolver) -> ToolReply {
    let source = arguments.script.as_bytes();
    let script = Script::parse(source, &ParseOptions::default());
    if let Some(error) = script.error() {
        return ToolReply::failure(format_syntax_error(error, &arguments.script));
    }
    let plan = haft_lang::plan::plan(&script.program(), source, names);
    let data = serde_json::to_value(&plan).unwrap_or_default();
    ToolReply::new(plan.to_string(), data)
}
