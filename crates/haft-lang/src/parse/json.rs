//! JSON words.

use crate::ast::{Argument, Bytes, Json, JsonWord, PartKind, WordFlags, WordPart};

use super::builder::WordBuilder;
use super::bytes;
use super::dollar::Quoting;
use super::word::WordMode;
use super::{MAX_NESTING_DEPTH, Parser, Result};

impl Parser<'_> {
    /// Parses an argument `name=[…]` or `name={…}` if its bracketed text is JSON. Returns whether it added
    /// arguments.
    pub(super) fn json_argument(&mut self, arguments: &mut Vec<Argument>) -> Result<bool> {
        let rest = self.input.remaining();
        let name = bytes::name_length(rest);
        if name == 0 || !matches!(rest.get(name..name + 2), Some(b"=[" | b"={")) {
            return Ok(false);
        }
        let Some(length) = JsonScanner { text: &rest[name + 1..], at: 0 }.scan() else { return Ok(false) };
        let start = self.input.at;
        let end = start + name + 1 + length;
        if rest.get(name + 1 + length).is_some_and(|byte| !bytes::is(*byte, bytes::BREAK)) {
            return Ok(false);
        }
        let name = Bytes::from(&rest[..name]);
        let mut words = Vec::new();
        while self.input.at < end {
            words.push(self.word(WordMode::argument(self.options.extglob))?);
            self.skip_blanks();
        }
        let after = self.input.at;
        self.input.at = start + name.len() + 1;
        let value = self.json_value();
        self.input.at = after;
        match value? {
            Some(value) => {
                let span = self.input.span(start, end);
                let words = self.arena.slice_from(&mut words);
                arguments.push(Argument::Json(Box::new(JsonWord { span, name, value, words })));
            }
            None => arguments.extend(words.into_iter().map(Argument::Word)),
        }
        Ok(true)
    }

    fn skip_json_blanks(&mut self) {
        while matches!(self.input.ahead(0), Some(b' ' | b'\t')) {
            self.input.at += 1;
        }
    }

    /// Parses a value that the scanner has accepted; `None` if a string in it is not valid JSON.
    fn json_value(&mut self) -> Result<Option<Json>> {
        self.skip_json_blanks();
        let value = match self.input.ahead(0) {
            Some(b'[') => self.nested(Self::json_array)?,
            Some(b'{') => self.nested(Self::json_object)?,
            Some(b'"') => self.json_string()?,
            _ => Some(self.json_atom()),
        };
        self.skip_json_blanks();
        Ok(value)
    }

    fn json_atom(&mut self) -> Json {
        let rest = self.input.remaining();
        let length = rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b':'));
        let text = &rest[..length.unwrap_or(rest.len())];
        let atom = match text {
            b"null" => Json::Null,
            b"true" => Json::Bool(true),
            b"false" => Json::Bool(false),
            _ => Json::Number(Bytes::from(text)),
        };
        self.input.at += text.len();
        atom
    }

    fn json_array(&mut self) -> Result<Option<Json>> {
        self.input.at += 1;
        self.skip_json_blanks();
        let mut items = Vec::new();
        while self.input.ahead(0) != Some(b']') {
            let Some(item) = self.json_value()? else { return Ok(None) };
            items.push(item);
            if self.input.ahead(0) == Some(b',') {
                self.input.at += 1;
            }
        }
        self.input.at += 1;
        Ok(Some(Json::Array(self.arena.slice_from(&mut items))))
    }

    fn json_object(&mut self) -> Result<Option<Json>> {
        self.input.at += 1;
        self.skip_json_blanks();
        let mut members = Vec::new();
        while self.input.ahead(0) != Some(b'}') {
            let Some(key) = self.json_value()? else { return Ok(None) };
            self.input.at += 1;
            let Some(value) = self.json_value()? else { return Ok(None) };
            members.push((key, value));
            if self.input.ahead(0) == Some(b',') {
                self.input.at += 1;
                self.skip_json_blanks();
            }
        }
        self.input.at += 1;
        Ok(Some(Json::Object(self.arena.slice_from(&mut members))))
    }

    /// Parses a string, in which shell expansions are recognized.
    fn json_string(&mut self) -> Result<Option<Json>> {
        self.input.at += 1;
        let mut builder = WordBuilder::default();
        loop {
            let start = self.input.at;
            match self.input.ahead(0) {
                Some(b'"') => break,
                Some(b'$') => self.dollar(Quoting::Double, &mut builder)?,
                Some(b'`') => self.backquoted(true, &mut builder)?,
                Some(b'\\') => match self.json_escape() {
                    Some(text) => builder.literal(text.as_bytes(), self.span_from(start)),
                    None => return Ok(None),
                },
                Some(byte) if byte >= b' ' => self.literal_byte(&mut builder),
                _ => return Ok(None),
            }
        }
        self.input.at += 1;
        let expands = builder.flags.contains(WordFlags::EXPANSION);
        let parts = builder.take_parts(&mut self.arena);
        Ok(match &*parts {
            _ if expands => Some(Json::Template(parts)),
            [WordPart { kind: PartKind::Literal(text), .. }] => {
                std::str::from_utf8(text).ok().map(|text| Json::String(Bytes::from(text)))
            }
            _ => Some(Json::String(Bytes::new())),
        })
    }

    fn json_escape(&mut self) -> Option<String> {
        let rest = self.input.remaining();
        let simple = match rest.get(1)? {
            b'"' => "\"",
            b'\\' => "\\",
            b'/' => "/",
            b'b' => "\u{8}",
            b'f' => "\u{c}",
            b'n' => "\n",
            b'r' => "\r",
            b't' => "\t",
            b'u' => {
                let (character, length) = unicode_escape(rest)?;
                self.input.at += length;
                return Some(character.to_string());
            }
            _ => return None,
        };
        self.input.at += 2;
        Some(simple.to_owned())
    }
}

