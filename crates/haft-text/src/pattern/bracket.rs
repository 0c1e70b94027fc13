//! Bracket expressions.

/// A bracket expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    negated: bool,
    ranges: Vec<(u32, u32)>,
    classes: Vec<Class>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

const CLASSES: [(&[u8], Class); 14] = [
    (b"alnum", Class::Alnum),
    (b"alpha", Class::Alpha),
    (b"ascii", Class::Ascii),
    (b"blank", Class::Blank),
    (b"cntrl", Class::Cntrl),
    (b"digit", Class::Digit),
    (b"graph", Class::Graph),
    (b"lower", Class::Lower),
    (b"print", Class::Print),
    (b"punct", Class::Punct),
    (b"space", Class::Space),
    (b"upper", Class::Upper),
    (b"word", Class::Word),
    (b"xdigit", Class::Xdigit),
];

impl Set {
    /// Whether a character is in the set; with `ignore_case`, in either case.
    pub(super) fn contains(&self, code: u32, ignore_case: bool) -> bool {
        let found = self.has(code) || (ignore_case && (self.has(lower(code)) || self.has(upper(code))));
        found != self.negated
    }

    fn has(&self, code: u32) -> bool {
        self.ranges.iter().any(|&(first, last)| first <= code && code <= last)
            || self.classes.iter().any(|class| class.contains(code))
    }
}

impl Class {
    fn contains(self, code: u32) -> bool {
        let Some(letter) = char::from_u32(code) else { return false };
        match self {
            Self::Alnum => letter.is_alphanumeric(),
            Self::Alpha => letter.is_alphabetic(),
            Self::Ascii => letter.is_ascii(),
            Self::Blank => letter == ' ' || letter == '\t',
            Self::Cntrl => letter.is_control(),
            Self::Digit => letter.is_ascii_digit(),
            Self::Graph => !letter.is_control() && !letter.is_whitespace(),
            Self::Lower => letter.is_lowercase(),
            Self::Print => !letter.is_control(),
            Self::Punct if letter.is_ascii() => letter.is_ascii_punctuation(),
            Self::Punct => !letter.is_control() && !letter.is_alphanumeric() && !letter.is_whitespace(),
            Self::Space => letter.is_whitespace() && letter != '\u{85}' && letter != '\u{a0}',
            Self::Upper => letter.is_uppercase(),
            Self::Word => letter.is_alphanumeric() || letter == '_',
            Self::Xdigit => letter.is_ascii_hexdigit(),
        }
    }
}

/// The lower case of a character that has one of its own.
pub(super) fn lower(code: u32) -> u32 {
    single(code, |letter| letter.to_lowercase().next(), |letter| letter.to_lowercase().count())
}

fn upper(code: u32) -> u32 {
    single(code, |letter| letter.to_uppercase().next(), |letter| letter.to_uppercase().count())
}

fn single(code: u32, map: impl Fn(char) -> Option<char>, count: impl Fn(char) -> usize) -> u32 {
    match char::from_u32(code) {
        Some(letter) if count(letter) == 1 => map(letter).map_or(code, u32::from),
        _ => code,
    }
}

/// Parses the bracket expression that `text` begins with, and tells its length; `None` if it is never closed.
pub(super) fn parse(text: &[u8], bytewise: bool) -> Option<(Set, usize)> {
    let mut reader = Reader { text, index: 1, bytewise };
    let mut set = Set::default();
    if let Some(b'!' | b'^') = text.get(1) {
        set.negated = true;
        reader.index = 2;
    }
    let first = reader.index;
    loop {
        match *text.get(reader.index)? {
            b']' if reader.index > first => return Some((set, reader.index + 1)),
            b'[' if text.get(reader.index + 1) == Some(&b':') => {
                if let Some(name) = reader.named(b':') {
                    let class = CLASSES.iter().find(|(known, _)| *known == name);
                    set.classes.extend(class.map(|(_, class)| *class));
                    continue;
                }
            }
            _ => {}
        }
        let low = reader.character()?;
        let high = reader.range_end().unwrap_or(low);
        if let (Some(low), Some(high)) = (low, high) {
            set.ranges.push((low, high));
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    index: usize,
    bytewise: bool,
}

impl<'a> Reader<'a> {
    /// `[:name:]`, `[=name=]`, `[.name.]`: the name, if it is closed.
    fn named(&mut self, mark: u8) -> Option<&'a [u8]> {
        let start = self.index + 2;
        let body = self.text.get(start..)?;
        let length = body.windows(2).position(|pair| pair == [mark, b']'])?;
        self.index = start + length + 2;
        Some(&body[..length])
    }

    /// The next character; the inner `None` is a collating symbol that no character has.
    fn character(&mut self) -> Option<Option<u32>> {
        let byte = *self.text.get(self.index)?;
        if let (b'[', Some(&mark @ (b'=' | b'.'))) = (byte, self.text.get(self.index + 1))
            && let Some(name) = self.named(mark)
        {
            let (code, length) = decode(name, self.bytewise);
            return Some((length == name.len() && length > 0).then_some(code));
        }
        if byte == b'\\' && self.text.len() > self.index + 1 {
            self.index += 1;
        }
        let (code, length) = decode(&self.text[self.index..], self.bytewise);
        self.index += length;
        Some(Some(code))
    }

    /// The end of a range, if a dash that is not the last character follows.
    fn range_end(&mut self) -> Option<Option<u32>> {
        match self.text.get(self.index..self.index + 2) {
            Some([b'-', after]) if *after != b']' => {
                self.index += 1;
                self.character()
            }
            _ => None,
        }
    }
}

/// The numbers of bytes that are no characters begin here, after those of all characters: they are of no class and have no case.
const BYTES: u32 = 0x11_0000;

/// The first character of `text`, and its length in bytes; a byte that is none is itself.
pub(super) fn decode(text: &[u8], bytewise: bool) -> (u32, usize) {
    let Some(&first) = text.first() else { return (0, 0) };
    if first.is_ascii() {
        return (u32::from(first), 1);
    }
    if bytewise {
        return (BYTES + u32::from(first), 1);
    }
    let sequence = text.get(..width(first)).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match sequence.and_then(|text| text.chars().next()) {
        Some(letter) => (letter.into(), letter.len_utf8()),
        None => (BYTES + u32::from(first), 1),
    }
}

/// The length of the UTF-8 sequence that this byte begins.
pub(super) fn width(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}
