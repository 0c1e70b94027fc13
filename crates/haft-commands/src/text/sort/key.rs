//! The keys of `sort`.

use std::borrow::Cow;
use std::cmp::Ordering;

use md5::Digest as _;

use super::compare::{human, is_blank, month, numeric, numeric_prefix, skip_blanks, version};
use super::general::General;

/// How two keys are compared, if not byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    General,
    Human,
    Month,
    Numeric,
    Random,
    Version,
}

/// Bytes that make the order of `-R` differ between runs.
pub(super) type Salt = [u8; 16];

/// Which characters are left out of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    /// `-d`: all but letters, digits and blanks.
    NotDictionary,
    /// `-i`: all that cannot be printed.
    NotPrintable,
}

/// The options that can be given for one key or for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyOptions {
    pub(super) skip_start_blanks: bool,
    pub(super) skip_end_blanks: bool,
    ignored: Option<Ignored>,
    fold_case: bool,
    /// All orders that were given. Most combinations are errors.
    orders: Vec<KeyOrder>,
    pub(super) reverse: bool,
    /// For `-R`.
    pub(super) salt: Salt,
    /// Whether `-R` includes the NUL byte after a text, as GNU's `sort` does in all locales but C.
    pub(super) hashes_end: bool,
}

impl KeyOptions {
    /// Adds the option of a letter other than `b`. Returns whether there is one.
    pub(super) fn add(&mut self, letter: u8) -> bool {
        match letter {
            b'd' => self.ignored = Some(Ignored::NotDictionary),
            b'i' => self.ignored = self.ignored.or(Some(Ignored::NotPrintable)),
            b'f' => self.fold_case = true,
            b'g' => self.add_order(KeyOrder::General),
            b'h' => self.add_order(KeyOrder::Human),
            b'M' => self.add_order(KeyOrder::Month),
            b'n' => self.add_order(KeyOrder::Numeric),
            b'R' => self.add_order(KeyOrder::Random),
            b'V' => self.add_order(KeyOrder::Version),
            b'r' => self.reverse = true,
            _ => return false,
        }
        true
    }

    fn add_order(&mut self, order: KeyOrder) {
        if !self.orders.contains(&order) {
            self.orders.push(order);
        }
    }

    /// Whether no option other than `-r` is set.
    pub(super) fn is_plain(&self) -> bool {
        Self { reverse: false, ..self.clone() } == Self::default()
    }

    /// The letters of options that contradict each other.
    pub(super) fn conflict(&self) -> Option<String> {
        let has = |order| self.orders.contains(&order);
        let is_shared = |order: &&KeyOrder| matches!(order, KeyOrder::Version | KeyOrder::Random);
        let shared = self.orders.iter().filter(is_shared).count();
        let exclusive = self.orders.len() - shared;
        let other = usize::from(shared > 0 || self.ignored.is_some());
        let letters = [
            ('d', self.ignored == Some(Ignored::NotDictionary)),
            ('f', self.fold_case),
            ('g', has(KeyOrder::General)),
            ('h', has(KeyOrder::Human)),
            ('i', self.ignored == Some(Ignored::NotPrintable)),
            ('M', has(KeyOrder::Month)),
            ('n', has(KeyOrder::Numeric)),
            ('R', has(KeyOrder::Random)),
            ('V', has(KeyOrder::Version)),
        ];
        (exclusive + other > 1)
            .then(|| letters.into_iter().filter(|(_, set)| *set).map(|(letter, _)| letter).collect())
    }

    /// The order that counts.
    fn order(&self) -> Option<KeyOrder> {
        match self.is_random() {
            true => Some(KeyOrder::Random),
            false => self.orders.first().copied(),
        }
    }

    pub(super) fn is_random(&self) -> bool {
        self.orders.contains(&KeyOrder::Random)
    }

