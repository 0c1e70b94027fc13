//! Selects the part of an output that a caller asked for.

use haft_process::capture::render::{VirtualTerminal, render};
use haft_process::capture::{self, LineSearch, Output, OutputSlice, OutputSummary};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ansi::has_controls;

/// Part of the output to return. Default: beginning and end.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ViewArguments {
    /// First N lines.
    #[serde(default)]
    head: Option<u64>,
    /// Last N lines.
    #[serde(default)]
    tail: Option<u64>,
    /// Only lines matching this regex, numbered.
    #[serde(default)]
    grep: Option<String>,
    /// Context lines for grep.
    #[serde(default)]
    context: Option<u64>,
    /// First and last line, from 1.
    #[serde(default)]
    lines: Option<[u64; 2]>,
    /// Byte limit (default 16384).
    #[serde(default)]
    bytes: Option<usize>,
}

/// A validated view.
#[derive(Clone, Debug)]
pub(crate) struct ReplyView {
    view: capture::OutputView,
    pub(crate) budget: usize,
}

/// The byte limit of views that set none.
const DEFAULT_VIEW_BYTES: usize = 16 * 1024;
/// Larger byte limits are cut to this.
const MAX_VIEW_BYTES: usize = 1 << 20;

impl ViewArguments {
    /// Validates the arguments.
    pub(crate) fn resolve(self) -> Result<ReplyView, String> {
        let selections =
            [self.head.is_some(), self.tail.is_some(), self.grep.is_some(), self.lines.is_some()];
        if selections.iter().filter(|given| **given).count() > 1 {
            return Err("'view' takes only one of head, tail, grep and lines".to_owned());
        }
        if self.context.is_some() && self.grep.is_none() {
            return Err("'view.context' requires 'view.grep'".to_owned());
        }
        let budget = self.bytes.unwrap_or(DEFAULT_VIEW_BYTES).clamp(1, MAX_VIEW_BYTES);
        let view = match self {
            ViewArguments { head: Some(lines), .. } => capture::OutputView::HeadLines(lines),
            ViewArguments { tail: Some(lines), .. } => capture::OutputView::TailLines(lines),
            ViewArguments { lines: Some([first, last]), .. } => capture::OutputView::Lines { first, last },
            ViewArguments { grep: Some(pattern), context, .. } => {
                let context = context.unwrap_or(0);
                let search = LineSearch::new(&pattern).map_err(|error| format!("'view.grep': {error}"))?;
                capture::OutputView::Matches(search.context(context, context))
            }
            _ => capture::OutputView::HeadAndTail,
        };
        Ok(ReplyView { view, budget })
    }
}

impl Default for ReplyView {
    fn default() -> ReplyView {
        ReplyView { view: capture::OutputView::HeadAndTail, budget: DEFAULT_VIEW_BYTES }
    }
}

impl ReplyView {
    /// The same view of the output between two offsets.
    pub(crate) fn between(&self, start: u64, end: u64) -> ReplyView {
        match self.view {
            capture::OutputView::HeadAndTail => {
                ReplyView { view: capture::OutputView::Bytes(start..end), budget: self.budget }
            }
            _ => self.clone(),
        }
    }

    /// Returns the selected text. Escape sequences are rendered as a terminal would show them, and bytes that are not
    /// UTF-8 as `\xNN`.
    pub(crate) fn summarize(&self, output: &Output) -> Result<ShownOutput, capture::Error> {
        let mut summary = output.summary(&self.view, self.budget)?;
        let mut omitted_lines = None;
        if summary.lossy || summary.truncated {
            let slice = output.slice(&self.view, self.budget)?;
            omitted_lines = lines_between(&slice);
            if slice.matches.is_none() && summary.lossy && !is_binary(&summary) {
                summary.text = escape_invalid(&slice.to_marked_bytes());
            }
        }
        if is_binary(&summary) {
            summary.text = format!("[{} bytes of binary data]\n", summary.total_bytes);
            summary.truncated = true;
        } else {
            if summary.text.contains('\0') {
                // Show a NUL separator as its Unicode symbol.
                summary.text = summary.text.replace('\0', "\u{2400}");
                summary.lossy = true;
            }
            if has_controls(&summary.text) {
                summary.text = rendered(&summary.text)?;
            }
        }
        Ok(ShownOutput { summary, omitted_lines })
    }
}

/// The part of an output that a reply shows.
#[derive(Debug)]
pub(crate) struct ShownOutput {
    pub(crate) summary: OutputSummary,
    /// The first and the last line between the beginning and the end that are shown.
    pub(crate) omitted_lines: Option<(u64, u64)>,
}

