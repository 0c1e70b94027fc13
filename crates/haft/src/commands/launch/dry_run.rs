//! `haft launch --dry-run`: show everything, start nothing.

use std::fmt::Write as _;

use serde_json::Value;

use super::arguments::LaunchOptions;
use super::become_agent::write_files;
use super::prepare::PreparedLaunch;
use super::summary::{self, LaunchReport};
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;

const MAX_SHOWN_LINES: usize = 12;
const MAX_SHOWN_COLUMNS: usize = 160;

/// Prints the beginnings of the role and the prompt, and the command line. Leaves no file, unless the user names a
/// directory for them.
pub(super) fn run(mut prepared: PreparedLaunch, options: &LaunchOptions) -> Result<i32, Failure> {
    let mut report = LaunchReport::new(&prepared);
    let text = shown(&prepared, &report, options.save.is_some());
    if options.save.is_some() {
        report.directory = Some(prepared.files.path().display().to_string());
        save(&mut prepared, &report)?;
        prepared.files.keep();
    }
    Ok(if options.json { print_json(&report, 0) } else { print_text(&text, 0) })
}

/// Writes the role, the prompt, the command line and the agent's files.
fn save(prepared: &mut PreparedLaunch, report: &LaunchReport) -> Result<(), Failure> {
    write_files(prepared)?;
    let command = serde_json::to_vec_pretty(report).unwrap_or_default();
    let role = prepared.material.role.clone().unwrap_or_default();
    let prompt = prepared.material.prompt.clone();
    for (name, bytes) in [("role.md", role), ("prompt.md", prompt), ("command.json", command)] {
        let path = prepared.files.path().join(name);
        // The plan may contain the same file.
        if prepared.plan.files.iter().all(|(planned, _)| *planned != path) {
            prepared.files.write(&path, &bytes)?;
        }
    }
    Ok(())
}

fn shown(prepared: &PreparedLaunch, report: &LaunchReport, saved: bool) -> String {
    let mut text = format!("would launch {}\n", summary::line(prepared));
    for note in prepared.material.skipped.iter().chain(&prepared.material.notes) {
        let _ = writeln!(text, "note: {note}");
    }
    for piece in &prepared.material.pieces {
        let _ = writeln!(text, "{:>9} bytes  {}", piece.bytes, piece.label);
    }
    let role = prepared.material.role.as_deref().unwrap_or_default();
    for (name, bytes) in [("role", role), ("prompt", &prepared.material.prompt)] {
        let _ = write!(text, "\n{name}: {} bytes\n{}", bytes.len(), beginning(bytes));
    }
    let _ = writeln!(text, "\ncommand:");
    for argument in &report.argv {
        let _ = writeln!(text, "  {}", cut(&Value::from(argument.as_str()).to_string()));
    }
    for (name, value) in &report.env {
        let _ = writeln!(text, "  {name}={}", cut(&Value::from(value.as_str()).to_string()));
    }
    let _ = match saved {
        true => writeln!(text, "\nall files are in {}", prepared.files.path().display()),
        false => writeln!(text, "\n--save DIR writes all of it into files"),
    };
    text
}

/// The first lines, indented.
fn beginning(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let mut shown: String =
        lines.by_ref().take(MAX_SHOWN_LINES).map(|line| format!("  {}\n", cut(line))).collect();
    let left = lines.count();
    if left > 0 {
        let lines = if left == 1 { "line" } else { "lines" };
        let _ = writeln!(shown, "  … {left} more {lines}");
    }
    shown
}

/// A line cut to the width of a screen, without control characters.
fn cut(line: &str) -> String {
    let plain = |letter: char| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter };
    let mut shown: String = line.chars().take(MAX_SHOWN_COLUMNS).map(plain).collect();
    if line.chars().nth(MAX_SHOWN_COLUMNS).is_some() {
        shown.push('…');
    }
    shown
}
