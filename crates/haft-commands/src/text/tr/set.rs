//! The sets of `tr`.

use crate::text::streams::TextRun;

/// A parsed set.
pub(super) struct ByteSet(Vec<Element>);

/// A construct of a set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Byte(u8),
    Range(u8, u8),
    Class(ByteClass),
    /// `[=c=]`
    Equivalence(u8),
    /// `[c*n]`
    Repeat(u8, usize),
    /// `[c*]`: as often as the other set is long.
    Fill(u8),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Xdigit,
}

/// An error in a set.
pub(super) enum SetError {
    Fixed(&'static str),
    Reversed(u8, u8),
    UnknownClass(Vec<u8>),
    LongEquivalence(Vec<u8>),
    RepeatCount(Vec<u8>),
}

impl SetError {
    pub(super) fn message(&self, run: &TextRun<'_, '_>) -> String {
        match self {
            Self::Fixed(text) => (*text).to_owned(),
            Self::Reversed(start, end) => format!(
                "range-endpoints of '{}-{}' are in reverse collating sequence order",
                printable(&[*start]),
                printable(&[*end])
            ),
            Self::UnknownClass(name) => {
                format!("invalid character class {}", run.quote(printable(name).as_bytes()))
            }
            Self::LongEquivalence(text) => {
                format!("{}: equivalence class operand must be a single character", printable(text))
            }
            Self::RepeatCount(text) => {
                format!("invalid repeat count {} in [c*n] construct", run.quote(printable(text).as_bytes()))
            }
        }
    }
}

/// Text with escapes for bytes that cannot be shown.
fn printable(text: &[u8]) -> String {
    let shown = |byte: &u8| match byte {
        b'\\' => "\\\\".to_owned(),
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        0x0b => "\\v".to_owned(),
        0x20..=0x7e => char::from(*byte).to_string(),
        other => format!("\\{other:03o}"),
    };
    text.iter().map(shown).collect()
}

impl ByteClass {
    fn of_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alnum" => Self::Alnum,
            b"alpha" => Self::Alpha,
            b"blank" => Self::Blank,
            b"cntrl" => Self::Cntrl,
            b"digit" => Self::Digit,
            b"graph" => Self::Graph,
            b"lower" => Self::Lower,
            b"print" => Self::Print,
            b"punct" => Self::Punct,
            b"space" => Self::Space,
            b"upper" => Self::Upper,
            b"xdigit" => Self::Xdigit,
            _ => return None,
        })
    }

    fn contains(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Alpha => byte.is_ascii_alphabetic(),
            Self::Blank => matches!(byte, b' ' | b'\t'),
            Self::Cntrl => byte.is_ascii_control(),
            Self::Digit => byte.is_ascii_digit(),
            Self::Graph => byte.is_ascii_graphic(),
            Self::Lower => byte.is_ascii_lowercase(),
            Self::Print => byte.is_ascii_graphic() || byte == b' ',
            Self::Punct => byte.is_ascii_punctuation(),
            Self::Space => byte.is_ascii_whitespace() || byte == 0x0b,
            Self::Upper => byte.is_ascii_uppercase(),
            Self::Xdigit => byte.is_ascii_hexdigit(),
        }
    }

    fn has_case(self) -> bool {
        matches!(self, Self::Upper | Self::Lower)
    }
}

impl Element {
    /// Its bytes. `fill` is the length of `[c*]`.
    fn bytes(self, fill: usize) -> Vec<u8> {
        match self {
            Self::Byte(byte) | Self::Equivalence(byte) => vec![byte],
            Self::Range(start, end) => (start..=end).collect(),
            Self::Class(class) => (0..=255).filter(|byte| class.contains(*byte)).collect(),
            Self::Repeat(byte, count) => vec![byte; count],
            Self::Fill(byte) => vec![byte; fill],
        }
    }

    fn has_case(self) -> bool {
        matches!(self, Self::Class(class) if class.has_case())
    }
}

impl ByteSet {
    pub(super) fn parse(text: &[u8], warn: impl FnMut(String)) -> Result<Self, SetError> {
        SetParser { bytes: unescape(text, warn) }.parse().map(Self)
    }

    /// All bytes in order. `[c*]` makes the set as long as `length`.
    pub(super) fn bytes(&self, length: usize) -> Vec<u8> {
        let others: usize = self.0.iter().map(|element| element.bytes(0).len()).sum();
        let fill = length.saturating_sub(others);
        self.0.iter().flat_map(|element| element.bytes(fill)).collect()
    }

