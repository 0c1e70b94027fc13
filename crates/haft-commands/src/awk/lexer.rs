//! The tokens of a program.

use super::builtin::BuiltinFunction;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AwkToken {
    Number(f64),
    Text(Vec<u8>),
    Regex(Vec<u8>),
    Name(String),
    /// A name directly before `(`.
    FunctionName(String),
    Builtin(BuiltinFunction),
    Keyword(Keyword),
    /// Punctuation and operators.
    Symbol(&'static str),
    Newline,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Begin,
    End,
    BeginFile,
    EndFile,
    Break,
    Continue,
    Delete,
    Do,
    Else,
    Exit,
    For,
    Function,
    Getline,
    If,
    In,
    Next,
    NextFile,
    Print,
    Printf,
    Return,
    While,
}

const KEYWORDS: [(&str, Keyword); 22] = [
    ("BEGIN", Keyword::Begin),
    ("BEGINFILE", Keyword::BeginFile),
    ("END", Keyword::End),
    ("ENDFILE", Keyword::EndFile),
    ("break", Keyword::Break),
    ("continue", Keyword::Continue),
    ("delete", Keyword::Delete),
    ("do", Keyword::Do),
    ("else", Keyword::Else),
    ("exit", Keyword::Exit),
    ("for", Keyword::For),
    ("func", Keyword::Function),
    ("function", Keyword::Function),
    ("getline", Keyword::Getline),
    ("if", Keyword::If),
    ("in", Keyword::In),
    ("next", Keyword::Next),
    ("nextfile", Keyword::NextFile),
    ("print", Keyword::Print),
    ("printf", Keyword::Printf),
    ("return", Keyword::Return),
    ("while", Keyword::While),
];

/// Symbols; longer ones first.
const SYMBOLS: [&str; 42] = [
    "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", ">>",
    "!~", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":",
    "~", "$", "=", "&",
];

/// Splits a program into tokens.
pub(super) struct AwkLexer<'a> {
    source: &'a [u8],
    at: usize,
    pub(super) line: usize,
    /// Whether a slash here divides.
    after_operand: bool,
    /// The start of the last token.
    pub(super) start: usize,
    /// Warnings about escape sequences, with their lines.
    pub(super) warnings: Vec<(usize, String)>,
}

