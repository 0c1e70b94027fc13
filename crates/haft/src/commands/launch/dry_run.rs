//! `haft launch --dry-run`: write and show everything, start nothing.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use super::arguments::LaunchOptions;
use super::become_agent::write_files;
use super::prepare::PreparedLaunch;
use super::summary::{self, LaunchReport};
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;

const MAX_SHOWN_LINES: usize = 12;
const MAX_SHOWN_COLUMNS: usize = 160;

/// Writes the role, the prompt and the command line, and prints their beginnings.
pub(super) fn run(mut prepared: PreparedLaunch, options: &LaunchOptions) -> Result<i32, Failure> {
    let mut report = LaunchReport::new(&prepared);
    let directory = prepared.files.path().to_path_buf();
    write_files(&mut prepared)?;
    let role = prepared.material.role.clone().unwrap_or_default();
    let prompt = prepared.material.prompt.clone();
    for (name, bytes) in [("role.md", &role), ("prompt.md", &prompt)] {
        let path = directory.join(name);
        // The plan may contain the same file.
        if prepared.plan.files.iter().all(|(planned, _)| *planned != path) {
            prepared.files.write(&path, bytes)?;
        }
    }
    report.directory = Some(directory.display().to_string());
    let text = serde_json::to_string_pretty(&report).unwrap_or_default() + "\n";
    let path: PathBuf = directory.join("command.json");
    prepared.files.write(&path, text.as_bytes())?;
    let text = shown(&prepared, &role, &prompt, &report);
    prepared.files.keep();
    Ok(if options.json { print_json(&report, 0) } else { print_text(&text, 0) })
}

fn shown(prepared: &PreparedLaunch, role: &[u8], prompt: &[u8], report: &LaunchReport) -> String {
    let mut text = format!("would launch {}\n", summary::line(prepared));
    for note in &prepared.material.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for (name, bytes) in [("role.md", role), ("prompt.md", prompt)] {
        let _ = write!(text, "\n{name}: {} bytes\n{}", bytes.len(), beginning(bytes));
    }
    let _ = writeln!(text, "\ncommand.json:");
    for argument in &report.argv {
        let _ = writeln!(text, "  {}", cut(&Value::from(argument.as_str()).to_string()));
    }
    for (name, value) in &report.env {
        let _ = writeln!(text, "  {name}={}", cut(&Value::from(value.as_str()).to_string()));
    }
    let _ = writeln!(text, "\nall files are in {}", prepared.files.path().display());
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
