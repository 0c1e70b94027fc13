use std::fmt::Write as _;
use std::ops::Range;

use super::snapshot::Snapshot;
use super::state::count_newlines;
use super::{DecodedText, Error, missing_mark};

/// What a view shows of an output, as it was at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputSlice {
    /// What is shown, in order, never overlapping.
    pub pieces: Vec<SlicePiece>,
    /// What was asked for and is not shown, in order.
    pub omissions: Vec<Omission>,
    /// What a search found; nothing for other views.
    pub matches: Option<Matches>,
    /// All bytes of the stream at that moment.
    pub total_bytes: u64,
    /// All lines of the stream at that moment.
    pub total_lines: u64,
    /// Whether the stream had ended.
    pub finished: bool,
    /// Whether the stream is itself text, rendered from bytes that were not all UTF-8 or could not all be applied.
    pub lossy: bool,
    /// So many bytes of the stream are lost, whether they were asked for or not.
    pub lost_bytes: u64,
}

/// A run of bytes of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlicePiece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where in the stream they begin.
    pub start: u64,
    /// The number of the line they begin in, counted from 1.
    pub first_line: u64,
    /// The numbers of those lines that a search matched.
    pub matches: Vec<u64>,
}

/// A part of an output that was asked for and is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Omission {
    /// Where in the stream it is.
    pub bytes: Range<u64>,
    /// How many lines end in it, as far as that is known.
    pub lines: u64,
    /// How many of the bytes are lost, so that no other view can show them.
    pub lost: u64,
}

/// What a search found in all that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// Lines that match.
    pub total: u64,
    /// Lines that match and are shown.
    pub shown: u64,
}

impl SlicePiece {
    pub(super) fn read(snapshot: &Snapshot, range: Range<u64>) -> Result<Self, Error> {
        Ok(Self {
            start: range.start,
            first_line: snapshot.newlines_before(range.start)? + 1,
            bytes: snapshot.read(range)?,
            matches: Vec::new(),
        })
    }

    /// Where in the stream the piece ends.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// How many lines the piece shows something of.
    pub fn lines(&self) -> u64 {
        count_newlines(&self.bytes) + u64::from(self.bytes.last().is_some_and(|byte| *byte != b'\n'))
    }
}

impl OutputSlice {
    /// The slice that shows these pieces of what was asked for.
    pub(super) fn new(
        snapshot: &Snapshot,
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
        snapshot: &Snapshot,
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

    /// Whether everything that was asked for is shown.
    pub fn is_whole(&self) -> bool {
        self.omissions.is_empty() && self.matches.is_none_or(|matches| matches.shown == matches.total)
    }

    /// How many lines the slice shows something of. A line cut in two by a piece's end counts once.
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

    /// All bytes shown, one piece after the other.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pieces.iter().flat_map(|piece| &piece.bytes).copied().collect()
    }

    /// The slice as text for a reader: what is omitted between two pieces has a line of its own that says so, and the lines
    /// of a search are numbered as `grep -n` does it.
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

    /// Says what was asked for after the last piece and is not shown.
    fn write_end(&self, text: &mut String) {
        let end = self.pieces.last().map(SlicePiece::end).filter(|_| self.matches.is_none());
        if let Some(mark) = end.and_then(|end| self.omission_mark(end..self.total_bytes)) {
            end_line(text);
            text.push_str(&mark);
        }
    }

    /// Says what was asked for before the first piece and is not shown.
    fn write_beginning(&self, text: &mut String) {
        let start = self.pieces.first().map(|piece| piece.start).filter(|_| self.matches.is_none());
        text.extend(start.and_then(|start| self.omission_mark(0..start)));
    }

    fn decode(&self, piece: &SlicePiece) -> DecodedText {
        let goes_on = piece.end() < self.total_bytes || !self.finished;
        DecodedText::decode_cut(&piece.bytes, piece.start > 0, goes_on)
    }

    /// All bytes shown, with a line in the place of what is omitted between or around them.
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

    /// A line that says what of a range was asked for and is not shown, if anything is.
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
    /// What lies in a range, unless it is empty.
    pub(super) fn between(snapshot: &Snapshot, range: Range<u64>) -> Result<Option<Self>, Error> {
        if range.is_empty() {
            return Ok(None);
        }
        let lines = snapshot.newlines_before(range.end)? - snapshot.newlines_before(range.start)?;
        let lost = snapshot.lost().unwrap_or(0..0);
        let lost = lost.end.min(range.end).saturating_sub(lost.start.max(range.start));
        Ok(Some(Self { bytes: range, lines, lost }))
    }
}

/// Writes each line with its number, a colon when it matched and a hyphen when it is context.
fn write_numbered(piece: &SlicePiece, decoded: &str, text: &mut String) {
    for (index, line) in decoded.split_inclusive('\n').enumerate() {
        let number = piece.first_line + index as u64;
        let sign = if piece.matches.binary_search(&number).is_ok() { ':' } else { '-' };
        let _ = write!(text, "{number}{sign}{line}");
    }
}