    fn compare(&self, first: &[u8], second: &[u8]) -> Ordering {
        let order = match self.order() {
            None if self.ignored.is_none() && !self.fold_case => first.cmp(second),
            None => self.folded(first).cmp(&self.folded(second)),
            Some(KeyOrder::General) => compare_general(first, second),
            Some(KeyOrder::Human) => human(&self.folded(first), &self.folded(second)),
            Some(KeyOrder::Month) => month(first).cmp(&month(second)),
            Some(KeyOrder::Numeric) => numeric(first, second),
            Some(KeyOrder::Random) => self.compare_random(&self.folded(first), &self.folded(second)),
            Some(KeyOrder::Version) => version(&self.folded(first), &self.folded(second)),
        };
        if self.reverse { order.reverse() } else { order }
    }

    /// A number that is smaller than that of another text only if the text comes first.
    fn prefix(&self, text: &[u8]) -> u64 {
        let prefix = match self.order() {
            None if self.ignored.is_none() && !self.fold_case => byte_prefix(text),
            Some(KeyOrder::Random) => byte_prefix(&self.digest(&self.folded(text))),
            Some(KeyOrder::Numeric) => numeric_prefix(text),
            _ => return 0,
        };
        if self.reverse { !prefix } else { prefix }
    }

    /// The order of `-R`: that of the hashes. Texts with the same hash are compared.
    fn compare_random(&self, first: &[u8], second: &[u8]) -> Ordering {
        self.digest(first).cmp(&self.digest(second)).then_with(|| first.cmp(second))
    }

    fn digest(&self, text: &[u8]) -> [u8; 16] {
        let end: &[u8] = if self.hashes_end && !text.is_empty() { b"\0" } else { b"" };
        md5::Md5::new().chain_update(self.salt).chain_update(text).chain_update(end).finalize().into()
    }

    /// The text without ignored characters, in upper case with `-f`.
    fn folded<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.ignored.is_none() && !self.fold_case {
            return Cow::Borrowed(text);
        }
        let kept = text.iter().filter(|byte| match self.ignored {
            None => true,
            Some(Ignored::NotDictionary) => byte.is_ascii_alphanumeric() || is_blank(**byte),
            Some(Ignored::NotPrintable) => (b' '..=b'~').contains(byte),
        });
        Cow::Owned(kept.map(|byte| if self.fold_case { byte.to_ascii_uppercase() } else { *byte }).collect())
    }

    pub(super) fn is_general(&self) -> bool {
        self.orders.first() == Some(&KeyOrder::General)
    }
}

fn compare_general(first: &[u8], second: &[u8]) -> Ordering {
    // Lines whose numbers cannot be parsed were refused before.
    General::parse(first)
        .zip(General::parse(second))
        .map_or(Ordering::Equal, |(first, second)| first.compare(&second))
}

/// A position in a line, from 0.
#[derive(Clone, Copy, Debug, Default)]
struct KeyPosition {
    field: usize,
    character: usize,
}

/// A part of the line that is compared.
#[derive(Clone, Debug, Default)]
pub(super) struct SortKey {
    start: KeyPosition,
    /// The field and the number of characters in it; 0 means all. `None` means the end of the line.
    end: Option<KeyPosition>,
    pub(super) options: KeyOptions,
}

impl SortKey {
    /// The whole line, with options.
    pub(super) fn line(options: KeyOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Parses `F[.C][OPTIONS][,F[.C][OPTIONS]]`. The error is a message, with the rest of the text in some cases.
    pub(super) fn parse(text: &[u8]) -> Result<Self, KeyError<'_>> {
        let mut key = Self::default();
        let (field, mut rest) =
            parse_count(text).ok_or(KeyError::Count("invalid number at field start", text))?;
        key.start.field = field.checked_sub(1).ok_or(KeyError::Field("field number is zero"))?;
        if let Some(after) = rest.strip_prefix(b".") {
            let (character, after) =
                parse_count(after).ok_or(KeyError::Count("invalid number after '.'", after))?;
            key.start.character =
                character.checked_sub(1).ok_or(KeyError::Field("character offset is zero"))?;
            rest = after;
        }
        rest = key.parse_options(rest, false);
        if let Some(after) = rest.strip_prefix(b",") {
            let (field, after) =
                parse_count(after).ok_or(KeyError::Count("invalid number after ','", after))?;
            let mut end = KeyPosition { field, character: 0 };
            end.field = field.checked_sub(1).ok_or(KeyError::Field("field number is zero"))?;
            rest = after;
            if let Some(after) = rest.strip_prefix(b".") {
                (end.character, rest) =
                    parse_count(after).ok_or(KeyError::Count("invalid number after '.'", after))?;
            }
            key.end = Some(end);
            rest = key.parse_options(rest, true);
        }
        if rest.is_empty() { Ok(key) } else { Err(KeyError::Field("stray character in field spec")) }
    }

