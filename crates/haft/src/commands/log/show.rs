//! `haft log show`: everything about one run.

use std::fmt::Write as _;

use haft_config::printable_text;
use haft_records::{RunDetail, RunEnd, RunStart, RunState, StageEnd};
use jiff::tz::TimeZone;

use super::cannot_read;
use super::table::{local_time, seconds};
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::records;
use crate::units::count;

/// Finds a run by its id.
pub(crate) fn find(id: &str, process: &ProcessContext) -> Result<RunDetail, Failure> {
    let found = records::store(process)?.find(id).map_err(|error| cannot_read(&error))?;
    found.ok_or_else(|| {
        Failure::new(format_args!("unknown run '{id}'"), 1)
            .with_hint("'haft log' lists the runs with their ids")
    })
}

/// Prints everything about a run.
pub(super) fn run(id: &str, json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let detail = find(id, process)?;
    Ok(if json { print_json(&detail, 0) } else { print_text(&text(&detail), 0) })
}

fn text(detail: &RunDetail) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:10} {}", printable_text(value));
        }
    };
    let RunStart { run, session, cwd, kind, process, .. } = &detail.start;
    field("run", run);
    field("kind", kind.name());
    field("started", &local_time(detail.start.time, &TimeZone::system()));
    field("session", session);
    field("agent", detail.start.agent.as_deref().unwrap_or_default());
    let client = detail.start.client.as_ref().map(|client| format!("{} {}", client.name, client.version));
    field("client", &client.unwrap_or_default());
    field("parent", detail.start.parent.as_deref().unwrap_or_default());
    field("directory", cwd);
    field("process", &process.pid.to_string());
    field("tool", detail.start.tool.as_deref().unwrap_or_default());
    field("arguments", &detail.start.arguments.as_ref().map(ToString::to_string).unwrap_or_default());
    field("argv", &detail.start.argv.join(" "));
    match (&detail.end, detail.state) {
        (Some(end), _) => add_end(end, &mut field),
        (None, RunState::Running) => field("status", "running"),
        (None, _) => field("status", "lost: haft was killed, or the launched agent replaced it"),
    }
    add_lines(
        &mut text,
        "script",
        detail.start.script.iter().flat_map(|script| script.lines()).map(printable_text),
    );
    add_lines(&mut text, "stages", detail.stages.iter().map(stage_line));
    text
}

fn add_end(end: &RunEnd, field: &mut impl FnMut(&str, &str)) {
    field("status", &status(end));
    field("error", end.error.as_deref().unwrap_or_default());
    field("time", &format!("{}, cpu {}", seconds(end.duration), seconds(end.cpu)));
    field("memory", &if end.max_rss > 0 { format!("{} KiB", end.max_rss >> 10) } else { String::new() });
    for output in &end.outputs {
        field(&output.stream, &format!("{}, {}", output.id, count(output.bytes, "byte")));
    }
    if let Some(changed) = &end.changed {
        let paths = changed.paths.join(" ");
        field(
            "changed",
            &format!("{} in overlay '{}': {paths}", count(changed.count, "path"), changed.overlay),
        );
    }
    for decision in &end.policy {
        field("policy", decision);
    }
    if let Some(tree) = &end.tree {
        let left = tree.survivors.map_or_else(|| "unknown".to_owned(), |left| left.to_string());
        field("processes", &format!("{} started, {} killed, {left} left", tree.started, tree.killed));
    }
}

fn status(end: &RunEnd) -> String {
    let cause = match end {
        RunEnd { timed_out: true, .. } => Some("timed out".to_owned()),
        RunEnd { limit: Some(limit), .. } => Some(format!("{limit} limit reached")),
        RunEnd { cancelled: true, .. } => Some("cancelled".to_owned()),
        RunEnd { signal: Some(signal), .. } => Some(format!("killed by {signal}")),
        _ => None,
    };
    let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    format!("exit {}{cause}", end.code)
}

fn add_lines(text: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.map(|line| format!("    {line}\n")).collect();
    if !lines.is_empty() {
        let _ = write!(text, "{name}\n{}", lines.concat());
    }
}

fn stage_line(stage: &StageEnd) -> String {
    let how = stage.signal.as_ref().map_or_else(|| format!("exit {}", stage.code), Clone::clone);
    let cpu = stage.cpu.map(|cpu| format!(", cpu {}", seconds(cpu))).unwrap_or_default();
    let words = printable_text(&stage.argv.join(" "));
    let (pipeline, wall) = (stage.pipeline, seconds(stage.wall));
    format!("{pipeline}  {words}  [{how}, {wall}{cpu}, {}]", stage.kind)
}
