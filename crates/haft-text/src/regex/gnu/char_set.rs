//! Sets of characters.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

use crate::encoding::{Encoding, character_length};

/// The code of the byte 0 where it is not part of a UTF-8 sequence.
pub(super) const RAW_BYTE: u32 = 0x11_0000;

/// The largest code of a Unicode character.
const LAST_CHARACTER: u32 = 0x10_FFFF;

/// The codes that no character has.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// The first code that is not ASCII.
const FIRST_NON_ASCII: u32 = 0x80;

/// A set of characters, as sorted ranges of codes. In UTF-8 a code is that of a character, or of a raw byte; otherwise it is a byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CharSet {
    ranges: Vec<(u32, u32)>,
    /// The ASCII members, for a fast test.
    ascii: u128,
}

impl CharSet {
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        let is_member = |code: u32| joined.iter().any(|&(first, last)| first <= code && code <= last);
        let ascii =
            (0..FIRST_NON_ASCII).filter(|code| is_member(*code)).fold(0, |bits, code| bits | 1 << code);
        Self { ranges: joined, ascii }
    }

    /// One character.
    pub(super) fn single(code: u32) -> Self {
        Self::new(vec![(code, code)])
    }

    /// All characters.
    pub(super) fn all(encoding: Encoding) -> Self {
        Self::new(Vec::new()).complement(encoding)
    }

    /// A class such as `alpha`. `None` if there is no such class.
    pub(super) fn class(name: &[u8], encoding: Encoding) -> Option<Self> {
        let (_, ascii, unicode) = CLASSES.iter().find(|(known, ..)| known.as_bytes() == name)?;
        match encoding {
            Encoding::Bytes => {
                let members = (0..FIRST_NON_ASCII).filter(|code| ascii(*code as u8));
                Some(Self::new(members.map(|code| (code, code)).collect()))
            }
            Encoding::Utf8 => Some(Self::new(property_ranges(unicode))),
        }
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// The only member, if there is one.
    pub(super) fn only(&self) -> Option<u32> {
        match self.ranges[..] {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }

    pub(super) fn contains(&self, code: u32) -> bool {
        if code < FIRST_NON_ASCII {
            return self.ascii >> code & 1 == 1;
        }
        let at = self.ranges.partition_point(|(_, last)| *last < code);
        self.ranges.get(at).is_some_and(|(first, _)| *first <= code)
    }

    /// The characters that are not in the set. Raw bytes are not characters.
    pub(super) fn complement(&self, encoding: Encoding) -> Self {
        let last = if encoding == Encoding::Bytes { u32::from(u8::MAX) } else { LAST_CHARACTER };
        let mut ranges = Vec::with_capacity(self.ranges.len() + 2);
        let mut next = 0;
        let gap = [SURROGATES].into_iter().filter(|_| encoding == Encoding::Utf8);
        let with_gap = Self::new(self.ranges.iter().copied().chain(gap).collect());
        for &(first, end) in with_gap.ranges.iter().filter(|(first, _)| *first <= last) {
            if next < first {
                ranges.push((next, first - 1));
            }
            next = end + 1;
        }
        if next <= last {
            ranges.push((next, last));
        }
        Self::new(ranges)
    }

    pub(super) fn without(&self, code: u32) -> Self {
        let split = self.ranges.iter().flat_map(|&(first, last)| {
            let before = (first < code).then(|| (first, last.min(code.saturating_sub(1))));
            let after = (last > code).then(|| (first.max(code + 1), last));
            [before, after]
        });
        Self::new(split.flatten().collect())
    }

    /// The characters whose upper case is in the set.
    pub(super) fn with_any_case(&self, encoding: Encoding) -> Self {
        let mut ranges: Vec<(u32, u32)> = self.ranges.clone();
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for &(code, upper) in UPPER_CASES.iter() {
            if encoding == Encoding::Bytes && code >= FIRST_NON_ASCII {
                break;
            }
            let list = if self.contains(upper) { &mut added } else { &mut removed };
            list.push((code, code));
        }
        let removed = Self::new(removed).complement_all();
        ranges = intersect(&ranges, &removed);
        ranges.extend(added);
        Self::new(ranges)
    }

    /// Everything that is not in the set, also codes that are not characters.
    fn complement_all(&self) -> Vec<(u32, u32)> {
        let mut next = 0;
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        for &(first, last) in &self.ranges {
            if next < first {
                ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        ranges.push((next, u32::MAX - 1));
        ranges
    }
}

fn intersect(left: &[(u32, u32)], right: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let (mut result, mut first, mut second) = (Vec::new(), 0, 0);
    while let (Some(&a), Some(&b)) = (left.get(first), right.get(second)) {
        let (start, end) = (a.0.max(b.0), a.1.min(b.1));
        if start <= end {
            result.push((start, end));
        }
        if a.1 < b.1 {
            first += 1;
        } else {
            second += 1;
        }
    }
    result
}

/// Decodes the first character of `text`: its code and its length. The length is 0 at the end.
pub(super) fn decode(text: &[u8], encoding: Encoding) -> (u32, usize) {
    let Some(&first) = text.first() else { return (0, 0) };
    if first.is_ascii() || encoding == Encoding::Bytes {
        return (first.into(), 1);
    }
    let length = character_length(text);
    match std::str::from_utf8(&text[..length]).ok().and_then(|text| text.chars().next()) {
        Some(letter) => (letter.into(), length),
        None => (RAW_BYTE + u32::from(first), 1),
    }
}

/// The upper case of a character, or the character itself if it has none or that would be several characters.
pub(super) fn upper(code: u32, encoding: Encoding) -> u32 {
    if code < FIRST_NON_ASCII || encoding == Encoding::Bytes {
        return u8::try_from(code).map_or(code, |byte| byte.to_ascii_uppercase().into());
    }
    unicode_upper(code)
}

fn unicode_upper(code: u32) -> u32 {
    let Some(letter) = char::from_u32(code) else { return code };
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper.into(),
        _ => code,
    }
}

/// All characters that are not their own upper case, with their upper case.
static UPPER_CASES: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
    let changing = property_ranges(r"\p{Changes_When_Uppercased}");
    let codes = changing.into_iter().flat_map(|(first, last)| first..=last);
    codes.map(|code| (code, unicode_upper(code))).filter(|(code, upper)| code != upper).collect()
});