    fn parse_options<'a>(&mut self, mut text: &'a [u8], is_end: bool) -> &'a [u8] {
        while let Some((letter, rest)) = text.split_first() {
            match (letter, is_end) {
                (b'b', false) => self.options.skip_start_blanks = true,
                (b'b', true) => self.options.skip_end_blanks = true,
                _ if self.options.add(*letter) => {}
                _ => break,
            }
            text = rest;
        }
        text
    }

    /// The part of a line.
    pub(super) fn of<'a>(&self, line: &'a [u8], separator: Option<u8>) -> &'a [u8] {
        let start = self.start_in(line, separator);
        let end = self.end.map_or(line.len(), |end| self.end_in(line, end, separator));
        &line[start..end.max(start)]
    }

    fn start_in(&self, line: &[u8], separator: Option<u8>) -> usize {
        let mut position = 0;
        for _ in 0..self.start.field {
            if position >= line.len() {
                break;
            }
            position = field_end(line, position, separator);
            if separator.is_some() && position < line.len() {
                position += 1;
            }
        }
        if self.options.skip_start_blanks {
            position = line.len() - skip_blanks(&line[position..]).len();
        }
        position.saturating_add(self.start.character).min(line.len())
    }

    fn end_in(&self, line: &[u8], end: KeyPosition, separator: Option<u8>) -> usize {
        let is_whole = end.character == 0;
        let mut left = end.field.saturating_add(usize::from(is_whole));
        let mut position = 0;
        while position < line.len() && left > 0 {
            left -= 1;
            position = field_end(line, position, separator);
            if separator.is_some() && position < line.len() && (left > 0 || !is_whole) {
                position += 1;
            }
        }
        if is_whole {
            return position;
        }
        if self.options.skip_end_blanks {
            position = line.len() - skip_blanks(&line[position..]).len();
        }
        position.saturating_add(end.character).min(line.len())
    }

    /// A number that is smaller than that of another line only if the key of the line comes first.
    pub(super) fn prefix(&self, line: &[u8], separator: Option<u8>) -> u64 {
        self.options.prefix(self.of(line, separator))
    }

    /// Compares two lines by this key.
    pub(super) fn compare(&self, first: &[u8], second: &[u8], separator: Option<u8>) -> Ordering {
        self.options.compare(self.of(first, separator), self.of(second, separator))
    }
}

/// The first bytes of a text as a number.
pub(super) fn byte_prefix(text: &[u8]) -> u64 {
    let mut bytes = [0; size_of::<u64>()];
    let length = text.len().min(bytes.len());
    bytes[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(bytes)
}

/// The end of the field that starts at a position. Without a separator, blanks before the field belong to it.
fn field_end(line: &[u8], position: usize, separator: Option<u8>) -> usize {
    let rest = &line[position..];
    let length = match separator {
        Some(separator) => memchr::memchr(separator, rest).unwrap_or(rest.len()),
        None => {
            let text = skip_blanks(rest);
            rest.len() - text.len() + text.iter().take_while(|byte| !is_blank(**byte)).count()
        }
    };
    position + length
}

/// Why a key is invalid.
pub(super) enum KeyError<'a> {
    /// The whole specification is wrong.
    Field(&'static str),
    /// A number is missing at the start of this text.
    Count(&'static str, &'a [u8]),
}

/// Parses a number as `strtoumax` does.
fn parse_count(text: &[u8]) -> Option<(usize, &[u8])> {
    let spaces = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let text = &text[spaces..];
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let (digits, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let number = super::parse_digits(digits);
    (!digits.is_empty()).then(|| (usize::try_from(number).unwrap_or(usize::MAX), rest))
}
