//! `haft log verify`: check that no record was removed or changed.

use std::fmt::Write as _;

use super::cannot_read;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::records;
use crate::units::count;

/// Prints the problems. Returns 1 if there are some.
pub(super) fn run(json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let found = records::store(process)?.verify().map_err(|error| cannot_read(&error))?;
    let status = i32::from(!found.problems.is_empty());
    if json {
        return Ok(print_json(&found, status));
    }
    let mut text = String::new();
    for problem in &found.problems {
        let _ = writeln!(text, "{}:{}: {}", problem.file, problem.line, problem.problem);
    }
    let (records, files) = (count(found.records, "record"), count(found.files, "file"));
    let problems = match found.problems.len() {
        0 => "nothing was removed or changed".to_owned(),
        number => count(number, "problem"),
    };
    let _ = writeln!(text, "{records} in {files}: {problems}");
    if found.lost > 0 {
        let _ = writeln!(
            text,
            "{} could not be written, for example on a full disk",
            count(found.lost, "record")
        );
    }
    Ok(print_text(&text, status))
}
