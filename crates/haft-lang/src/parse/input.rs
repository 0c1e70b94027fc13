//! The bytes being parsed, and their source offsets.

use std::borrow::Cow;

use crate::ast::Span;

/// Number of bytes moved into the buffer at a time after the first alias expansion.
const REFILL_BYTES: usize = 4096;

/// A buffer with a cursor. The buffer is usually the source itself. It differs where NUL bytes were dropped,
/// an alias was expanded, or backslashes and tabs were removed. Then `origins` maps its positions to source
/// offsets.
pub(super) struct SourceBuffer<'a> {
    bytes: Cow<'a, [u8]>,
    /// The position of the next byte.
    pub(super) at: usize,
    /// The end of the text to parse; at most the length of the buffer.
    limit: usize,
    origins: Vec<Origin>,
    /// Text after the buffer that has not been copied to it yet.
    rest: Option<UnreadText>,
}

/// Buffer positions from `at` on correspond to source offsets from `source` on. If `fixed`, all of them
/// correspond to `source` itself.
#[derive(Clone, Copy)]
struct Origin {
    at: usize,
    source: usize,
    fixed: bool,
}

/// Text not copied to the buffer yet.
struct UnreadText {
    bytes: Vec<u8>,
    taken: usize,
}

impl<'a> SourceBuffer<'a> {
    /// Creates a buffer with `source`, without NUL bytes.
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

    /// Whether the buffer is the source itself, so that positions are offsets.
    pub(super) fn is_source(&self, source: &[u8]) -> bool {
        self.bytes.len() == source.len()
    }

    /// Returns the bytes between two positions.
    #[inline]
    pub(super) fn slice(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    /// Returns the bytes up to the limit.
    #[inline]
    pub(super) fn remaining(&self) -> &[u8] {
        &self.bytes[self.at..self.limit]
    }

    /// Returns the byte at a distance from the cursor.
    #[inline]
    pub(super) fn ahead(&self, distance: usize) -> Option<u8> {
        let at = self.at + distance;
        if at < self.limit { self.bytes.get(at).copied() } else { None }
    }

    /// Returns the end of the text to parse.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Sets the end of the text to parse and returns the previous one.
    pub(super) fn set_limit(&mut self, limit: usize) -> usize {
        std::mem::replace(&mut self.limit, limit.min(self.bytes.len()))
    }

    /// Copies more text into the buffer at its end. Returns whether there was more.
    pub(super) fn refill(&mut self) -> bool {
        if self.limit != self.bytes.len() {
            return false;
        }
        let Some(rest) = &mut self.rest else { return false };
        let end = (rest.taken + REFILL_BYTES).min(rest.bytes.len());
        if end == rest.taken {
            return false;
        }
        self.bytes.to_mut().extend_from_slice(&rest.bytes[rest.taken..end]);
        rest.taken = end;
        self.limit = self.bytes.len();
        true
    }

    /// Replaces the bytes between two positions by `text` and moves the cursor to its start. The new bytes
    /// map to the source offset of the replaced ones.
    pub(super) fn replace(&mut self, start: usize, end: usize, text: &[u8]) {
        if self.rest.is_none() && self.limit == self.bytes.len() && self.limit > end + REFILL_BYTES {
            let bytes = self.bytes.to_mut().split_off(end + REFILL_BYTES);
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

    /// Returns the source offset of a position.
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

    /// Returns the source span between two positions.
    #[inline]
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        let (start, end) = (self.source(start), self.source(end));
        Span::new(offset(start), offset(end.max(start)))
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Text assembled from parts of a buffer, for example after removing backslashes or tabs.
#[derive(Default)]
pub(super) struct DerivedText {
    bytes: Vec<u8>,
    origins: Vec<Origin>,
}

impl DerivedText {
    /// Appends a piece that starts at a source offset.
    pub(super) fn push(&mut self, piece: &[u8], source: usize) {
        self.origins.push(Origin { at: self.bytes.len(), source, fixed: false });
        self.bytes.extend_from_slice(piece);
    }

    /// Converts the text into a buffer; `end` is the source offset after it.
    pub(super) fn into_input<'a>(mut self, end: usize) -> SourceBuffer<'a> {
        self.origins.push(Origin { at: self.bytes.len(), source: end, fixed: false });
        SourceBuffer::over(Cow::Owned(self.bytes), self.origins)
    }
}
