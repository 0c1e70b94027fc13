//! A range of lines of an output, for a display that shows only some lines at a time.

use serde::{Deserialize, Serialize};

use super::{Error, Output, OutputView};

/// The most lines of a window.
const MAX_LINES: u64 = 1000;
/// The most bytes that are read at once for a window.
const WINDOW_BYTES: usize = 512 << 10;
/// The most bytes of a line that a window contains.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Consecutive lines of an output. Long lines are cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputWindow {
    /// The number of the first line, counted from 1.
    pub first: u64,
    /// The lines, without their newlines.
    pub lines: Vec<WindowLine>,
    /// Number of lines of the whole output.
    pub total_lines: u64,
    /// Number of bytes of the whole output.
    pub total_bytes: u64,
    /// Number of bytes of the whole output that are not kept.
    pub lost_bytes: u64,
    /// Whether the output is complete.
    pub finished: bool,
}

/// A line of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowLine {
    /// The text, with U+FFFD in place of invalid UTF-8.
    pub text: String,
    /// Whether the end of the line is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Whether the line, or a part of it, is not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

impl Output {
    /// Returns up to `count` lines from the line `first` on.
    ///
    /// # Errors
    /// Fails if the spill file cannot be read.
    pub fn window(&self, first: u64, count: u64) -> Result<OutputWindow, Error> {
        let first = first.max(1);
        let last = first.saturating_add(count.min(MAX_LINES)).saturating_sub(1);
        let slice = self.slice(&OutputView::Lines { first, last }, WINDOW_BYTES)?;
        let mut window = OutputWindow {
            first,
            lines: Vec::new(),
            total_lines: slice.total_lines,
            total_bytes: slice.total_bytes,
            lost_bytes: slice.lost_bytes,
            finished: slice.finished,
        };
        if let (true, [piece]) = (slice.omissions.is_empty(), slice.pieces.as_slice()) {
            let bytes = piece.bytes.strip_suffix(b"\n").unwrap_or(&piece.bytes);
            window.lines = bytes.split(|byte| *byte == b'\n').map(WindowLine::new).collect();
        } else {
            for line in first..=last.min(slice.total_lines) {
                window.lines.push(self.one_line(line)?);
            }
        }
        Ok(window)
    }

    /// The beginning of a line.
    fn one_line(&self, line: u64) -> Result<WindowLine, Error> {
        let slice = self.slice(&OutputView::Lines { first: line, last: line }, MAX_LINE_BYTES)?;
        let lost = slice.omissions.iter().any(|omission| omission.lost > 0);
        // Where bytes are lost, the range contains other lines, too.
        let piece = slice.pieces.first().filter(|piece| piece.first_line == line || !lost);
        let bytes = piece.map(|piece| piece.bytes.as_slice()).unwrap_or_default();
        let bytes = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(WindowLine { cut: !slice.omissions.is_empty() && !lost, lost, ..WindowLine::new(bytes) })
    }
}

impl WindowLine {
    fn new(bytes: &[u8]) -> WindowLine {
        let shown = &bytes[..bytes.len().min(MAX_LINE_BYTES)];
        let text = String::from_utf8_lossy(shown).into_owned();
        WindowLine { text, cut: shown.len() < bytes.len(), lost: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureLimits, SpillDirectory};

    fn texts(window: &OutputWindow) -> Vec<&str> {
        window.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn a_window_has_only_its_lines() {
        let output = Output::new(CaptureLimits::default(), Some(SpillDirectory::memory()));
        let text: String = (1..=100_000).map(|number| format!("line {number}\n")).collect();
        output.append(text.as_bytes());
        let window = output.window(70_001, 2).unwrap();
        assert_eq!(texts(&window), ["line 70001", "line 70002"]);
        assert_eq!((window.first, window.total_lines, window.finished), (70_001, 100_000, false));
        assert_eq!(texts(&output.window(100_000, 5).unwrap()), ["line 100000"]);
        assert!(output.window(100_001, 5).unwrap().lines.is_empty());
    }

    #[test]
    fn a_huge_line_is_cut_and_its_neighbours_are_shown() {
        let output = Output::new(CaptureLimits::default(), Some(SpillDirectory::memory()));
        output.append(b"before\n");
        output.append(&vec![b'x'; 5 << 20]);
        output.append(b"\nafter\n");
        let window = output.window(1, 100).unwrap();
        assert_eq!(window.lines.len(), 3);
        assert_eq!(window.lines[0], WindowLine::new(b"before"));
        assert!(window.lines[1].cut && window.lines[1].text.len() == MAX_LINE_BYTES);
        assert_eq!(window.lines[2], WindowLine::new(b"after"));
    }

    #[test]
    fn lines_that_are_not_kept_are_marked() {
        let output = Output::new(CaptureLimits { head: 8, tail: 8, spill: 0 }, None);
        output.append(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
        let window = output.window(1, 100).unwrap();
        assert_eq!(window.lines.len(), 12);
        assert_eq!(window.lines[0].text, "1");
        assert!(window.lines[6].lost && window.lines[6].text.is_empty());
        assert_eq!(window.lines[11].text, "12");
        assert!(!window.lines[11].lost);
    }
}
