//! Reads JSON values from pieces of text, as they arrive.

use std::rc::Rc;

use super::number::parse_number;
use super::stream::StreamState;
use super::value::{ArrayItems, Fields, Value};

/// How deep the text may be nested.
const MAX_DEPTH: usize = 256;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The byte before each text of a sequence.
const RECORD_SEPARATOR: u8 = 0x1e;

/// An error in the text, as `jq` words it, without the position.
pub(super) type Problem = &'static str;

/// How the text is read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadMode {
    /// Whether paths and leaves are returned instead of whole values.
    pub(super) stream: bool,
    /// Whether errors are returned as values.
    pub(super) stream_errors: bool,
    /// Whether the texts are a sequence with separators.
    pub(super) sequence: bool,
}

/// The result of reading.
#[derive(Debug)]
pub(super) enum Found {
    Value(Value),
    /// An error message with the position.
    Error(String),
    /// The text is used up.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    Normal,
    String,
    Escape,
    WaitingForSeparator,
}

/// A container that is not complete.
#[derive(Debug)]
enum Open {
    Array(Vec<Value>),
    Object(Fields),
    /// An object, and the name of the next member.
    Member(Fields, Rc<str>),
}

/// A parser of JSON text that keeps its state between pieces.
#[derive(Debug)]
pub(super) struct JsonReader {
    mode: ReadMode,
    piece: Vec<u8>,
    position: usize,
    is_last: bool,
    at_end: bool,
    mark: usize,
    bad_mark: bool,
    open: Vec<Open>,
    next: Option<Value>,
    streamed: StreamState,
    token: Vec<u8>,
    state: ReaderState,
    after_space: bool,
    line: usize,
    column: usize,
}

impl JsonReader {
    pub(super) fn new(mode: ReadMode) -> Self {
        let state = if mode.sequence { ReaderState::WaitingForSeparator } else { ReaderState::Normal };
        Self {
            mode,
            piece: Vec::new(),
            position: 0,
            is_last: false,
            at_end: false,
            mark: 0,
            bad_mark: false,
            open: Vec::new(),
            next: None,
            streamed: StreamState::default(),
            token: Vec::new(),
            state,
            after_space: false,
            line: 1,
            column: 0,
        }
    }

    /// Whether a piece is not used up.
    pub(super) fn has_rest(&self) -> bool {
        self.position < self.piece.len()
    }

    /// Sets the next piece of text.
    pub(super) fn set_piece(&mut self, piece: &[u8], is_last: bool) {
        let mut piece = piece;
        while let (Some(first), Some(expected)) = (piece.first(), BYTE_ORDER_MARK.get(self.mark)) {
            if first == expected {
                piece = &piece[1..];
                self.mark += 1;
            } else {
                self.bad_mark = self.mark > 0;
                self.mark = BYTE_ORDER_MARK.len();
            }
        }
        self.piece.clear();
        self.piece.extend_from_slice(piece);
        self.position = 0;
        self.is_last = is_last;
    }

    /// Returns the next value of the piece.
    pub(super) fn next(&mut self) -> Found {
        if self.at_end {
            return Found::Nothing;
        }
        if std::mem::take(&mut self.bad_mark) {
            if !self.mode.sequence {
                self.bad_mark = true;
                self.at_end = true;
                return Found::Error("Malformed BOM".to_owned());
            }
            self.reset();
            self.state = ReaderState::WaitingForSeparator;
        }
        if let Some(value) = self.streamed.take_output() {
            return Found::Value(value);
        }
        while self.position < self.piece.len() {
            match self.step() {
                Ok(None) => {}
                Ok(Some(value)) => return Found::Value(value),
                Err(problem) => return self.failed(problem),
            }
        }
        match self.is_last {
            true => self.finish(),
            false => Found::Nothing,
        }
    }

    fn failed(&mut self, problem: Problem) -> Found {
        let byte = self.piece.get(self.position.wrapping_sub(1)).copied();
        if self.mode.sequence && byte != Some(RECORD_SEPARATOR) {
            let error = self.error(problem, " (need RS to resync)");
            self.reset();
            self.state = ReaderState::WaitingForSeparator;
            return error;
        }
        let error = self.error(problem, "");
        self.reset();
        if !self.mode.sequence {
            self.position = self.piece.len();
        }
        error
    }

