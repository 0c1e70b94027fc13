//! Which part of an output the caller wants to see.

use haft_process::capture::render::{VirtualTerminal, render};
use haft_process::capture::{self, LineSearch, Output, OutputSummary};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ansi::has_controls;

/// Which part of the output to show. Without any of these: as much of the beginning and the end as the budget allows.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ViewArguments {
    /// This many lines from the beginning.
    #[serde(default)]
    head: Option<u64>,
    /// This many lines at the end.
    #[serde(default)]
    tail: Option<u64>,
    /// Only lines that match this regular expression, with their numbers.
    #[serde(default)]
    grep: Option<String>,
    /// With grep: so many lines around each match.
    #[serde(default)]
    context: Option<u64>,
    /// The first and the last line to show, counted from 1.
    #[serde(default)]
    lines: Option<(u64, u64)>,
    /// Show at most this many bytes (default 16384, at most 1048576).
    #[serde(default)]
    bytes: Option<usize>,
}

/// The same, understood.
#[derive(Clone, Debug)]
pub(crate) struct OutputView {
    view: capture::OutputView,
    pub(crate) budget: usize,
}

/// What is shown of an output when nothing else is asked for.
const DEFAULT_VIEW_BYTES: usize = 16 * 1024;
/// More is never shown at once.
const MAX_VIEW_BYTES: usize = 1 << 20;

impl ViewArguments {
    /// Understands it.
    pub(crate) fn resolve(self) -> Result<OutputView, String> {
        let asked = [self.head.is_some(), self.tail.is_some(), self.grep.is_some(), self.lines.is_some()];
        if asked.iter().filter(|asked| **asked).count() > 1 {
            return Err("\"view\" takes one of head, tail, grep and lines".to_owned());
        }
        if self.context.is_some() && self.grep.is_none() {
            return Err("\"view.context\" goes with \"view.grep\"".to_owned());
        }
        let budget = self.bytes.unwrap_or(DEFAULT_VIEW_BYTES).clamp(1, MAX_VIEW_BYTES);
        let view = match self {
            ViewArguments { head: Some(lines), .. } => capture::OutputView::HeadLines(lines),
            ViewArguments { tail: Some(lines), .. } => capture::OutputView::TailLines(lines),
            ViewArguments { lines: Some((first, last)), .. } => capture::OutputView::Lines { first, last },
            ViewArguments { grep: Some(pattern), context, .. } => {
                let context = context.unwrap_or(0);
                let search = LineSearch::new(&pattern).map_err(|error| format!("\"view.grep\": {error}"))?;
                capture::OutputView::Matches(search.context(context, context))
            }
            _ => capture::OutputView::HeadAndTail,
        };
        Ok(OutputView { view, budget })
    }
}

impl Default for OutputView {
    fn default() -> OutputView {
        OutputView { view: capture::OutputView::HeadAndTail, budget: DEFAULT_VIEW_BYTES }
    }
}

impl OutputView {
    /// What of an output is not seen yet, to its end.
    pub(crate) fn since(&self, cursor: u64) -> OutputView {
        match self.view {
            capture::OutputView::HeadAndTail => {
                OutputView { view: capture::OutputView::Bytes(cursor..u64::MAX), budget: self.budget }
            }
            _ => self.clone(),
        }
    }

    /// What is shown of an output: text without colours and with overwritten lines as they were left.
    pub(crate) fn summarize(&self, output: &Output) -> Result<OutputSummary, capture::Error> {
        let mut summary = output.summary(&self.view, self.budget)?;
        if is_binary(&summary) {
            summary.text = format!("[{} bytes that are not text]\n", summary.total_bytes);
            summary.truncated = true;
        } else {
            if summary.text.contains('\0') {
                // What separates names is shown as the picture of itself.
                summary.text = summary.text.replace('\0', "\u{2400}");
                summary.lossy = true;
            }
            if has_controls(&summary.text) {
                summary.text = rendered(&summary.text)?;
            }
        }
        Ok(summary)
    }
}

/// Whether there is no sense in reading it: more than a few characters that are none, or more zero bytes than separate names.
fn is_binary(summary: &OutputSummary) -> bool {
    let count = |wanted: char| summary.text.chars().filter(|letter| *letter == wanted).count();
    let (zeros, wrong) = (count('\0'), count('\u{fffd}'));
    (zeros > 0 && wrong > 0) || zeros * 3 > summary.text.len() || wrong * 10 > summary.text.len()
}

/// Text as a terminal would show it, wide enough to break no line.
fn rendered(text: &str) -> Result<String, capture::Error> {
    let screen = render(text.as_bytes(), VirtualTerminal::new(100, 1000).line_feed_returns());
    Ok(screen.slice(&capture::OutputView::HeadAndTail, MAX_VIEW_BYTES)?.to_text().text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(json: &str, output: &Output) -> String {
        serde_json::from_str::<ViewArguments>(json)
            .unwrap()
            .resolve()
            .unwrap()
            .summarize(output)
            .unwrap()
            .text
    }

    #[test]
    fn names_between_zero_bytes_are_text_and_programs_are_not() {
        let shown = |bytes: &[u8]| {
            let output = Output::new(capture::CaptureLimits::default(), None);
            output.append(bytes);
            seen("{}", &output)
        };
        assert_eq!(shown(b"one\0two three\0"), "one\u{2400}two three\u{2400}");
        assert_eq!(shown(b"\x7fELF\x02\x01\0\0\0\xf0\xff"), "[11 bytes that are not text]\n");
        assert_eq!(shown(b"a\0b\0c\0"), "[6 bytes that are not text]\n");
    }

    #[test]
    fn every_view_shows_its_part() {
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"one\ntwo\nthree\nfour\n");
        let cases = [
            ("{}", "one\ntwo\nthree\nfour\n"),
            (r#"{"head": 1}"#, "one\n"),
            (r#"{"tail": 2}"#, "three\nfour\n"),
            (r#"{"lines": [2, 3]}"#, "two\nthree\n"),
            (r#"{"grep": "^t"}"#, "2:two\n3:three\n"),
            (r#"{"grep": "four", "context": 1}"#, "3-three\n4:four\n"),
            (r#"{"bytes": 4}"#, "one\n"),
        ];
        for (json, text) in &cases[..6] {
            assert_eq!(seen(json, &output), *text, "{json}");
        }
        assert!(seen(cases[6].0, &output).len() < 60);
    }

    #[test]
    fn progress_bars_leave_their_last_state() {
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"\x1b[32mbuilding\x1b[0m 10%\rbuilding 100%\ndone\n");
        assert_eq!(seen("{}", &output), "building 100%\ndone\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_not_shown_as_text() {
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe");
        assert_eq!(seen("{}", &output), "[12 bytes that are not text]\n");
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"caf\xe9 au lait, as it was once written\n");
        assert_eq!(seen("{}", &output), "caf\u{fffd} au lait, as it was once written\n");
    }

    #[test]
    fn views_that_exclude_each_other_are_refused() {
        let view: ViewArguments = serde_json::from_str(r#"{"head": 1, "tail": 1}"#).unwrap();
        assert_eq!(view.resolve().unwrap_err(), "\"view\" takes one of head, tail, grep and lines");
    }
}
