//! Collecting the expanded parts of a word.

use haft_text::Bytes;
use haft_text::pattern::quote_into;

use crate::variables::Separators;

/// The result that a sink builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SinkMode {
    /// Fields, with word splitting and pathname expansion.
    Fields,
    /// One string.
    String,
    /// The text of a pattern, with a backslash before quoted bytes.
    Pattern,
    /// The text of a regular expression, with a backslash before quoted bytes.
    Regex,
    /// The text of a replacement, with a backslash before each quoted `&` and backslash.
    Replacement,
}

/// How many fields are split between two checks for cancellation.
const FIELDS_PER_CHECK: usize = 4096;

/// Finished fields.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The text of each, after quote removal.
    pub(super) texts: Vec<Bytes>,
    /// The patterns of fields that are subject to pathname expansion, each with the index of its field.
    pub(super) patterns: Vec<(usize, Vec<u8>)>,
}

/// Collects the parts of a word.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) mode: SinkMode,
    /// Whether every quoted byte of a pattern gets a backslash, for `set -x`.
    pub(super) thorough: bool,
    pub(super) separators: Separators,
    /// Whether the text is a here-document, in which a space joins `$*` and arrays that an operator has changed.
    pub(super) document: bool,
    /// Whether the text is the subject of `[[ ]]` or `case`, in which a space joins arrays that an operator has changed.
    pub(super) subject: bool,
    /// Whether the text is the unquoted word of `${name:-word}`.
    pub(super) alternative: bool,
    /// The current field; the only one unless the mode is fields.
    current: Vec<u8>,
    /// The pattern of the current field, if it has pattern operators.
    pattern: Option<Vec<u8>>,
    /// Whether the current field exists. A quoted field exists even if it is empty.
    begun: bool,
    /// Whether only IFS whitespace ended the last field. Then a following separator belongs to the same delimiter.
    after_space: bool,
    /// Whether the current quoted text contains a list without elements.
    empty_list: bool,
    fields: Fields,
}

/// The separator between list elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementSeparator {
    /// A space.
    Space,
    /// The end of a field.
    Field,
}

/// A position in a sink.
#[derive(Clone, Copy, Debug)]
pub(super) struct SinkMark {
    fields: usize,
    length: usize,
    begun: bool,
}

impl Sink {
    pub(super) fn new(mode: SinkMode, separators: Separators) -> Self {
        Self {
            mode,
            thorough: false,
            separators,
            document: false,
            subject: false,
            alternative: false,
            current: Vec::new(),
            pattern: None,
            begun: false,
            after_space: false,
            empty_list: false,
            fields: Fields::default(),
        }
    }

