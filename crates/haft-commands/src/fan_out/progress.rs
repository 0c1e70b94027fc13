//! Progress line on a terminal.

use std::time::{Duration, Instant};

use haft_kernel::builtins::Context;

use super::schedule::ItemCounts;

/// The shortest time between two updates.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// The time before the pace of a fan-out is shown.
const MIN_PACE_TIME: Duration = Duration::from_secs(2);
/// The width of the bar in characters.
const BAR_WIDTH: u64 = 30;
/// Returns to the start of the line and erases it.
const ERASE_LINE: &str = "\r\x1b[K";

/// A line on standard error that is overwritten with each update.
#[derive(Debug)]
pub(super) struct ProgressLine {
    started: Instant,
    updated: Option<Instant>,
    visible: bool,
}

impl ProgressLine {
    /// A progress line, if standard error is a terminal.
    pub(super) fn new(context: &Context<'_>) -> Option<Self> {
        let line = || Self { started: Instant::now(), updated: None, visible: false };
        context.file(2).filter(|file| file.is_terminal()).map(|_| line())
    }

    /// Updates the line. Does nothing if it was updated just now, or if this job is in the background.
    /// `running` is the number of items that run, if the executor knows it.
    pub(super) fn update(&mut self, context: &mut Context<'_>, counts: &ItemCounts, running: Option<usize>) {
        if context.session().is_in_background_job() {
            self.visible = false;
            return;
        }
        if self.updated.is_some_and(|updated| updated.elapsed() < MIN_UPDATE_INTERVAL) {
            return;
        }
        self.updated = Some(Instant::now());
        self.visible = true;
        let queued = running.map_or(0, |running| counts.active.saturating_sub(running));
        let counts = ItemCounts { running: running.unwrap_or(counts.running), ..*counts };
        let line = format_line(&counts, queued, self.started.elapsed());
        context.print_error(format!("{ERASE_LINE}{line}").as_bytes());
    }

    /// Erases the line, so that other output can be written.
    pub(super) fn clear(&mut self, context: &mut Context<'_>) {
        if std::mem::take(&mut self.visible) && !context.session().is_in_background_job() {
            context.print_error(ERASE_LINE.as_bytes());
            self.updated = None;
        }
    }
}

fn format_line(counts: &ItemCounts, queued: usize, elapsed: Duration) -> String {
    let ItemCounts { done, failed, running, total, .. } = counts;
    let waiting = if queued > 0 { format!(", {queued} queued") } else { String::new() };
    let failures = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    let states = format!("{running} running{waiting}{failures}{}", format_pace(counts, elapsed));
    match total {
        Some(total) if *total > 0 => {
            let filled = usize::try_from(done * BAR_WIDTH / total).unwrap_or(0);
            let empty = usize::try_from(BAR_WIDTH).unwrap_or(0) - filled;
            let bar = format!("{}{}", "#".repeat(filled), ".".repeat(empty));
            format!("[{bar}] {done} of {total} done, {states}")
        }
        _ => format!("{done} done, {states}"),
    }
}

/// The rate, and the time left, once there is enough to judge by.
fn format_pace(counts: &ItemCounts, elapsed: Duration) -> String {
    let rate = counts.done as f64 / elapsed.as_secs_f64();
    if elapsed < MIN_PACE_TIME || counts.done == 0 {
        return String::new();
    }
    let rate_shown = if rate < 10.0 { format!(", {rate:.1}/s") } else { format!(", {rate:.0}/s") };
    let left = counts.total.map(|total| total.saturating_sub(counts.done) as f64 / rate);
    match left {
        Some(seconds) if seconds >= 1.0 => format!("{rate_shown}, {} left", format_seconds(seconds as u64)),
        _ => rate_shown,
    }
}

fn format_seconds(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {:02}s", seconds % 60),
        _ => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_items_and_shows_a_bar_once_the_total_is_known() {
        let counts = ItemCounts { done: 5, failed: 1, running: 2, active: 2, total: Some(10) };
        assert_eq!(
            format_line(&counts, 0, Duration::ZERO),
            "[###############...............] 5 of 10 done, 2 running, 1 failed"
        );
        let counts = ItemCounts { done: 5, failed: 0, running: 2, active: 2, total: None };
        assert_eq!(format_line(&counts, 0, Duration::ZERO), "5 done, 2 running");
    }

    #[test]
    fn the_line_shows_what_is_queued_and_the_time_left() {
        let counts = ItemCounts { done: 50, failed: 0, running: 4, active: 9, total: Some(4000) };
        assert_eq!(
            format_line(&counts, 5, Duration::from_secs(10)),
            "[..............................] 50 of 4000 done, 4 running, 5 queued, 5.0/s, 13m 10s left"
        );
        assert_eq!([format_seconds(59), format_seconds(7261)], ["59s", "2h 01m"]);
    }
}
