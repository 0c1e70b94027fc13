//! Where the parts of a word go.

use haft_text::Bytes;
use haft_text::pattern::quote_into;

use crate::expand::Separators;

/// What is being made of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Fields, split and with globs.
    Fields,
    /// One string.
    String,
    /// The text of a pattern, in which a backslash precedes what was quoted.
    Pattern,
    /// The text of a regular expression, in which a backslash precedes what was quoted.
    Regex,
    /// The text of a replacement, in which a backslash precedes each `&` and backslash that was quoted.
    Replacement,
}

/// How many fields are made between two looks whether to stop.
const SOME: usize = 4096;

/// Finished fields.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Their text, quotes removed.
    pub(super) texts: Vec<Bytes>,
    /// The patterns of those that are patterns, by their places, in order.
    pub(super) patterns: Vec<(usize, Vec<u8>)>,
}

/// Collects the parts of a word.
#[derive(Debug)]
pub(super) struct Sink {
    pub(super) mode: Mode,
    /// Whether a pattern gets a backslash before every byte that was quoted, for a trace of it.
    pub(super) thorough: bool,
    pub(super) separators: Separators,
    /// Whether it is the body of a here-document, in which a space joins `$*`, and arrays that most operators have changed.
    pub(super) document: bool,
    /// Whether it is what `[[ ]]` or `case` looks at, in which a space joins what an operator has made of an array.
    pub(super) subject: bool,
    /// Whether it is the word of `${name:-word}`, without quotes.
    pub(super) alternative: bool,
    /// The field that is being made. In a mode other than fields, the only one.
    current: Vec<u8>,
    /// The pattern of the field that is being made, once something in it is one.
    pattern: Option<Vec<u8>>,
    /// Whether the field that is being made exists: even empty, if it was quoted.
    begun: bool,
    /// Whether white space alone has ended the last field, so that a separator that follows belongs to it.
    after_space: bool,
    /// Whether the quoted run that is being expanded holds a list without elements.
    empty_list: bool,
    fields: Fields,
}

/// What stands between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// A space.
    Space,
    /// The end of a field.
    Field,
}

/// A place in a sink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    fields: usize,
    length: usize,
    begun: bool,
}

