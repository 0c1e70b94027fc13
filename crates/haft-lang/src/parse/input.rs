//! The bytes being parsed, and where they came from.

use std::borrow::Cow;

use crate::ast::Span;

/// How much of the text is looked at a time once aliases are being put into it.
const CHUNK: usize = 4096;

/// A buffer with a position in it. Usually the buffer is the source itself. It differs from it where NUL bytes were
/// dropped, an alias was put in, or backslashes and tabs were taken out; then `origins` tells where its bytes are from.
pub(super) struct SourceBuffer<'a> {
    bytes: Cow<'a, [u8]>,
    /// The next byte.
    pub(super) at: usize,
    /// Where to stop; at most the length of the buffer.
    limit: usize,
    origins: Vec<Origin>,
    /// What follows the buffer and has not been copied to it yet.
    rest: Option<UnreadText>,
}

/// From `at` on, bytes are from `source` on; or all of them are from `source`, if `fixed`.
#[derive(Clone, Copy)]
struct Origin {
    at: usize,
    source: usize,
    fixed: bool,
}

/// Text that has yet to be copied to the buffer.
struct UnreadText {
    bytes: Vec<u8>,
    taken: usize,
}

impl<'a> SourceBuffer<'a> {
    /// All of `source`, less NUL bytes.
    pub(super) fn new(source: &'a [u8]) -> Self {
        if memchr::memchr(0, source).is_none() {
            return Self::over(Cow::Borrowed(source), Vec::new());
        }
        let mut derived = DerivedText::default();
        let mut from = 0;
        for piece in source.split(|byte| *byte == 0) {
            derived.push(piece, from);
            from += piece.len() + 1;
        }
        Self::over(Cow::Owned(derived.bytes), derived.origins)
    }

    fn over(bytes: Cow<'a, [u8]>, origins: Vec<Origin>) -> Self {
        let limit = bytes.len();
        Self { bytes, at: 0, limit, origins, rest: None }
    }

    /// The bytes between two positions.
    #[inline]
    pub(super) fn slice(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    /// The bytes that are left before the limit.
    #[inline]
    pub(super) fn remaining(&self) -> &[u8] {
        &self.bytes[self.at..self.limit]
    }

    /// The byte at a distance from the position.
    #[inline]
    pub(super) fn ahead(&self, distance: usize) -> Option<u8> {
        let at = self.at + distance;
        if at < self.limit { self.bytes.get(at).copied() } else { None }
    }

    /// Where the position stops.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Moves the place where the position stops. Returns the former one, to be put back.
    pub(super) fn set_limit(&mut self, limit: usize) -> usize {
        std::mem::replace(&mut self.limit, limit.min(self.bytes.len()))
    }

    /// Gets more text into the buffer when the limit is reached. Returns whether there was any.
    pub(super) fn refill(&mut self) -> bool {
        if self.limit != self.bytes.len() {
            return false;
        }
        let Some(rest) = &mut self.rest else { return false };
        let end = (rest.taken + CHUNK).min(rest.bytes.len());
        if end == rest.taken {
            return false;
        }
        self.bytes.to_mut().extend_from_slice(&rest.bytes[rest.taken..end]);
        rest.taken = end;
        self.limit = self.bytes.len();
        true
    }

    /// Puts `text` in the place of the bytes between two positions, and goes to its first byte. Its bytes count as
    /// being where those were.
    pub(super) fn replace(&mut self, start: usize, end: usize, text: &[u8]) {
        if self.rest.is_none() && self.limit == self.bytes.len() && self.limit > end + CHUNK {
            let bytes = self.bytes.to_mut().split_off(end + CHUNK);
            self.rest = Some(UnreadText { bytes, taken: 0 });
            self.limit = self.bytes.len();
        }
        let (first, after) = (self.source(start), self.source(end));
        self.bytes.to_mut().splice(start..end, text.iter().copied());
        self.limit = self.limit + text.len() - (end - start);
        let fixed = self.origin(end).is_some_and(|origin| origin.fixed);
        let shifted = |origin: &Origin| Origin { at: origin.at + text.len() - (end - start), ..*origin };
        let after_end = self.origins.partition_point(|origin| origin.at <= end);
        let later: Vec<Origin> = self.origins[after_end..].iter().map(shifted).collect();
        self.origins.truncate(self.origins.partition_point(|origin| origin.at < start));
        if self.origins.is_empty() {
            self.origins.push(Origin { at: 0, source: 0, fixed: false });
        }
        self.origins.push(Origin { at: start, source: first, fixed: true });
        self.origins.push(Origin { at: start + text.len(), source: after, fixed });
        self.origins.extend(later);
        self.at = start;
    }

    fn origin(&self, at: usize) -> Option<Origin> {
        let index = self.origins.partition_point(|origin| origin.at <= at);
        self.origins.get(index.checked_sub(1)?).copied()
    }

    /// The offset in the source of a position.
    #[inline]
    pub(super) fn source(&self, at: usize) -> usize {
        if self.origins.is_empty() {
            return at;
        }
        match self.origin(at) {
            Some(origin) if origin.fixed => origin.source,
            Some(origin) => origin.source + (at - origin.at),
            None => at,
        }
    }

    /// The span in the source between two positions.
    #[inline]
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        let (start, end) = (self.source(start), self.source(end));
        Span::new(offset(start), offset(end.max(start)))
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Text made from pieces of an input: what is left of it after backslashes or tabs were taken out.
#[derive(Default)]
pub(super) struct DerivedText {
    bytes: Vec<u8>,
    origins: Vec<Origin>,
}

impl DerivedText {
    /// Adds a piece that stands at an offset of the source.
    pub(super) fn push(&mut self, piece: &[u8], source: usize) {
        self.origins.push(Origin { at: self.bytes.len(), source, fixed: false });
        self.bytes.extend_from_slice(piece);
    }

    /// The text, to be parsed; `end` is the offset in the source of what follows it.
    pub(super) fn into_input<'a>(mut self, end: usize) -> SourceBuffer<'a> {
        self.origins.push(Origin { at: self.bytes.len(), source: end, fixed: false });
        SourceBuffer::over(Cow::Owned(self.bytes), self.origins)
    }
}
