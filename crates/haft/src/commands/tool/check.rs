//! `haft tool check`: test whether an executable follows the tool protocol.

use std::path::Path;

use haft_tools::{ToolFinding, ToolVerdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolRuntime;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// What `haft tool check` found.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ToolCheckReport<'a> {
    /// The executable.
    file: &'a Path,
    /// Whether nothing is wrong.
    ok: bool,
    findings: &'a [ToolFinding],
}

/// Checks the tool and prints the findings. Returns 1 if something is wrong.
pub(super) fn run(file: &Path, json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let base = process.working_directory.as_deref().unwrap_or(Path::new("/"));
    let findings = ToolRuntime::new(process)?.registry.check_tool(&base.join(file));
    let ok = is_good(&findings);
    let status = i32::from(!ok);
    if json {
        return Ok(print_json(&ToolCheckReport { file, ok, findings: &findings }, status));
    }
    Ok(print_text(&text(&findings), status))
}

/// Whether nothing is wrong.
pub(super) fn is_good(findings: &[ToolFinding]) -> bool {
    findings.iter().all(|finding| finding.verdict != ToolVerdict::Wrong)
}

/// One line per finding.
pub(super) fn text(findings: &[ToolFinding]) -> String {
    let line = |finding: &ToolFinding| {
        let verdict = match finding.verdict {
            ToolVerdict::Good => "good",
            ToolVerdict::Advice => "advice",
            ToolVerdict::Wrong => "WRONG",
        };
        format!("{verdict:7} {:12} {}\n", finding.part, finding.detail)
    };
    findings.iter().map(line).collect()
}
