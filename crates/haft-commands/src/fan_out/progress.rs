//! How far it is, on a terminal.

use std::time::{Duration, Instant};

use haft_kernel::builtins::Context;

use super::schedule::ItemCounts;

/// How often it is shown at most.
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: u64 = 30;

/// A line on standard error that is written over and over.
#[derive(Debug)]
pub(super) struct ProgressLine {
    shown: Option<Instant>,
    visible: bool,
}

impl ProgressLine {
    /// One if standard error is a terminal.
    pub(super) fn on(context: &Context<'_>) -> Option<Self> {
        context.file(2).filter(|file| file.is_terminal()).map(|_| Self { shown: None, visible: false })
    }

    /// Shows it, unless it was shown just now, or the terminal is not that of this job at the moment.
    pub(super) fn show(&mut self, context: &mut Context<'_>, counts: &ItemCounts) {
        if context.session.is_in_background_job() {
            self.visible = false;
            return;
        }
        if self.shown.is_some_and(|shown| shown.elapsed() < PAUSE) {
            return;
        }
        self.shown = Some(Instant::now());
        self.visible = true;
        let _ = context.session.write(2, format!("\r\x1b[K{}", line(counts)).as_bytes());
    }

    /// Takes it away, so that something else can be written.
    pub(super) fn clear(&mut self, context: &mut Context<'_>) {
        if std::mem::take(&mut self.visible) && !context.session.is_in_background_job() {
            let _ = context.session.write(2, b"\r\x1b[K");
            self.shown = None;
        }
    }
}

fn line(counts: &ItemCounts) -> String {
    let ItemCounts { done, failed, running, total } = counts;
    let failures = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    match total {
        Some(total) if *total > 0 => {
            let filled = usize::try_from(done * WIDTH / total).unwrap_or(0);
            let empty = usize::try_from(WIDTH).unwrap_or(0) - filled;
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
    fn the_line_says_how_far_it_is() {
        let counts = ItemCounts { done: 5, failed: 1, running: 2, total: Some(10) };
        assert_eq!(line(&counts), "[###############...............] 5 of 10 done, 2 running, 1 failed");
        let counts = ItemCounts { done: 5, failed: 0, running: 2, total: None };
        assert_eq!(line(&counts), "5 done, 2 running");
    }
}
