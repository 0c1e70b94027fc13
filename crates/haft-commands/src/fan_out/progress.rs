//! Progress line on a terminal.

use std::time::{Duration, Instant};

use haft_kernel::builtins::Context;

use super::schedule::ItemCounts;

/// The shortest time between two updates.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// The width of the bar in characters.
const BAR_WIDTH: u64 = 30;
/// Returns to the start of the line and erases it.
const ERASE_LINE: &str = "\r\x1b[K";

/// A line on standard error that is overwritten with each update.
#[derive(Debug)]
pub(super) struct ProgressLine {
    updated: Option<Instant>,
    visible: bool,
}

impl ProgressLine {
    /// A progress line, if standard error is a terminal.
    pub(super) fn new(context: &Context<'_>) -> Option<Self> {
        context.file(2).filter(|file| file.is_terminal()).map(|_| Self { updated: None, visible: false })
    }

    /// Updates the line. Does nothing if it was updated just now, or if this job is in the background.
    pub(super) fn update(&mut self, context: &mut Context<'_>, counts: &ItemCounts) {
        if context.session().is_in_background_job() {
            self.visible = false;
            return;
        }
        if self.updated.is_some_and(|updated| updated.elapsed() < MIN_UPDATE_INTERVAL) {
            return;
        }
        self.updated = Some(Instant::now());
        self.visible = true;
        context.print_error(format!("{ERASE_LINE}{}", format_line(counts)).as_bytes());
    }

    /// Erases the line, so that other output can be written.
    pub(super) fn clear(&mut self, context: &mut Context<'_>) {
        if std::mem::take(&mut self.visible) && !context.session().is_in_background_job() {
            context.print_error(ERASE_LINE.as_bytes());
            self.updated = None;
        }
    }
}

fn format_line(counts: &ItemCounts) -> String {
    let ItemCounts { done, failed, running, total } = counts;
    let failures = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    match total {
        Some(total) if *total > 0 => {
            let filled = usize::try_from(done * BAR_WIDTH / total).unwrap_or(0);
            let empty = usize::try_from(BAR_WIDTH).unwrap_or(0) - filled;
            let bar = format!("{}{}", "#".repeat(filled), ".".repeat(empty));
            format!("[{bar}] {done} of {total} done, {running} running{failures}")
        }
        _ => format!("{done} done, {running} running{failures}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_items_and_shows_a_bar_once_the_total_is_known() {
        let counts = ItemCounts { done: 5, failed: 1, running: 2, total: Some(10) };
        assert_eq!(
            format_line(&counts),
            "[###############...............] 5 of 10 done, 2 running, 1 failed"
        );
        let counts = ItemCounts { done: 5, failed: 0, running: 2, total: None };
        assert_eq!(format_line(&counts), "5 done, 2 running");
    }
}