    fn has(&self, wanted: impl Fn(&Element) -> bool) -> bool {
        self.0.iter().any(wanted)
    }

    pub(super) fn has_class(&self) -> bool {
        self.has(|element| matches!(element, Element::Class(_)))
    }

    /// Checks that the set is valid as the first one.
    pub(super) fn check_first(&self) -> Result<(), SetError> {
        match self.has(|element| matches!(element, Element::Fill(_))) {
            true => Err(SetError::Fixed("the [c*] repeat construct may not appear in string1")),
            false => Ok(()),
        }
    }

    /// Checks that the set is valid as the second one.
    pub(super) fn check_second(&self, translates: bool) -> Result<(), SetError> {
        let fills = self.0.iter().filter(|element| matches!(element, Element::Fill(_))).count();
        let problem = if fills > 1 {
            "only one [c*] repeat construct may appear in string2"
        } else if !translates && fills > 0 {
            "the [c*] construct may appear in string2 only when translating"
        } else if translates && self.has(|element| matches!(element, Element::Equivalence(_))) {
            "[=c=] expressions may not appear in string2 when translating"
        } else if translates
            && self.has(|element| matches!(element, Element::Class(class) if !class.has_case()))
        {
            "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'"
        } else {
            return Ok(());
        };
        Err(SetError::Fixed(problem))
    }

    /// Checks that each `[:upper:]` and `[:lower:]` of this set is opposite one of the first set.
    pub(super) fn check_case_classes(&self, first: &Self, length: usize) -> Result<(), SetError> {
        if !self.has(|element| element.has_case()) {
            return Ok(());
        }
        let others: usize = self.0.iter().map(|element| element.bytes(0).len()).sum();
        let fill = length.saturating_sub(others);
        let [mut left, mut right] = [first, self].map(|set| Places { set, fill, element: 0, offset: 0 });
        loop {
            let (one, two) = (left.current(), right.current());
            let starts_class = |place: &Places<'_>, element: Option<Element>| {
                place.offset == 0 && element.is_some_and(Element::has_case)
            };
            if starts_class(&right, two) && !starts_class(&left, one) {
                return Err(SetError::Fixed("misaligned [:upper:] and/or [:lower:] construct"));
            }
            match (one, two) {
                (Some(_), Some(class)) if class.has_case() => {
                    left.skip_element();
                    right.skip_element();
                }
                (Some(_), Some(_)) => {
                    left.advance();
                    right.advance();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Whether the set ends with a class, so that its last byte cannot be repeated.
    pub(super) fn ends_with_class(&self) -> bool {
        matches!(self.0.last(), Some(Element::Class(_)))
    }
}

/// A position in the bytes of a set.
struct Places<'a> {
    set: &'a ByteSet,
    fill: usize,
    element: usize,
    offset: usize,
}

impl Places<'_> {
    /// The element at this position. Skips empty ones.
    fn current(&mut self) -> Option<Element> {
        loop {
            let element = *self.set.0.get(self.element)?;
            if self.offset < element.bytes(self.fill).len() {
                return Some(element);
            }
            self.skip_element();
        }
    }

    fn skip_element(&mut self) {
        (self.element, self.offset) = (self.element + 1, 0);
    }

    fn advance(&mut self) {
        self.offset += 1;
    }
}

/// A byte of a set, and whether a backslash made it an ordinary one.
type SetByte = (u8, bool);

/// Replaces escapes.
fn unescape(text: &[u8], mut warn: impl FnMut(String)) -> Vec<SetByte> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push((byte, false));
            continue;
        }
        let Some((&escaped, after)) = rest.split_first() else {
            warn("an unescaped backslash at end of string is not portable".to_owned());
            bytes.push((b'\\', false));
            break;
        };
        let value = match escaped {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'0'..=b'7' => {
                let (value, length) = octal(rest, &mut warn);
                rest = &rest[length..];
                bytes.push((value, true));
                continue;
            }
            other => other,
        };
        rest = after;
        bytes.push((value, true));
    }
    bytes
}

/// The value of up to three octal digits, and their number.
fn octal(text: &[u8], warn: &mut impl FnMut(String)) -> (u8, usize) {
    let digits = text.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let value =
        |count: usize| text[..count].iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
    match u8::try_from(value(digits)) {
        Ok(byte) => (byte, digits),
        Err(_) => {
            let [first, second, third] = [0, 1, 2].map(|index| char::from(text[index]));
            warn(format!(
                "the ambiguous octal escape \\{first}{second}{third} is being\n\tinterpreted as the 2-byte sequence \
                 \\0{first}{second}, {third}"
            ));
            (u8::try_from(value(2)).unwrap_or(u8::MAX), 2)
        }
    }
}

