use std::fmt::Write as _;
use std::ops::Range;

use super::snapshot::OutputSnapshot;
use super::state::count_newlines;
use super::{DecodedText, Error, missing_mark};

/// The part of an output that a view selected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputSlice {
    /// The selected pieces, in order, without overlap.
    pub pieces: Vec<SlicePiece>,
    /// Ranges that were requested but are missing, in order.
    pub omissions: Vec<Omission>,
    /// The number of matches of a search; `None` for other views.
    pub matches: Option<Matches>,
    /// Number of bytes of the stream.
    pub total_bytes: u64,
    /// Number of lines of the stream.
    pub total_lines: u64,
    /// Whether the stream is complete.
    pub finished: bool,
    /// Whether the stream is text that was rendered from bytes with invalid UTF-8 or refused control sequences.
    pub lossy: bool,
    /// Number of lost bytes of the stream, requested or not.
    pub lost_bytes: u64,
}

/// Consecutive bytes of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlicePiece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their offset in the stream.
    pub start: u64,
    /// The line number of the first byte.
    pub first_line: u64,
    /// The numbers of the lines that match a search.
    pub matches: Vec<u64>,
}

/// A range of an output that was requested but is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Omission {
    /// The byte offsets.
    pub bytes: Range<u64>,
    /// Number of newlines in it, as far as known.
    pub lines: u64,
    /// Number of these bytes that are lost, so that no view can show them.
    pub lost: u64,
}

/// The number of lines that match a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// Matching lines in all kept bytes.
    pub total: u64,
    /// Matching lines in the slice.
    pub shown: u64,
}

impl SlicePiece {
    pub(super) fn read(snapshot: &OutputSnapshot, range: Range<u64>) -> Result<Self, Error> {
        Ok(Self {
            start: range.start,
            first_line: snapshot.newlines_before(range.start)? + 1,
            bytes: snapshot.read(range)?,
            matches: Vec::new(),
        })
    }

    /// Returns the offset of its end.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Returns the number of lines, including partial ones.
    pub fn lines(&self) -> u64 {
        count_newlines(&self.bytes) + u64::from(self.bytes.last().is_some_and(|byte| *byte != b'\n'))
    }
}

impl OutputSlice {
    /// Makes a slice of pieces, and computes the omissions of the requested range.
    pub(super) fn new(
        snapshot: &OutputSnapshot,
        range: Range<u64>,
        pieces: Vec<SlicePiece>,
    ) -> Result<Self, Error> {
        let mut omissions = Vec::new();
        let mut shown = range.start;
        for piece in pieces.iter().filter(|piece| !piece.bytes.is_empty()) {
            omissions.extend(Omission::between(snapshot, shown..piece.start)?);
            shown = piece.end();
        }
        omissions.extend(Omission::between(snapshot, shown..range.end)?);
        let pieces = pieces.into_iter().filter(|piece| !piece.bytes.is_empty()).collect();
        Ok(Self::of(snapshot, pieces, omissions, None))
    }

    pub(super) fn of(
        snapshot: &OutputSnapshot,
        pieces: Vec<SlicePiece>,
        omissions: Vec<Omission>,
        matches: Option<Matches>,
    ) -> Self {
        Self {
            pieces,
            omissions,
            matches,
            total_bytes: snapshot.total,
            total_lines: snapshot.lines,
            finished: snapshot.finished,
            lossy: snapshot.lossy,
            lost_bytes: snapshot.lost().map_or(0, |lost| lost.end - lost.start),
        }
    }

    /// Whether the slice contains everything that was requested.
    pub fn is_whole(&self) -> bool {
        self.omissions.is_empty() && self.matches.is_none_or(|matches| matches.shown == matches.total)
    }

    /// Returns the number of lines, including partial ones. A line that is split between two pieces counts once.
    pub fn shown_lines(&self) -> u64 {
        let mut lines = 0;
        let mut next_line = 0;
        for piece in &self.pieces {
            let last_line = piece.first_line + piece.lines() - 1;
            lines += last_line + 1 - next_line.max(piece.first_line).min(last_line + 1);
            next_line = last_line + 1;
        }
        lines
    }