    /// Appends unquoted literal text without operators.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        match self.mode {
            SinkMode::String | SinkMode::Regex | SinkMode::Replacement => {
                self.current.extend_from_slice(bytes);
            }
            SinkMode::Pattern => inert_into(&mut self.current, bytes),
            SinkMode::Fields => self.inert(bytes, inert_into),
        }
    }

    /// Appends quoted text. Even empty quoted text yields a field.
    pub(super) fn quoted(&mut self, bytes: &[u8]) {
        match self.mode {
            SinkMode::String => self.current.extend_from_slice(bytes),
            SinkMode::Pattern if self.thorough => {
                self.current.extend(bytes.iter().flat_map(|byte| [b'\\', *byte]));
            }
            SinkMode::Pattern => quote_into(&mut self.current, bytes),
            SinkMode::Regex => regex_quote_into(&mut self.current, bytes),
            SinkMode::Replacement => quote_bytes_into(&mut self.current, bytes, b"&\\"),
            SinkMode::Fields => self.inert(bytes, quote_into),
        }
    }

    /// Appends text without operators to the current field, and to its pattern with the given function.
    fn inert(&mut self, bytes: &[u8], into: impl FnOnce(&mut Vec<u8>, &[u8])) {
        self.current.extend_from_slice(bytes);
        if let Some(pattern) = &mut self.pattern {
            into(pattern, bytes);
        }
        self.begin();
    }

    /// Appends a pattern operator.
    pub(super) fn glob(&mut self, bytes: &[u8]) {
        if self.mode == SinkMode::Fields {
            self.pattern_mut().extend_from_slice(bytes);
            self.begin();
        }
        self.current.extend_from_slice(bytes);
    }

    /// Appends the result of an unquoted expansion, which is subject to word splitting and may contain pattern operators.
    pub(super) fn active(&mut self, bytes: &[u8]) {
        if self.mode != SinkMode::Fields {
            self.current.extend_from_slice(bytes);
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.active_chunk(rest);
        }
    }

    /// Like [`Sink::active`], but stops after some fields, so that the caller can check for cancellation. Returns the rest.
    pub(super) fn active_chunk<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        for _ in 0..FIELDS_PER_CHECK {
            if rest.is_empty() {
                break;
            }
            let (end, length, is_pattern) = self.separators.next(rest);
            let text = &rest[..end];
            if length == 0 {
                self.segment(text, is_pattern);
                return &[];
            }
            if self.begun || is_pattern || text.is_empty() {
                if !text.is_empty() {
                    self.segment(text, is_pattern);
                }
                self.separate(rest[end]);
            } else {
                self.fields.texts.push(Bytes::from(text));
                self.after_space = !self.separators.is_hard(rest[end]);
            }
            rest = &rest[end + length..];
        }
        rest
    }

    /// Appends unquoted literal text within an expansion, as in `${name:-a b}`. It is subject to word splitting, but has no pattern
    /// operators.
    pub(super) fn active_literal(&mut self, bytes: &[u8]) {
        if self.mode != SinkMode::Fields {
            self.literal(bytes);
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let (end, length, _) = self.separators.next(rest);
            if end > 0 {
                self.literal(&rest[..end]);
            }
            if length == 0 {
                return;
            }
            self.separate(rest[end]);
            rest = &rest[end + length..];
        }
    }

    fn segment(&mut self, bytes: &[u8], is_pattern: bool) {
        if self.pattern.is_some() || is_pattern {
            self.pattern_mut().extend_from_slice(bytes);
        }
        self.current.extend_from_slice(bytes);
        self.begin();
    }

    fn separate(&mut self, separator: u8) {
        let hard = self.separators.is_hard(separator);
        if self.begun {
            self.finish();
            self.after_space = !hard;
        } else if hard && self.after_space {
            self.after_space = false;
        } else if hard {
            self.fields.texts.push(Bytes::new());
        }
    }

    /// Ends a field between two elements of `$@`: always if quoted, otherwise as if the first character of `IFS` were there.
    pub(super) fn next_field(&mut self, quoted: bool) {
        if let (false, Some(first)) = (quoted, self.separators.join().first().copied())
            && self.separators.is_hard(first)
        {
            self.separate(first);
        } else if quoted || self.begun {
            self.finish();
            self.after_space = false;
        }
    }

    /// Returns the current position, before quoted parts.
    pub(super) fn mark(&mut self) -> SinkMark {
        self.empty_list = false;
        SinkMark { fields: self.fields.texts.len(), length: self.current.len(), begun: self.begun }
    }

    /// Records that a list such as `"$@"` has no elements.
    pub(super) fn note_empty_list(&mut self) {
        self.empty_list = true;
    }

    /// Tells whether a list that an operator has made of `@` becomes one string, joined by the first character of `IFS`.
    pub(super) fn joins_lists(&self) -> bool {
        self.mode != SinkMode::Fields && !self.separators.join().is_empty()
    }

    /// Returns the separator between the elements of an unquoted `$@` within `${name:-word}` if `IFS` does not begin with a space. It ends
    /// a field if `IFS` contains a space. The elements themselves are not split.
    pub(super) fn between_alternatives(&self) -> Option<ElementSeparator> {
        match self.separators.join().first() {
            None | Some(b' ') => None,
            Some(_) if !self.alternative => None,
            Some(_) => Some(match self.separators.leaves_whole(b" ") {
                true => ElementSeparator::Space,
                false => ElementSeparator::Field,
            }),
        }
    }

    /// Begins the quoted word of `${name:-word}`, which always yields a field. Returns the argument for
    /// [`Sink::end_alternative`].
    pub(super) fn begin_alternative(&mut self) -> bool {
        self.begin();
        self.empty_list
    }

    /// Ends the quoted word of `${name:-word}`. Lists without elements in it do not affect the text around it.
    pub(super) fn end_alternative(&mut self, empty_list: bool) {
        self.empty_list = empty_list;
    }

    /// Drops the field if the quoted text since the mark is empty and contains a list without elements.
    pub(super) fn withdraw_if_empty(&mut self, mark: SinkMark) {
        if self.empty_list && self.fields.texts.len() == mark.fields && self.current.len() == mark.length {
            self.begun = mark.begun;
        }
        self.empty_list = false;
    }

    /// Starts a field, which exists even if nothing is appended.
    pub(super) fn begin(&mut self) {
        self.begun = true;
        self.after_space = false;
    }

    fn pattern_mut(&mut self) -> &mut Vec<u8> {
        let current = &self.current;
        self.pattern.get_or_insert_with(|| {
            let mut pattern = Vec::with_capacity(current.len() + 16);
            quote_into(&mut pattern, current);
            pattern
        })
    }

    fn finish(&mut self) {
        if let Some(pattern) = self.pattern.take() {
            self.fields.patterns.push((self.fields.texts.len(), pattern));
        }
        self.fields.texts.push(Bytes::from(self.current.as_slice()));
        self.current.clear();
        self.begun = false;
    }

    /// Returns the fields, after ending the last one.
    pub(super) fn into_fields(mut self) -> Fields {
        if self.begun {
            self.finish();
        }
        self.fields
    }

    /// Returns the text of a sink whose mode is not fields.
    pub(super) fn into_text(self) -> Vec<u8> {
        self.current
    }
}