impl Sink {
    pub(super) fn new(mode: Mode, separators: Separators) -> Self {
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

    /// Appends text that was written without quotes and is no operator.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        match self.mode {
            Mode::String | Mode::Regex | Mode::Replacement => self.current.extend_from_slice(bytes),
            Mode::Pattern => inert_into(&mut self.current, bytes),
            Mode::Fields => self.inert(bytes, inert_into),
        }
    }

    /// Appends text that was quoted; an empty one makes a field too.
    pub(super) fn quoted(&mut self, bytes: &[u8]) {
        match self.mode {
            Mode::String => self.current.extend_from_slice(bytes),
            Mode::Pattern if self.thorough => {
                self.current.extend(bytes.iter().flat_map(|byte| [b'\\', *byte]));
            }
            Mode::Pattern => quote_into(&mut self.current, bytes),
            Mode::Regex => regex_quote_into(&mut self.current, bytes),
            Mode::Replacement => quote_bytes_into(&mut self.current, bytes, b"&\\"),
            Mode::Fields => self.inert(bytes, quote_into),
        }
    }

    /// Appends text without operators to the current field, and the same to its pattern in the form given.
    fn inert(&mut self, bytes: &[u8], into: impl FnOnce(&mut Vec<u8>, &[u8])) {
        self.current.extend_from_slice(bytes);
        if let Some(pattern) = &mut self.pattern {
            into(pattern, bytes);
        }
        self.begin();
    }

    /// Appends an operator of a pattern.
    pub(super) fn glob(&mut self, bytes: &[u8]) {
        if self.mode == Mode::Fields {
            self.pattern_mut().extend_from_slice(bytes);
            self.begin();
        }
        self.current.extend_from_slice(bytes);
    }

    /// Appends what an unquoted expansion yielded: it is split, and may hold operators of patterns.
    pub(super) fn active(&mut self, bytes: &[u8]) {
        if self.mode != Mode::Fields {
            self.current.extend_from_slice(bytes);
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.active_some(rest);
        }
    }

    /// Appends the next fields of it, so many that nobody needs to wait for long; yields what is left.
    pub(super) fn active_some<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut rest = bytes;
        for _ in 0..SOME {
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

    /// Appends text that was written without quotes within an expansion, as in `${name:-a b}`: it is split, and is no
    /// pattern.
    pub(super) fn active_literal(&mut self, bytes: &[u8]) {
        if self.mode != Mode::Fields {
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

    /// Ends a field between two elements of `$@`: a quoted one always, an unquoted one as if the first character of
    /// `IFS` stood there.
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

    /// Remembers the place before a quoted run of parts.
    pub(super) fn mark(&mut self) -> Mark {
        self.empty_list = false;
        Mark { fields: self.fields.texts.len(), length: self.current.len(), begun: self.begun }
    }

    /// Says that a `"$@"` or its kin had no elements.
    pub(super) fn note_empty_list(&mut self) {
        self.empty_list = true;
    }

    /// Whether a list of `@` that an operator has made becomes one string, with the first character of `IFS` between its elements.
    pub(super) fn joins_lists(&self) -> bool {
        self.mode != Mode::Fields && !self.separators.join().is_empty()
    }

    /// What stands between the elements of an unquoted `$@` within a `${name:-word}` if `IFS` does not begin with a space: a space
    /// that separates fields if `IFS` has one. The elements themselves are not split then.
    pub(super) fn between_alternatives(&self) -> Option<Between> {
        match self.separators.join().first() {
            None | Some(b' ') => None,
            Some(_) if !self.alternative => None,
            Some(_) => Some(match self.separators.leaves_whole(b" ") {
                true => Between::Space,
                false => Between::Field,
            }),
        }
    }

    /// Begins the word of `${name:-word}` in quotes, which always makes a field. Yields what its end wants to know.
    pub(super) fn begin_alternative(&mut self) -> bool {
        self.begin();
        self.empty_list
    }

    /// Ends such a word: lists without elements in it are none of what surrounds it.
    pub(super) fn end_alternative(&mut self, empty_list: bool) {
        self.empty_list = empty_list;
    }

    /// A quoted run that holds a `"$@"` without elements and yielded nothing makes no field.
    pub(super) fn withdraw_if_empty(&mut self, mark: Mark) {
        if self.empty_list && self.fields.texts.len() == mark.fields && self.current.len() == mark.length {
            self.begun = mark.begun;
        }
        self.empty_list = false;
    }

    /// Makes the field exist, even if nothing follows.
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

    /// The fields, the last one ended.
    pub(super) fn into_fields(mut self) -> Fields {
        if self.begun {
            self.finish();
        }
        self.fields
    }

    /// The text, of a sink that makes no fields.
    pub(super) fn into_text(self) -> Vec<u8> {
        self.current
    }
}

/// Appends text that was not quoted and is no operator to a pattern. Inside a bracket expression `]`, `-`, `!` and `^` still
/// act, so they are left alone; elsewhere they mean nothing.
fn inert_into(pattern: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        if matches!(byte, b'*' | b'?' | b'[' | b'\\' | b'(' | b')' | b'|') {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
}

/// Appends text to a regular expression so that it stands for itself.
fn regex_quote_into(regex: &mut Vec<u8>, bytes: &[u8]) {
    // Between brackets a backslash would be one of the characters.
    match is_in_brackets(regex) {
        true => regex.extend_from_slice(bytes),
        false => quote_bytes_into(regex, bytes, b"\\^$.|?*+()[]{}"),
    }
}

/// Whether the end of a regular expression lies in a bracket expression.
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
