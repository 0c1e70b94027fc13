use std::fmt::Write as _;
use std::ops::Range;

use super::snapshot::Snapshot;
use super::state::count_newlines;
use super::{Error, Text};

/// What a view shows of an output, as it was at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Slice {
    /// What is shown, in order, never overlapping.
    pub pieces: Vec<Piece>,
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
pub struct Piece {
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

impl Piece {
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

impl Slice {
    /// The slice that shows these pieces of what was asked for.
    pub(super) fn new(snapshot: &Snapshot, range: Range<u64>, pieces: Vec<Piece>) -> Result<Self, Error> {
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
        pieces: Vec<Piece>,
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
    pub fn to_text(&self) -> Text {
        let mut text = Text { text: String::new(), lossy: self.lossy };
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
        text
    }

    fn decode(&self, piece: &Piece) -> Text {
        let goes_on = piece.end() < self.total_bytes || !self.finished;
        Text::decode_cut(&piece.bytes, piece.start > 0, goes_on)
    }

    fn write_omission(&self, before: &Piece, after: &Piece, text: &mut String) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if self.matches.is_some() {
            text.push_str("--\n");
            return;
        }
        let within =
            |omission: &&Omission| omission.bytes.start >= before.end() && omission.bytes.end <= after.start;
        let omitted = self.omissions.iter().find(within);
        let Some(Omission { bytes, lines, lost }) = omitted else { return };
        let count = bytes.end - bytes.start;
        let _ = write!(text, "[… {count} bytes in {lines} lines omitted");
        if *lost > 0 {
            let _ = write!(text, ", {lost} of them lost");
        }
        text.push_str(" …]\n");
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
fn write_numbered(piece: &Piece, decoded: &str, text: &mut String) {
    for (index, line) in decoded.split_inclusive('\n').enumerate() {
        let number = piece.first_line + index as u64;
        let sign = if piece.matches.binary_search(&number).is_ok() { ':' } else { '-' };
        let _ = write!(text, "{number}{sign}{line}");
    }
}