impl<'a> AwkLexer<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0, line: 1, after_operand: false, start: 0, warnings: Vec::new() }
    }

    /// The line of source text that the last token starts in, with the column of the token.
    pub(super) fn source_line(&self) -> (&'a [u8], usize) {
        let start = self.start.min(self.source.len());
        let begin = memchr::memrchr(b'\n', &self.source[..start]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &self.source[start..]).map_or(self.source.len(), |at| start + at);
        (&self.source[begin..end], start - begin)
    }

    /// Whether the next token is `getline`.
    pub(super) fn is_before_getline(&self) -> bool {
        let rest = self.source[self.at..].trim_ascii_start();
        let after = rest.strip_prefix(b"getline").map(|after| after.first().copied());
        after.is_some_and(|next| !next.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    }

    fn byte(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    /// The next token, or the reason why there is none.
    pub(super) fn next(&mut self) -> Result<AwkToken, String> {
        self.skip_blanks();
        self.start = self.at;
        let Some(byte) = self.byte() else { return Ok(AwkToken::End) };
        let token = match byte {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                AwkToken::Newline
            }
            b'"' => AwkToken::Text(self.string()?),
            b'0'..=b'9' => self.number(),
            b'.' if self.source.get(self.at + 1).is_some_and(u8::is_ascii_digit) => self.number(),
            b'/' if !self.after_operand => AwkToken::Regex(self.regex()?),
            _ if byte.is_ascii_alphabetic() || byte == b'_' => self.word(),
            _ => {
                let rest = &self.source[self.at..];
                let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes()));
                let Some(symbol) = symbol else {
                    return Err("syntax error".to_owned());
                };
                self.at += symbol.len();
                AwkToken::Symbol(symbol)
            }
        };
        self.after_operand = match &token {
            AwkToken::Number(_) | AwkToken::Text(_) | AwkToken::Regex(_) | AwkToken::Name(_) => true,
            AwkToken::Builtin(_) => true,
            AwkToken::Symbol(symbol) => matches!(*symbol, ")" | "]" | "$" | "++" | "--"),
            _ => false,
        };
        Ok(token)
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.source[self.at + 1..].starts_with(b"\n") => {
                    self.at += 2;
                    self.line += 1;
                }
                Some(b'\\') if self.source[self.at + 1..].starts_with(b"\r\n") => {
                    self.at += 3;
                    self.line += 1;
                }
                Some(b'#') => {
                    while self.byte().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn number(&mut self) -> AwkToken {
        let rest = &self.source[self.at..];
        if rest.len() > 2 && rest[0] == b'0' && matches!(rest[1], b'x' | b'X') && rest[2].is_ascii_hexdigit()
        {
            let digits = rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            self.at += 2 + digits;
            let value = rest[2..2 + digits].iter().fold(0.0, |value, digit| {
                value * 16.0 + f64::from(char::from(*digit).to_digit(16).unwrap_or(0))
            });
            return AwkToken::Number(value);
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_octal = digits > 1
            && rest[0] == b'0'
            && rest[..digits].iter().all(|digit| *digit < b'8')
            && !matches!(rest.get(digits), Some(b'.' | b'e' | b'E'));
        if is_octal {
            self.at += digits;
            let value = rest[..digits].iter().fold(0.0, |value, digit| value * 8.0 + f64::from(digit - b'0'));
            return AwkToken::Number(value);
        }
        let (value, length) = super::number::prefix(rest);
        self.at += length.max(1);
        AwkToken::Number(value)
    }

    fn word(&mut self) -> AwkToken {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.source[start..self.at]).into_owned();
        if let Some((_, keyword)) = KEYWORDS.iter().find(|(word, _)| *word == name) {
            return AwkToken::Keyword(*keyword);
        }
        if let Some(function) = BuiltinFunction::find(&name) {
            return AwkToken::Builtin(function);
        }
        match self.byte() {
            Some(b'(') => AwkToken::FunctionName(name),
            _ => AwkToken::Name(name),
        }
    }

    /// A string constant, without its quotes.
    fn string(&mut self) -> Result<Vec<u8>, String> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.byte() {
                None | Some(b'\n') => return Err("unterminated string".to_owned()),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.line += usize::from(self.source.get(self.at + 1) == Some(&b'\n'));
                    self.at += 2;
                }
                Some(_) => self.at += 1,
            }
        }
        let raw = &self.source[start..self.at];
        self.at += 1;
        Ok(self.unescape_constant(raw))
    }

    /// Replaces escape sequences, and warns of unknown ones.
    fn unescape_constant(&mut self, raw: &[u8]) -> Vec<u8> {
        let (text, unknown) = unescape(raw);
        for letter in unknown {
            let shown = char::from(letter);
            let warning = format!("escape sequence `\\{shown}' treated as plain `{shown}'");
            self.warnings.push((self.line, warning));
        }
        text
    }

    /// A regular expression, without its slashes.
    fn regex(&mut self) -> Result<Vec<u8>, String> {
        self.at += 1;
        self.start = self.at;
        let start = self.at;
        let mut bracket: Option<usize> = None;
        loop {
            match self.byte() {
                None | Some(b'\n') => return Err("unterminated regexp".to_owned()),
                Some(b'\\') => self.at += 1,
                Some(b'[') => match bracket {
                    None => {
                        bracket = Some(self.at);
                        self.at += usize::from(self.source.get(self.at + 1) == Some(&b'^'));
                        // A bracket directly after the start is a character.
                        self.at += usize::from(self.source.get(self.at + 1) == Some(&b']'));
                    }
                    Some(_) => self.skip_class(),
                },
                Some(b']') => bracket = None,
                Some(b'/') if bracket.is_none() => break,
                Some(_) => {}
            }
            self.at += 1;
        }
        let raw = self.source[start..self.at].to_vec();
        self.at += 1;
        Ok(raw)
    }

    /// Skips `[:alpha:]` inside of a bracket expression.
    fn skip_class(&mut self) {
        let rest = &self.source[self.at..];
        if rest.starts_with(b"[:")
            && let Some(end) = rest.windows(2).position(|pair| pair == b":]")
        {
            self.at += end + 1;
        }
    }
}

/// Replaces the escape sequences of a string constant. Returns the letters of unknown ones, too.
pub(super) fn unescape(raw: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut text = Vec::with_capacity(raw.len());
    let mut unknown = Vec::new();
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        at += 1;
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        let Some(&letter) = raw.get(at) else {
            text.push(b'\\');
            break;
        };
        at += 1;
        match letter {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'a' => text.push(0x07),
            b'b' => text.push(0x08),
            b'f' => text.push(0x0c),
            b'v' => text.push(0x0b),
            b'\\' | b'"' => text.push(letter),
            b'\n' => {}
            b'0'..=b'7' => at = octal(raw, at - 1, &mut text),
            b'x' if raw.get(at).is_some_and(u8::is_ascii_hexdigit) => at = hexadecimal(raw, at, &mut text),
            _ => {
                unknown.push(letter);
                text.push(letter);
            }
        }
    }
    (text, unknown)
}

/// Appends the byte that up to three octal digits mean, and returns the position after them.
fn octal(raw: &[u8], at: usize, text: &mut Vec<u8>) -> usize {
    let digits = raw[at..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte));
    let value = digits.clone().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
    text.push(value.to_le_bytes()[0]);
    at + digits.count()
}

/// The same for up to two hexadecimal digits.
fn hexadecimal(raw: &[u8], at: usize, text: &mut Vec<u8>) -> usize {
    let digits = raw[at..].iter().take(2).take_while(|byte| byte.is_ascii_hexdigit());
    let value =
        digits.clone().fold(0, |value, digit| value * 16 + char::from(*digit).to_digit(16).unwrap_or(0));
    text.push(value.to_le_bytes()[0]);
    at + digits.count()
}