/// The lines between the two pieces of a slice.
fn lines_between(slice: &OutputSlice) -> Option<(u64, u64)> {
    let [head, tail] = slice.pieces.as_slice() else { return None };
    let newlines = head.bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    let first = head.first_line + newlines;
    Some((first, tail.first_line.saturating_sub(1).max(first)))
}

/// Text in another encoding, such as Latin-1, is shown if it is this short, however many bytes are invalid.
const MAX_SHORT_TEXT_BYTES: usize = 256;

/// Whether the output is binary: control characters beside invalid ones, more NUL bytes than separators would explain, or
/// a long text in which many characters are invalid.
fn is_binary(summary: &OutputSummary) -> bool {
    let count = |wanted: fn(char) -> bool| summary.text.chars().filter(|letter| wanted(*letter)).count();
    let (zeros, wrong) = (count(|letter| letter == '\0'), count(|letter| letter == '\u{fffd}'));
    let is_control =
        |letter: char| letter.is_ascii_control() && !"\t\n\r\x07\x08\x0b\x0c\x1b".contains(letter);
    let length = summary.text.len();
    (wrong > 0 && count(is_control) > 0)
        || zeros * 3 > length
        || (wrong * 10 > length && length > MAX_SHORT_TEXT_BYTES)
}

/// Decodes UTF-8, and writes every invalid byte as `\xNN`.
fn escape_invalid(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// Renders text as a terminal would show it, wide enough that no line wraps.
fn rendered(text: &str) -> Result<String, capture::Error> {
    let screen = render(text.as_bytes(), VirtualTerminal::new(100, 1000).line_feed_returns());
    Ok(screen.slice(&capture::OutputView::HeadAndTail, MAX_VIEW_BYTES)?.to_text().text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(json: &str, output: &Output) -> String {
        serde_json::from_str::<ViewArguments>(json)
            .unwrap()
            .resolve()
            .unwrap()
            .summarize(output)
            .unwrap()
            .summary
            .text
    }

    #[test]
    fn nul_separated_names_are_text_and_executables_are_binary() {
        let shown = |bytes: &[u8]| {
            let output = Output::new(capture::CaptureLimits::default(), None);
            output.append(bytes);
            view("{}", &output)
        };
        assert_eq!(shown(b"one\0two three\0"), "one\u{2400}two three\u{2400}");
        assert_eq!(shown(b"\x7fELF\x02\x01\0\0\0\xf0\xff"), "[11 bytes of binary data]\n");
        assert_eq!(shown(b"a\0b\0c\0"), "[6 bytes of binary data]\n");
    }

    #[test]
    fn every_view_selects_its_part() {
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
            assert_eq!(view(json, &output), *text, "{json}");
        }
        assert!(view(cases[6].0, &output).len() < 60);
    }

    #[test]
    fn progress_bars_are_shown_in_their_last_state() {
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"\x1b[32mbuilding\x1b[0m 10%\rbuilding 100%\ndone\n");
        assert_eq!(view("{}", &output), "building 100%\ndone\n");
    }

    #[test]
    fn binary_output_is_not_shown() {
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe");
        assert_eq!(view("{}", &output), "[12 bytes of binary data]\n");
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"caf\xe9 au lait, as it was once written\n");
        assert_eq!(view("{}", &output), "caf\\xe9 au lait, as it was once written\n");
        let output = Output::new(capture::CaptureLimits::default(), None);
        output.append(b"\xe9t\xe9\n");
        assert_eq!(view("{}", &output), "\\xe9t\\xe9\n");
    }

    #[test]
    fn the_omitted_lines_are_those_between_beginning_and_end() {
        let output = Output::new(capture::CaptureLimits::default(), None);
        (1..=1000).for_each(|number| output.append(format!("line {number}\n").as_bytes()));
        let view: ViewArguments = serde_json::from_str(r#"{"bytes": 200}"#).unwrap();
        let shown = view.resolve().unwrap().summarize(&output).unwrap();
        let (first, last) = shown.omitted_lines.unwrap();
        let text = &shown.summary.text;
        assert!(
            text.contains(&format!("line {}\n", first - 1)) && !text.contains(&format!("line {first}\n"))
        );
        assert!(text.contains(&format!("line {}\n", last + 1)) && !text.contains(&format!("line {last}\n")));
    }

    #[test]
    fn conflicting_views_are_rejected() {
        let view: ViewArguments = serde_json::from_str(r#"{"head": 1, "tail": 1}"#).unwrap();
        assert_eq!(view.resolve().unwrap_err(), "'view' takes only one of head, tail, grep and lines");
    }
}