/// Decodes `\uXXXX` or a surrogate pair. Returns the character and the length of the escape.
fn unicode_escape(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<u32> {
        let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let first = unit(2)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second =
        unit(8).filter(|second| text.get(6..8) == Some(b"\\u") && (0xdc00..0xe000).contains(second))?;
    Some((char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))?, 12))
}

/// Checks whether text is JSON without parsing it. It skips strings approximately: bash and JSON agree on
/// where a string ends unless an expansion in it contains a quote.
struct JsonScanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl JsonScanner<'_> {
    /// Returns the length of the value, if there is one.
    fn scan(mut self) -> Option<usize> {
        // The expected closing brackets.
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek()? {
                bracket @ (b'[' | b'{') => {
                    self.at += 1;
                    let closer = if bracket == b'[' { b']' } else { b'}' };
                    if open.len() >= MAX_NESTING_DEPTH as usize {
                        return None;
                    }
                    open.push(closer);
                    if self.peek()? != closer {
                        self.key(closer)?;
                        continue;
                    }
                }
                b'"' => self.string()?,
                _ => self.atom()?,
            }
            loop {
                match (self.peek_inside(!open.is_empty())?, *open.last()?) {
                    (b',', closer) => {
                        self.at += 1;
                        self.key(closer)?;
                        break;
                    }
                    (byte, closer) if byte == closer => {
                        self.at += 1;
                        open.pop();
                        if open.is_empty() {
                            return Some(self.at);
                        }
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Skips blanks and returns the next byte.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn peek_inside(&mut self, inside: bool) -> Option<u8> {
        if inside { self.peek() } else { None }
    }

    /// Skips a key and its colon in an object.
    fn key(&mut self, closer: u8) -> Option<()> {
        if closer == b'}' {
            if self.peek()? != b'"' {
                return None;
            }
            self.string()?;
            if self.peek()? != b':' {
                return None;
            }
            self.at += 1;
        }
        self.peek().map(drop)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let found = memchr::memchr3(b'"', b'\\', b'\n', &self.text[self.at..])?;
            self.at += found + 1;
            match self.text[self.at - 1] {
                b'"' => return Some(()),
                b'\\' if self.text.len() > self.at => self.at += 1,
                _ => return None,
            }
        }
    }

    /// Skips `null`, `true`, `false` or a number.
    fn atom(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        let length = rest.iter().position(ends)?;
        let text = &rest[..length];
        self.at += length;
        (matches!(text, b"null" | b"true" | b"false") || is_number(text)).then_some(())
    }
}

/// Whether the text is a JSON number.
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text[0] == b'0') {
        return false;
    }
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let length = digits(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}
