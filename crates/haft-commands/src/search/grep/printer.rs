//! Writes the lines that `grep` selects.

use super::color::{MATCH, NAME, NUMBER, SEPARATOR, painted};
use super::settings::GrepSettings;
use crate::rows::JsonCell;
use crate::text::streams::{Stop, TextRun};

/// The digits of the largest number, for files whose size is not known.
const MAX_DIGITS: usize = 19;

/// Separates the parts before a selected line.
const SELECTED: u8 = b':';

/// Separates the parts before a line of context.
const CONTEXT: u8 = b'-';

/// A line of a file.
#[derive(Clone, Debug)]
pub(super) struct GrepLine {
    /// Without its end.
    pub(super) text: Vec<u8>,
    pub(super) number: u64,
    pub(super) offset: u64,
}

/// Writes the lines of one file.
pub(super) struct LinePrinter<'a> {
    pub(super) settings: &'a GrepSettings,
    pub(super) name: &'a [u8],
    pub(super) shows_name: bool,
    /// The width of numbers with `-T`.
    width: usize,
}

impl<'a> LinePrinter<'a> {
    /// `size` is `None` if the file is not a regular one.
    pub(super) fn new(
        settings: &'a GrepSettings,
        name: &'a [u8],
        shows_name: bool,
        size: Option<u64>,
    ) -> Self {
        let width = match (settings.print.tab, size) {
            (false, _) => 0,
            (true, Some(size)) => size.saturating_add(1).to_string().len(),
            (true, None) => MAX_DIGITS,
        };
        Self { settings, name, shows_name, width }
    }

    /// Writes a selected line, or a line of context. Returns `false` if it is not text, and was not written.
    pub(super) fn line(
        &self,
        run: &mut TextRun<'_, '_>,
        line: &GrepLine,
        is_selected: bool,
    ) -> Result<bool, Stop> {
        let print = &self.settings.print;
        let is_matching = is_selected != self.settings.is_inverted;
        if print.only_matching && !is_matching {
            return Ok(true);
        }
        if !print.only_matching && !self.is_text(&line.text) {
            return Ok(false);
        }
        let mut text = Vec::with_capacity(line.text.len() + 1);
        if !print.only_matching {
            let separator = if is_selected { SELECTED } else { CONTEXT };
            self.head(&mut text, line, line.offset, line.text.len(), separator);
        }
        let is_text = match is_matching && (print.only_matching || print.color) {
            true => self.matches(run, line, &mut text)?,
            false => {
                text.extend_from_slice(&line.text);
                true
            }
        };
        if !print.only_matching {
            text.push(self.settings.end);
        }
        if !print.only_matching {
            run.row(|| self.cells(Some(line), &line.text, line.offset, Some(is_selected)));
        }
        run.write(&text)?;
        self.line_done(run)?;
        Ok(is_text)
    }

    fn line_done(&self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        if self.settings.print.line_buffered { run.flush() } else { Ok(()) }
    }

    /// Whether a line may be written. Invalid characters make it binary data.
    fn is_text(&self, text: &[u8]) -> bool {
        use super::settings::BinaryFiles;
        use haft_text::encoding::Encoding;
        self.settings.binary == BinaryFiles::Text
            || self.settings.encoding == Encoding::Bytes
            || std::str::from_utf8(text).is_ok()
    }