    fn error(&self, problem: &str, suffix: &str) -> Found {
        let message = format!("{problem} at line {}, column {}{suffix}", self.line, self.column);
        match self.mode.stream_errors {
            true => Found::Value(vec![Value::from(message), self.streamed.path()].into()),
            false => Found::Error(message),
        }
    }

    fn error_at_end(&mut self, problem: &str) -> Found {
        let error = self.error(&format!("{problem} at EOF"), "");
        self.reset();
        self.state = ReaderState::WaitingForSeparator;
        error
    }

    fn reset(&mut self) {
        self.streamed = StreamState::default();
        self.open.clear();
        self.next = None;
        self.token.clear();
        self.state = ReaderState::Normal;
    }

    /// The end of the text.
    fn finish(&mut self) -> Found {
        self.at_end = true;
        match self.state {
            ReaderState::WaitingForSeparator => return self.error("Unfinished abandoned text at EOF", ""),
            ReaderState::String | ReaderState::Escape => return self.error_at_end("Unfinished string"),
            ReaderState::Normal => {}
        }
        if let Err(problem) = self.end_token() {
            return self.error_at_end(problem);
        }
        let is_open = if self.mode.stream { self.streamed.depth() > 0 } else { !self.open.is_empty() };
        if is_open {
            return self.error_at_end("Unfinished JSON term");
        }
        let Some(value) = self.next.take() else { return Found::Nothing };
        if self.mode.sequence && !self.after_space && value.as_number().is_some() && !self.mode.stream {
            return self.error("Potentially truncated top-level numeric value at EOF", "");
        }
        Found::Value(if self.mode.stream { self.streamed.leaf(value) } else { value })
    }

    fn count(&mut self, byte: u8) {
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
    }

    /// Reads one byte, or a run of bytes of a token.
    fn step(&mut self) -> Result<Option<Value>, Problem> {
        let byte = self.piece[self.position];
        if self.state == ReaderState::WaitingForSeparator {
            self.position += 1;
            self.count(byte);
            if byte == RECORD_SEPARATOR {
                self.state = ReaderState::Normal;
            }
            return Ok(None);
        }
        if self.mode.sequence && byte == RECORD_SEPARATOR {
            self.position += 1;
            self.count(byte);
            return self.separator();
        }
        match self.state {
            ReaderState::Normal => {
                self.after_space = false;
                self.step_between(byte)
            }
            _ => self.step_string(byte),
        }
    }

    fn step_string(&mut self, byte: u8) -> Result<Option<Value>, Problem> {
        self.after_space = false;
        if self.state == ReaderState::String && !matches!(byte, b'"' | b'\\') {
            let rest = &self.piece[self.position..];
            let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            let length = match self.mode.sequence {
                true => memchr::memchr(RECORD_SEPARATOR, &rest[..length]).unwrap_or(length),
                false => length,
            };
            self.take_run(length);
            return Ok(None);
        }
        self.position += 1;
        self.count(byte);
        if self.state == ReaderState::String && byte == b'"' {
            let text = unescape(&self.token)?;
            self.add(Value::from(text))?;
            self.token.clear();
            self.state = ReaderState::Normal;
            return Ok(self.complete());
        }
        self.token.push(byte);
        self.state = match (self.state, byte) {
            (ReaderState::String, b'\\') => ReaderState::Escape,
            _ => ReaderState::String,
        };
        Ok(None)
    }

    /// Adds a run of bytes to the token.
    fn take_run(&mut self, length: usize) {
        let run = &self.piece[self.position..self.position + length];
        match memchr::memrchr(b'\n', run) {
            None => self.column += length,
            Some(last) => {
                self.line += memchr::memchr_iter(b'\n', run).count();
                self.column = length - last - 1;
            }
        }
        self.token.extend_from_slice(run);
        self.position += length;
    }

