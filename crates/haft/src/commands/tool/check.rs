//! `haft tool check`: test whether an executable follows the tool protocol.

use std::path::{Path, PathBuf};

use haft_tools::{ToolFinding, ToolVerdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolRuntime;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// The findings of `haft tool check`.
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
    let runtime = ToolRuntime::new(process)?;
    let file = &locate(file, &runtime, process)?;
    let findings = runtime.registry.check_tool(file);
    let ok = is_good(&findings);
    let status = i32::from(!ok);
    if json {
        return Ok(print_json(&ToolCheckReport { file, ok, findings: &findings }, status));
    }
    Ok(print_text(&text(&findings), status))
}

/// The tool's file. A word without a slash is the name of a tool if no such file exists.
fn locate(file: &Path, runtime: &ToolRuntime, process: &ProcessContext) -> Result<PathBuf, Failure> {
    let path = process.working_directory.as_deref().unwrap_or(Path::new("/")).join(file);
    let name = file.to_str().filter(|name| !name.contains('/') && !path.exists());
    let Some(name) = name else { return Ok(path) };
    match runtime.registry.file_of(name) {
        Some(path) => Ok(path),
        None => match runtime.registry.find(name) {
            Ok(_) => Err(Failure::usage(format_args!(
                "tool '{name}' has no file to check: haft or an MCP server provides it"
            ))),
            Err(error) => {
                let failure = Failure::usage(&error.message);
                Err(Failure { hint: error.hint.as_deref().map(str::to_owned), ..failure })
            }
        },
    }
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
