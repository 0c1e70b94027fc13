//! Brace expansion.
//!
//! While reading a word, the parser only marks braces and commas. At the end of the word it matches them, and
//! unmatched ones become literals again.

use crate::ast::{BraceRange, Braces, PartKind, SharedSlice, Span, WordFlags, WordPart};

use super::builder::WordBuilder;
use super::{Parser, Result};

/// A brace or comma that may be part of a brace expansion.
#[derive(Clone, Copy)]
pub(super) struct BraceMark {
    byte: u8,
    /// The number of parts before it.
    part: usize,
    span: Span,
}

impl Parser<'_> {
    /// Marks a brace or comma.
    pub(super) fn mark(&mut self, byte: u8, builder: &mut WordBuilder) {
        if byte != b'{' && builder.marks.is_empty() {
            return self.literal_byte(builder);
        }
        builder.flush();
        let mark = BraceMark { byte, part: builder.parts.len(), span: self.next_span() };
        builder.marks.push(mark);
        self.input.at += 1;
    }

    /// Turns marked braces into brace expansions or literals.
    pub(super) fn resolve_braces(&mut self, builder: &mut WordBuilder) -> Result<()> {
        builder.flush();
        let marks = std::mem::take(&mut builder.marks);
        let parts = std::mem::take(&mut builder.parts);
        let pairs = pairs(&marks, &parts);
        let last = parts.len();
        let mut word = MarkedWord { marks, pairs, parts: parts.into_iter().map(Some).collect() };
        let everything = MarkedRange { parts: (0, last), marks: (0, word.marks.len()) };
        self.piece(&mut word, everything, builder)
    }

    /// Appends a range of the word to `builder`.
    fn piece(&mut self, word: &mut MarkedWord, piece: MarkedRange, builder: &mut WordBuilder) -> Result<()> {
        let (mut part, mut index) = (piece.parts.0, piece.marks.0);
        while index < piece.marks.1 {
            let mark = word.marks[index];
            word.take(part, mark.part, builder);
            part = mark.part;
            let Some(close) = word.pairs[index] else {
                builder.literal(&[mark.byte], mark.span);
                index += 1;
                continue;
            };
            let span = mark.span.to(word.marks[close].span);
            let braces = match word.range(index, close) {
                Some(range) => Braces::Range(range),
                None => {
                    Braces::List(self.nested(|parser| parser.alternatives_of(word, index, close, builder))?)
                }
            };
            builder.push(PartKind::Braces(Box::new(braces)), span, WordFlags::BRACES);
            part = word.marks[close].part;
            index = close + 1;
        }
        word.take(part, piece.parts.1, builder);
        Ok(())
    }

    /// Returns the alternatives between the braces at `open` and `close`.
    fn alternatives_of(
        &mut self,
        word: &mut MarkedWord,
        open: usize,
        close: usize,
        outer: &mut WordBuilder,
    ) -> Result<SharedSlice<SharedSlice<WordPart>>> {
        let mut alternatives = Vec::new();
        let mut from = open;
        let mut index = open + 1;
        while index <= close {
            if let Some(end) = word.pairs[index] {
                index = end + 1;
                continue;
            }
            if index == close || word.marks[index].byte == b',' {
                let parts = (word.marks[from].part, word.marks[index].part);
                let mut builder = WordBuilder::default();
                self.piece(word, MarkedRange { parts, marks: (from + 1, index) }, &mut builder)?;
                outer.flags = outer.flags.union(builder.flags);
                alternatives.push(builder.take_parts(&mut self.arena));
                from = index;
            }
            index += 1;
        }
        Ok(self.arena.slice_from(&mut alternatives))
    }
}

/// A word with marked braces.
struct MarkedWord {
    marks: Vec<BraceMark>,
    /// For each mark that opens a brace expansion, the mark that closes it.
    pairs: Vec<Option<usize>>,
    parts: Vec<Option<WordPart>>,
}

/// A range of parts and the range of marks among them.
#[derive(Clone, Copy)]
struct MarkedRange {
    parts: (usize, usize),
    marks: (usize, usize),
}

impl MarkedWord {
    /// Moves parts to a builder.
    fn take(&mut self, from: usize, to: usize, builder: &mut WordBuilder) {
        for part in self.parts[from..to].iter_mut().filter_map(Option::take) {
            builder.append(part);
        }
    }

    fn range(&self, open: usize, close: usize) -> Option<BraceRange> {
        let parts = &self.parts[self.marks[open].part..self.marks[close].part];
        match parts {
            [Some(WordPart { kind: PartKind::Literal(text), .. })] if close == open + 1 => range(text),
            _ => None,
        }
    }
}

/// Finds the pairs of braces to expand: those with a comma or a range.
fn pairs(marks: &[BraceMark], parts: &[WordPart]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; marks.len()];
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (index, mark) in marks.iter().enumerate() {
        match (mark.byte, open.last_mut()) {
            (b'{', _) => open.push((index, false)),
            (b',', Some((_, comma))) => *comma = true,
            (b'}', Some((start, comma))) => {
                let is_range = *start + 1 == index
                    && matches!(&parts[marks[*start].part..mark.part],
                        [WordPart { kind: PartKind::Literal(text), .. }] if range(text).is_some());
                if *comma || is_range {
                    pairs[*start] = Some(index);
                }
                // The outermost brace stays open before its first comma, unless the word starts with `{}`.
                let empty = *start + 1 == index && mark.part == 0;
                if *comma || is_range || empty || open.len() > 1 {
                    open.pop();
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Parses a sequence expression such as `1..9..2` or `a..z`.
fn range(text: &[u8]) -> Option<BraceRange> {
    let text = std::str::from_utf8(text).ok()?;
    let (first, rest) = text.split_once("..")?;
    let (last, step) = match rest.split_once("..") {
        Some((last, step)) => (last, step.parse::<i64>().ok()?.unsigned_abs().max(1)),
        None => (rest, 1),
    };
    if let (Ok(from), Ok(to)) = (first.parse(), last.parse()) {
        let padded = is_padded(first) || is_padded(last);
        let width = if padded { u32::try_from(first.len().max(last.len())).ok()? } else { 0 };
        return Some(BraceRange::Numbers { first: from, last: to, step, width });
    }
    match (first.as_bytes(), last.as_bytes()) {
        ([from], [to]) if from.is_ascii_alphabetic() && to.is_ascii_alphabetic() => {
            Some(BraceRange::Letters { first: *from, last: *to, step })
        }
        _ => None,
    }
}

/// Whether a number has leading zeros, which request padding.
fn is_padded(number: &str) -> bool {
    let digits = number.trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0')
}
