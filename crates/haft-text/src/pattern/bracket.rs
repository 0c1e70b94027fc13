//! Bracket expressions.

/// A bracket expression.
#[derive(Clone, Debug, Default)]
pub(super) struct BracketSet {
    negated: bool,
    ranges: Vec<(u32, u32)>,
    classes: Vec<CharacterClass>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharacterClass {
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

const CHARACTER_CLASSES: [(&[u8], CharacterClass); 14] = [
    (b"alnum", CharacterClass::Alnum),
    (b"alpha", CharacterClass::Alpha),
    (b"ascii", CharacterClass::Ascii),
    (b"blank", CharacterClass::Blank),
    (b"cntrl", CharacterClass::Cntrl),
    (b"digit", CharacterClass::Digit),
    (b"graph", CharacterClass::Graph),
    (b"lower", CharacterClass::Lower),
    (b"print", CharacterClass::Print),
    (b"punct", CharacterClass::Punct),
    (b"space", CharacterClass::Space),
    (b"upper", CharacterClass::Upper),
    (b"word", CharacterClass::Word),
    (b"xdigit", CharacterClass::Xdigit),
];

impl BracketSet {
    /// Tells whether a character is in the set. With `ignore_case` either case counts.
    pub(super) fn contains(&self, code: u32, ignore_case: bool) -> bool {
        let found = self.has(code) || (ignore_case && (self.has(lower(code)) || self.has(upper(code))));
        found != self.negated
    }

    fn has(&self, code: u32) -> bool {
        self.ranges.iter().any(|&(first, last)| first <= code && code <= last)
            || self.classes.iter().any(|class| class.contains(code))
    }
}

impl CharacterClass {
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

/// Returns the lower case of a character, or the character itself if that would be several characters.
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

/// Parses the bracket expression at the beginning of `text`, and returns it with its length. Returns `None` if it is not closed.
pub(super) fn parse(text: &[u8], bytewise: bool) -> Option<(BracketSet, usize)> {
    let mut reader = BracketReader { text, index: 1, bytewise };
    let mut set = BracketSet::default();
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
                    let class = CHARACTER_CLASSES.iter().find(|(known, _)| *known == name);
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

struct BracketReader<'a> {
    text: &'a [u8],
    index: usize,
    bytewise: bool,
}

impl<'a> BracketReader<'a> {
    /// Reads the name in `[:name:]`, `[=name=]` or `[.name.]`. Returns `None` if it is not closed.
    fn named(&mut self, mark: u8) -> Option<&'a [u8]> {
        let start = self.index + 2;
        let body = self.text.get(start..)?;
        let length = body.windows(2).position(|pair| pair == [mark, b']'])?;
        self.index = start + length + 2;
        Some(&body[..length])
    }

    /// Reads the next character. The inner `None` is a collating symbol that does not exist.
    fn character(&mut self) -> Option<Option<u32>> {
        let byte = *self.text.get(self.index)?;
        if let (b'[', Some(&mark @ (b'=' | b'.'))) = (byte, self.text.get(self.index + 1))
            && let Some(name) = self.named(mark)
        {
            let (code, length) = decode(name, self.bytewise);
            if length == name.len() && length > 0 {
                return Some(Some(code));
            }
            return Some(if mark == b'.' { super::collating::code(name) } else { None });
        }
        if byte == b'\\' && self.text.len() > self.index + 1 {
            self.index += 1;
        }
        let (code, length) = decode(&self.text[self.index..], self.bytewise);
        self.index += length;
        Some(Some(code))
    }

    /// Reads the end of a range, if a dash follows that is not the last character.
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

/// Code of the byte 0 when it is not part of a character. These codes lie above all characters, so they have no class and no case.
const INVALID_BYTE_BASE: u32 = 0x11_0000;

/// Decodes the first character of `text`, and returns its code and its length in bytes. An invalid byte gets a code of its own.
pub(super) fn decode(text: &[u8], bytewise: bool) -> (u32, usize) {
    let Some(&first) = text.first() else { return (0, 0) };
    if first.is_ascii() {
        return (u32::from(first), 1);
    }
    if bytewise {
        return (INVALID_BYTE_BASE + u32::from(first), 1);
    }
    let sequence = text.get(..sequence_length(first)).and_then(|bytes| std::str::from_utf8(bytes).ok());
    match sequence.and_then(|text| text.chars().next()) {
        Some(letter) => (letter.into(), letter.len_utf8()),
        None => (INVALID_BYTE_BASE + u32::from(first), 1),
    }
}

/// Returns the length of the UTF-8 sequence that this byte starts.
pub(super) fn sequence_length(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}