    fn step_between(&mut self, byte: u8) -> Result<Option<Value>, Problem> {
        let is_literal = |byte: &u8| {
            !matches!(
                byte,
                b' ' | b'\t'
                    | b'\r'
                    | b'\n'
                    | b'"'
                    | b'['
                    | b','
                    | b']'
                    | b'{'
                    | b':'
                    | b'}'
                    | &RECORD_SEPARATOR
            )
        };
        if is_literal(&byte) || byte == RECORD_SEPARATOR {
            let rest = &self.piece[self.position..];
            let length = rest.iter().take_while(|byte| is_literal(byte)).count().max(1);
            self.take_run(length);
            return Ok(None);
        }
        self.position += 1;
        self.count(byte);
        self.end_token()?;
        let mut value = self.complete();
        match byte {
            b'"' => self.state = ReaderState::String,
            b'[' | b',' | b']' | b'{' | b':' | b'}' => {
                if self.mode.stream {
                    self.streamed.structure(byte, &mut self.next)?;
                } else {
                    self.structure(byte)?;
                }
            }
            _ => self.after_space = true,
        }
        if value.is_none() {
            value = self.complete();
        }
        Ok(value)
    }

    /// A separator in a sequence of texts.
    fn separator(&mut self) -> Result<Option<Value>, Problem> {
        let number = |value: &Option<Value>| value.as_ref().is_some_and(|it| it.as_number().is_some());
        let is_cut = match self.mode.stream {
            true => {
                self.streamed.depth() > 0
                    || matches!(&self.next, Some(value) if !matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_)))
            }
            false => {
                !self.after_space && (!self.open.is_empty() || !self.token.is_empty() || number(&self.next))
            }
        };
        if is_cut {
            let is_outside = self.open.is_empty() && self.streamed.depth() == 0;
            return match self.end_token().is_ok() && is_outside && number(&self.next) {
                true => Err("Potentially truncated top-level numeric value"),
                false => Err("Truncated value"),
            };
        }
        self.end_token()?;
        let value = if self.state == ReaderState::Normal { self.complete() } else { None };
        if value.is_none() {
            self.reset();
        }
        Ok(value)
    }

    /// A value that is complete on the outermost level.
    fn complete(&mut self) -> Option<Value> {
        match self.mode.stream {
            false if self.open.is_empty() => self.next.take(),
            false => None,
            true if self.streamed.depth() == 0 && self.next.is_some() => {
                self.next.take().map(|value| self.streamed.leaf(value))
            }
            true => self.streamed.take_output(),
        }
    }

    /// Ends a number or a word.
    fn end_token(&mut self) -> Result<(), Problem> {
        let Some(first) = self.token.first() else { return Ok(()) };
        let word = match first {
            b't' => Some((&b"true"[..], Value::Bool(true))),
            b'f' => Some((&b"false"[..], Value::Bool(false))),
            b'n' if self.token.get(1) == Some(&b'u') => Some((&b"null"[..], Value::Null)),
            _ => None,
        };
        let value = match word {
            Some((text, value)) if self.token == text => value,
            Some(_) => return Err("Invalid literal"),
            None => parse_number(&self.token).ok_or("Invalid numeric literal")?,
        };
        self.add(value)?;
        self.token.clear();
        Ok(())
    }

    fn add(&mut self, value: Value) -> Result<(), Problem> {
        if self.next.is_some() || (self.mode.stream && self.streamed.has_value()) {
            return Err("Expected separator between values");
        }
        self.streamed.saw_value();
        self.next = Some(value);
        Ok(())
    }

    fn structure(&mut self, byte: u8) -> Result<(), Problem> {
        match byte {
            b'[' | b'{' => {
                if self.open.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                if self.next.is_some() {
                    return Err("Expected separator between values");
                }
                self.open.push(if byte == b'[' {
                    Open::Array(Vec::new())
                } else {
                    Open::Object(Fields::default())
                });
                Ok(())
            }
            b':' => self.colon(),
            b',' => self.comma(),
            b']' => self.close_array(),
            _ => self.close_object(),
        }
    }

    fn colon(&mut self) -> Result<(), Problem> {
        let Some(name) = self.next.take() else { return Err("Expected string key before ':'") };
        match (self.open.pop(), name) {
            (Some(Open::Object(fields)), Value::String(name)) => {
                self.open.push(Open::Member(fields, name));
                Ok(())
            }
            (Some(Open::Object(_)), _) => Err("Object keys must be strings"),
            _ => Err("':' not as part of an object"),
        }
    }

    fn comma(&mut self) -> Result<(), Problem> {
        let Some(value) = self.next.take() else { return Err("Expected value before ','") };
        match self.open.pop() {
            None => Err("',' not as part of an object or array"),
            Some(Open::Array(mut items)) => {
                items.push(value);
                self.open.push(Open::Array(items));
                Ok(())
            }
            Some(Open::Member(mut fields, name)) => {
                fields.insert(name, value);
                self.open.push(Open::Object(fields));
                Ok(())
            }
            Some(Open::Object(_)) => Err("Objects must consist of key:value pairs"),
        }
    }

    fn close_array(&mut self) -> Result<(), Problem> {
        let Some(Open::Array(mut items)) = self.open.pop() else { return Err("Unmatched ']'") };
        match self.next.take() {
            Some(value) => items.push(value),
            None if items.is_empty() => {}
            None => return Err("Expected another array element"),
        }
        items.shrink_to_fit();
        self.next = Some(Value::Array(Rc::new(ArrayItems(items))));
        Ok(())
    }

    fn close_object(&mut self) -> Result<(), Problem> {
        let fields = match (self.open.pop(), self.next.take()) {
            (None, _) => return Err("Unmatched '}'"),
            (Some(Open::Member(mut fields, name)), Some(value)) => {
                fields.insert(name, value);
                fields
            }
            (Some(_), Some(_)) => return Err("Objects must consist of key:value pairs"),
            (Some(Open::Object(fields)), None) if fields.is_empty() => fields,
            (Some(Open::Object(_)), None) => return Err("Expected another key-value pair"),
            (Some(_), None) => return Err("Unmatched '}'"),
        };
        self.next = Some(fields.into());
        Ok(())
    }
}