/// Appends unquoted text without operators to a pattern. `]`, `-`, `!` and `^` get no backslash, because inside a bracket expression
/// they keep their meaning; elsewhere they have none.
fn inert_into(pattern: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        if matches!(byte, b'*' | b'?' | b'[' | b'\\' | b'(' | b')' | b'|') {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
}

/// Appends text to a regular expression and quotes it.
fn regex_quote_into(regex: &mut Vec<u8>, bytes: &[u8]) {
    // In a bracket expression a backslash would be one of the characters.
    match is_in_brackets(regex) {
        true => regex.extend_from_slice(bytes),
        false => quote_bytes_into(regex, bytes, b"\\^$.|?*+()[]{}"),
    }
}

/// Tells whether the end of a regular expression is inside a bracket expression.
fn is_in_brackets(regex: &[u8]) -> bool {
    let mut rest = regex;
    while let Some(at) = memchr::memchr2(b'[', b'\\', rest) {
        if rest[at] == b'\\' {
            rest = rest.get(at + 2..).unwrap_or_default();
            continue;
        }
        rest = &rest[at + 1..];
        rest = rest.strip_prefix(b"^").unwrap_or(rest);
        rest = rest.strip_prefix(b"]").unwrap_or(rest);
        loop {
            match rest {
                [] => return true,
                [b']', after @ ..] => {
                    rest = after;
                    break;
                }
                [b'[', kind @ (b':' | b'.' | b'='), after @ ..] => {
                    let end = after.windows(2).position(|pair| pair == [*kind, b']']);
                    rest = end.map_or(&[], |end| &after[end + 2..]);
                }
                [_, after @ ..] => rest = after,
            }
        }
    }
    false
}

fn quote_bytes_into(quoted: &mut Vec<u8>, bytes: &[u8], special: &[u8]) {
    for byte in bytes {
        if special.contains(byte) {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
}