/// The ranges of a class of the `regex` crate.
fn property_ranges(class: &str) -> Vec<(u32, u32)> {
    match regex_syntax::parse(class).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
        _ => Vec::new(),
    }
}

type AsciiTest = fn(u8) -> bool;

/// Names of classes, their ASCII members, and all members as a class of the `regex` crate.
const CLASSES: [(&str, AsciiTest, &str); 12] = [
    ("alnum", |byte| byte.is_ascii_alphanumeric(), r"[\p{Alphabetic}\p{Nd}]"),
    ("alpha", |byte| byte.is_ascii_alphabetic(), r"[\p{Alphabetic}[\p{Nd}--[0-9]]]"),
    ("blank", |byte| matches!(byte, b' ' | b'\t'), r"[\t\p{Zs}--\u{A0}\u{2007}\u{202F}]"),
    ("cntrl", |byte| byte.is_ascii_control(), r"[\p{Cc}\u{2028}\u{2029}]"),
    ("digit", |byte| byte.is_ascii_digit(), "[0-9]"),
    ("graph", |byte| byte.is_ascii_graphic(), r"[^\p{Cc}\p{Cs}\p{Cn}\p{Z}]"),
    ("lower", |byte| byte.is_ascii_lowercase(), r"\p{Lowercase}"),
    ("print", |byte| byte.is_ascii_graphic() || byte == b' ', r"[^\p{Cc}\p{Cs}\p{Cn}\u{2028}\u{2029}]"),
    ("punct", |byte| byte.is_ascii_punctuation(), r"[^\p{Cc}\p{Cs}\p{Cn}\p{Z}\p{Alphabetic}\p{Nd}]"),
    (
        "space",
        |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        r"[\p{White_Space}--\u{85}\u{A0}\u{2007}\u{202F}]",
    ),
    ("upper", |byte| byte.is_ascii_uppercase(), r"\p{Uppercase}"),
    ("xdigit", |byte| byte.is_ascii_hexdigit(), "[0-9A-Fa-f]"),
];