struct SetParser {
    bytes: Vec<SetByte>,
}

impl SetParser {
    fn parse(&self) -> Result<Vec<Element>, SetError> {
        let mut elements = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            let (element, next) = match at + 2 < self.bytes.len() {
                true => self.construct(at)?,
                false => (Element::Byte(self.bytes[at].0), at + 1),
            };
            elements.push(element);
            at = next;
        }
        Ok(elements)
    }

    /// Parses the construct at an index; returns it and the index after it.
    fn construct(&self, at: usize) -> Result<(Element, usize), SetError> {
        let byte = self.bytes[at].0;
        if self.is(at, b'[') {
            if let Some(found) = self.class(at)? {
                return Ok(found);
            }
            if let Some(found) = self.repeat(at + 1)? {
                return Ok(found);
            }
        }
        if self.is(at + 1, b'-') {
            let end = self.bytes[at + 2].0;
            return match byte <= end {
                true => Ok((Element::Range(byte, end), at + 3)),
                false => Err(SetError::Reversed(byte, end)),
            };
        }
        Ok((Element::Byte(byte), at + 1))
    }

    /// Whether there is this byte, without a backslash.
    fn is(&self, at: usize, byte: u8) -> bool {
        self.bytes.get(at) == Some(&(byte, false))
    }

    /// Parses `[:name:]` and `[=c=]`.
    fn class(&self, at: usize) -> Result<Option<(Element, usize)>, SetError> {
        let Some(delimiter) = [b':', b'='].into_iter().find(|delimiter| self.is(at + 1, *delimiter)) else {
            return Ok(None);
        };
        let start = at + 2;
        let Some(end) =
            (start..self.bytes.len()).find(|end| self.is(*end, delimiter) && self.is(end + 1, b']'))
        else {
            return Ok(None);
        };
        let operand: Vec<u8> = self.bytes[start..end].iter().map(|(byte, _)| *byte).collect();
        let element = match (delimiter, operand.as_slice()) {
            (b':', []) => return Err(SetError::Fixed("missing character class name '[::]'")),
            (_, []) => return Err(SetError::Fixed("missing equivalence class character '[==]'")),
            (b':', name) => ByteClass::of_name(name).map(Element::Class),
            (_, [byte]) => Some(Element::Equivalence(*byte)),
            _ => None,
        };
        match element {
            Some(element) => Ok(Some((element, end + 2))),
            None if self.is_star_and_digits(start) => Ok(None),
            None if delimiter == b':' => Err(SetError::UnknownClass(operand)),
            None => Err(SetError::LongEquivalence(operand)),
        }
    }

    /// Whether `*`, digits and `]` follow.
    fn is_star_and_digits(&self, at: usize) -> bool {
        let digits =
            self.bytes.get(at + 1..).unwrap_or_default().iter().take_while(|(byte, _)| byte.is_ascii_digit());
        self.is(at, b'*') && self.is(at + 1 + digits.count(), b']')
    }

    /// Parses `c*n]` and `c*]`.
    fn repeat(&self, at: usize) -> Result<Option<(Element, usize)>, SetError> {
        if !self.is(at + 1, b'*') {
            return Ok(None);
        }
        let start = at + 2;
        let unescaped = self.bytes[start..].iter().take_while(|(_, escaped)| !escaped).count();
        let Some(end) = (start..start + unescaped).find(|end| self.is(*end, b']')) else { return Ok(None) };
        let digits: Vec<u8> = self.bytes[start..end].iter().map(|(byte, _)| *byte).collect();
        let byte = self.bytes[at].0;
        let base = if digits.first() == Some(&b'0') { 8 } else { 10 };
        let count =
            std::str::from_utf8(&digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let element = match count {
            Some("") => Element::Fill(byte),
            Some(text) => match usize::from_str_radix(text, base) {
                Ok(0) => Element::Fill(byte),
                Ok(count) if count <= MAX_REPEATS => Element::Repeat(byte, count),
                _ => return Err(SetError::RepeatCount(digits)),
            },
            None => return Err(SetError::RepeatCount(digits)),
        };
        Ok(Some((element, end + 1)))
    }
}

/// The largest count of `[c*n]`. More than all bytes of the other set have no effect.
const MAX_REPEATS: usize = 1 << 20;
