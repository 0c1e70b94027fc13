//! `haft log stats`: sums per day, agent and program.

use std::fmt::Write as _;

use haft_config::printable_text;
use haft_fs::ByteSize;
use haft_records::{RunFilter, RunStatistics, StatisticsRow};
use jiff::Zoned;

use super::cannot_read;
use super::table::seconds;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::records;

/// How many agents and programs the text shows.
const MAX_ROWS: usize = 20;

/// Prints the sums.
pub(super) fn run(filter: &RunFilter, json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let offset = i64::from(Zoned::now().offset().seconds()) * 1000;
    let statistics =
        records::store(process)?.statistics(filter, offset).map_err(|error| cannot_read(&error))?;
    Ok(if json { print_json(&statistics, 0) } else { print_text(&text(&statistics), 0) })
}

fn text(statistics: &RunStatistics) -> String {
    let mut text = String::new();
    let RunStatistics { total, days, agents, programs } = statistics;
    add_table(&mut text, "", std::slice::from_ref(total));
    add_table(&mut text, "day", days);
    add_table(&mut text, "agent", agents);
    add_table(&mut text, "program", programs);
    text
}

fn add_table(text: &mut String, title: &str, rows: &[StatisticsRow]) {
    if rows.is_empty() {
        return;
    }
    if !title.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "{title:24} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "count", "failed", "time", "cpu", "output"
    );
    let first = if title == "day" { rows.len().saturating_sub(MAX_ROWS) } else { 0 };
    for row in rows.iter().skip(first).take(MAX_ROWS) {
        let name: String = printable_text(&row.name).chars().take(24).collect();
        let (time, cpu, bytes) = (seconds(row.time), seconds(row.cpu), ByteSize(row.bytes).to_string());
        let (count, failed) = (row.count, row.failed);
        let _ = writeln!(text, "{name:24} {count:>9} {failed:>9} {time:>9} {cpu:>9} {bytes:>9}");
    }
    let left = rows.len().saturating_sub(MAX_ROWS);
    if left > 0 {
        let _ = writeln!(text, "({left} more; '--json' has all)");
    }
}