    /// Returns the bytes of all pieces.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| &piece.bytes).copied().collect()
    }

    /// Returns the slice as text, with a line for each omission. The lines of a search are numbered as by `grep -n`.
    pub fn to_text(&self) -> DecodedText {
        let mut text = DecodedText { text: String::new(), lossy: self.lossy };
        self.write_beginning(&mut text.text);
        for (index, piece) in self.pieces.iter().enumerate() {
            if index > 0 {
                self.write_omission(&self.pieces[index - 1], piece, &mut text.text);
            }
            let decoded = self.decode(piece);
            text.lossy |= decoded.lossy;
            match self.matches {
                None => text.text.push_str(&decoded.text),
                Some(_) => write_numbered(piece, &decoded.text, &mut text.text),
            }
        }
        self.write_end(&mut text.text);
        text
    }

    /// Writes a mark for an omission after the last piece.
    fn write_end(&self, text: &mut String) {
        let end = self.pieces.last().map(SlicePiece::end).filter(|_| self.matches.is_none());
        if let Some(mark) = end.and_then(|end| self.omission_mark(end..self.total_bytes)) {
            end_line(text);
            text.push_str(&mark);
        }
    }

    /// Writes a mark for an omission before the first piece.
    fn write_beginning(&self, text: &mut String) {
        let start = self.pieces.first().map(|piece| piece.start).filter(|_| self.matches.is_none());
        text.extend(start.and_then(|start| self.omission_mark(0..start)));
    }

    fn decode(&self, piece: &SlicePiece) -> DecodedText {
        let goes_on = piece.end() < self.total_bytes || !self.finished;
        DecodedText::decode_cut(&piece.bytes, piece.start > 0, goes_on)
    }

    /// Returns the bytes of all pieces, with a line for each omission.
    pub fn to_marked_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut position = 0;
        for piece in &self.pieces {
            self.mark(position..piece.start, &mut bytes);
            bytes.extend_from_slice(&piece.bytes);
            position = piece.end();
        }
        if !self.pieces.is_empty() {
            self.mark(position..self.total_bytes, &mut bytes);
        }
        bytes
    }

    fn mark(&self, range: Range<u64>, bytes: &mut Vec<u8>) {
        let Some(mark) = self.omission_mark(range) else { return };
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(mark.as_bytes());
    }

    fn write_omission(&self, before: &SlicePiece, after: &SlicePiece, text: &mut String) {
        if self.matches.is_some() {
            end_line(text);
            text.push_str("--\n");
            return;
        }
        if let Some(mark) = self.omission_mark(before.end()..after.start) {
            end_line(text);
            text.push_str(&mark);
        }
    }

    /// Returns the line that marks the omission in a range, if there is one.
    fn omission_mark(&self, range: Range<u64>) -> Option<String> {
        let within =
            |omission: &&Omission| omission.bytes.start >= range.start && omission.bytes.end <= range.end;
        let Omission { bytes, lines, lost } = self.omissions.iter().find(within)?;
        let count = bytes.end - bytes.start;
        Some(match *lost {
            0 => format!("[… {count} bytes in {lines} lines omitted …]\n"),
            lost if lost == count => missing_mark(count) + "\n",
            lost => format!("[… {count} bytes in {lines} lines omitted, {lost} of them not kept …]\n"),
        })
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

impl Omission {
    /// Makes an omission of a range, unless it is empty.
    pub(super) fn between(snapshot: &OutputSnapshot, range: Range<u64>) -> Result<Option<Self>, Error> {
        if range.is_empty() {
            return Ok(None);
        }
        let lines = snapshot.newlines_before(range.end)? - snapshot.newlines_before(range.start)?;
        let lost = snapshot.lost().unwrap_or(0..0);
        let lost = lost.end.min(range.end).saturating_sub(lost.start.max(range.start));
        Ok(Some(Self { bytes: range, lines, lost }))
    }
}

/// Writes each line with its number, followed by a colon if it matches or a hyphen if it is context.
fn write_numbered(piece: &SlicePiece, decoded: &str, text: &mut String) {
    for (index, line) in decoded.split_inclusive('\n').enumerate() {
        let number = piece.first_line + index as u64;
        let sign = if piece.matches.binary_search(&number).is_ok() { ':' } else { '-' };
        let _ = write!(text, "{number}{sign}{line}");
    }
}