    /// Writes the matches of a line: only them, or the whole line with the matches in colour. Returns `false` at a match that is not
    /// text.
    fn matches(
        &self,
        run: &mut TextRun<'_, '_>,
        line: &GrepLine,
        output: &mut Vec<u8>,
    ) -> Result<bool, Stop> {
        let print = &self.settings.print;
        let text = &line.text;
        let (mut at, mut written) = (0, 0);
        while let Some(found) = self.find(run, text, at)? {
            if found.is_empty() {
                at = found.end + 1;
                if at > text.len() {
                    break;
                }
                continue;
            }
            if print.only_matching && !self.is_text(&text[found.clone()]) {
                return Ok(false);
            }
            let shown = match print.color {
                true => painted(&text[found.clone()], MATCH),
                false => text[found.clone()].to_vec(),
            };
            if print.only_matching {
                let separator = if self.settings.is_inverted { CONTEXT } else { SELECTED };
                let offset = line.offset + found.start as u64;
                run.row(|| self.cells(Some(line), &text[found.clone()], offset, Some(true)));
                self.head(output, line, offset, found.len(), separator);
            } else {
                output.extend_from_slice(&text[written..found.start]);
            }
            output.extend_from_slice(&shown);
            if print.only_matching {
                output.push(self.settings.end);
            }
            (at, written) = (found.end, found.end);
            if at >= text.len() {
                break;
            }
        }
        if !print.only_matching {
            output.extend_from_slice(&text[written..]);
        }
        Ok(true)
    }

    fn find(
        &self,
        run: &mut TextRun<'_, '_>,
        text: &[u8],
        from: usize,
    ) -> Result<Option<std::ops::Range<usize>>, Stop> {
        let Some(matcher) = &self.settings.matcher else { return Ok(None) };
        run.context.check()?;
        matcher.find(text, from).or_else(|error| run.fail(error))
    }

    /// The name, the number and the offset before a line.
    fn head(&self, output: &mut Vec<u8>, line: &GrepLine, offset: u64, length: usize, separator: u8) {
        let print = &self.settings.print;
        if self.shows_name {
            self.file_name(output);
            match print.null {
                true => output.push(0),
                false => self.separator(output, separator),
            }
        }
        for (is_wanted, number) in [(print.number, line.number), (print.offset, offset)] {
            if is_wanted {
                let digits = format!("{number:width$}", width = self.width);
                self.paint(output, digits.as_bytes(), NUMBER);
                self.separator(output, separator);
            }
        }
        if print.tab && (self.shows_name || print.number || print.offset) && length > 0 {
            output.push(b'\t');
        }
    }

    fn separator(&self, output: &mut Vec<u8>, separator: u8) {
        self.paint(output, &[separator], SEPARATOR);
    }

    fn paint(&self, output: &mut Vec<u8>, text: &[u8], color: &str) {
        match self.settings.print.color {
            true => output.extend(painted(text, color)),
            false => output.extend_from_slice(text),
        }
    }

    fn file_name(&self, output: &mut Vec<u8>) {
        self.paint(output, self.name, NAME);
    }

    /// Writes the line between groups.
    pub(super) fn group_separator(&self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let Some(text) = &self.settings.print.separator else { return Ok(()) };
        let mut line = Vec::new();
        self.paint(&mut line, text, SEPARATOR);
        line.push(b'\n');
        run.write(&line)
    }

    /// The cells of JSON output for a line, a match or only a file.
    fn cells(
        &self,
        line: Option<&GrepLine>,
        text: &[u8],
        offset: u64,
        is_selected: Option<bool>,
    ) -> Vec<JsonCell> {
        vec![
            self.name.into(),
            line.map(|line| line.number).into(),
            line.map(|_| offset).into(),
            line.map(|_| text).into(),
            is_selected.into(),
            JsonCell::Null,
        ]
    }

    /// Writes the number of selected lines.
    pub(super) fn count(&self, run: &mut TextRun<'_, '_>, count: u64) -> Result<(), Stop> {
        run.row(|| {
            let mut cells = self.cells(None, b"", 0, None);
            cells[5] = count.into();
            cells
        });
        let mut line = Vec::new();
        if self.shows_name {
            self.file_name(&mut line);
            match self.settings.print.null {
                true => line.push(0),
                false => self.separator(&mut line, SELECTED),
            }
        }
        line.extend_from_slice(format!("{count}\n").as_bytes());
        run.write(&line)?;
        self.line_done(run)
    }

    /// Writes only the name of the file.
    pub(super) fn only_name(&self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        run.row(|| self.cells(None, b"", 0, None));
        let mut line = Vec::new();
        self.file_name(&mut line);
        line.push(if self.settings.print.null { 0 } else { b'\n' });
        run.write(&line)?;
        self.line_done(run)
    }
}