/// The text of a string between the quotes.
fn unescape(token: &[u8]) -> Result<String, Problem> {
    if !token.iter().any(|byte| *byte < 0x20 || *byte == b'\\') {
        return Ok(String::from_utf8_lossy(token).into_owned());
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            if *first < 0x20 {
                return Err("Invalid string: control characters from U+0000 through U+001F must be escaped");
            }
            bytes.push(*first);
            continue;
        }
        let Some((letter, after)) = rest.split_first() else {
            return Err("Expected escape character at end of string");
        };
        rest = after;
        match letter {
            b'\\' | b'"' | b'/' => bytes.push(*letter),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b't' => bytes.push(b'\t'),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b'u' => {
                let letter = unicode_escape(&mut rest)?;
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return Err("Invalid escape"),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unicode_escape(rest: &mut &[u8]) -> Result<char, Problem> {
    let Some(digits) = rest.get(..4) else { return Err("Invalid \\uXXXX escape") };
    let first = hexadecimal(digits).ok_or("Invalid characters in \\uXXXX escape")?;
    *rest = &rest[4..];
    let mut code = first;
    if (0xd800..0xdc00).contains(&first) {
        let second = match rest.get(..6) {
            Some([b'\\', b'u', digits @ ..]) => hexadecimal(digits),
            _ => None,
        };
        let Some(second) = second.filter(|it| (0xdc00..0xe000).contains(it)) else {
            return Err("Invalid \\uXXXX\\uXXXX surrogate pair escape");
        };
        *rest = &rest[6..];
        code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    }
    Ok(char::from_u32(code).unwrap_or('\u{fffd}'))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
}

/// Parses a text with exactly one value.
pub(super) fn parse_text(text: &[u8]) -> Result<Value, String> {
    let mut reader = JsonReader::new(ReadMode::default());
    reader.set_piece(text, true);
    let result = match reader.next() {
        Found::Value(value) => match reader.next() {
            Found::Nothing => return Ok(value),
            Found::Value(_) => "Unexpected extra JSON values".to_owned(),
            Found::Error(message) => message,
        },
        Found::Error(message) => message,
        Found::Nothing => "Expected JSON value".to_owned(),
    };
    Err(format!("{result} (while parsing '{}')", String::from_utf8_lossy(text)))
}
