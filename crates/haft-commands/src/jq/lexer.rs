//! Splits a filter into tokens.

/// A token and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: usize,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A keyword, an operator or a bracket.
    Symbol(&'static str),
    Identifier(String),
    /// `.name`
    Field(String),
    /// `$name`
    Variable(String),
    Number(String),
    /// `@name`
    Format(String),
    StringStart,
    /// Text of a string, with escapes resolved. An error message if that is not possible.
    StringText(Result<String, String>),
    InterpolationStart,
    InterpolationEnd,
    StringEnd,
    InvalidCharacter,
    End,
}

const KEYWORDS: [&str; 18] = [
    "as", "import", "include", "module", "def", "if", "then", "else", "elif", "and", "or", "end", "reduce",
    "foreach", "try", "catch", "label", "break",
];

/// Operators, longest first.
const OPERATORS: [&str; 32] = [
    "?//", "//=", "!=", "==", "//", "|=", "+=", "-=", "*=", "/=", "%=", "<=", ">=", "..", ".", "?", "=", ";",
    ",", ":", "|", "+", "-", "*", "/", "%", "$", "<", ">", "[", "{", "(",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Bracket(u8),
    Interpolation,
    String,
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
    nesting: Vec<Nesting>,
    tokens: Vec<Token>,
}

/// The tokens of a filter, with [`TokenKind::End`] at the end.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, position: 0, nesting: Vec::new(), tokens: Vec::new() };
    while lexer.position < text.len() {
        match lexer.nesting.last() {
            Some(Nesting::String) => lexer.in_string(),
            _ => lexer.outside(),
        }
    }
    lexer.push(TokenKind::End, 0);
    lexer.tokens
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The length of a name, with the names of modules before it.
fn name_length(text: &[u8]) -> usize {
    let simple = |text: &[u8]| match text.first() {
        Some(first) if is_name_start(*first) => text.iter().take_while(|byte| is_name_byte(**byte)).count(),
        _ => 0,
    };
    let mut length = simple(text);
    while length > 0 && text[length..].starts_with(b"::") {
        match simple(&text[length + 2..]) {
            0 => break,
            more => length += 2 + more,
        }
    }
    length
}

impl Lexer<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.position..]
    }

    fn slice(&self, from: usize, length: usize) -> String {
        self.text[self.position + from..self.position + length].to_owned()
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        self.tokens.push(Token { kind, at: self.position });
        self.position += length;
    }

    fn outside(&mut self) {
        let rest = self.rest();
        let first = rest[0];
        match first {
            b' ' | b'\n' | b'\t' => self.position += 1,
            b'#' => {
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.position += length;
            }
            b'"' => {
                self.push(TokenKind::StringStart, 1);
                self.nesting.push(Nesting::String);
            }
            b']' | b'}' | b')' => self.close(first),
            b'@' if rest.get(1).copied().is_some_and(is_name_byte) => {
                let length = 1 + rest[1..].iter().take_while(|byte| is_name_byte(**byte)).count();
                self.push(TokenKind::Format(self.slice(1, length)), length);
            }
            b'$' if name_length(&rest[1..]) > 0 => {
                let length = 1 + name_length(&rest[1..]);
                match &rest[1..length] {
                    b"__loc__" => self.push(TokenKind::Symbol("$__loc__"), length),
                    _ => self.push(TokenKind::Variable(self.slice(1, length)), length),
                }
            }
            b'.' if rest.get(1).copied().is_some_and(is_name_start) => {
                let length = 1 + rest[1..].iter().take_while(|byte| is_name_byte(**byte)).count();
                self.push(TokenKind::Field(self.slice(1, length)), length);
            }
            b'0'..=b'9' => self.number(),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => self.number(),
            first if is_name_start(first) => {
                let length = name_length(rest);
                let name = self.slice(0, length);
                let keyword = KEYWORDS.iter().find(|keyword| **keyword == name);
                self.push(keyword.map_or(TokenKind::Identifier(name), |it| TokenKind::Symbol(it)), length);
            }
            _ => self.operator(),
        }
    }

    fn operator(&mut self) {
        let rest = self.rest();
        let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(operator.as_bytes())) else {
            let length = self.text[self.position..].chars().next().map_or(1, char::len_utf8);
            return self.push(TokenKind::InvalidCharacter, length);
        };
        if matches!(*operator, "[" | "{" | "(") {
            self.nesting.push(Nesting::Bracket(operator.as_bytes()[0]));
        }
        self.push(TokenKind::Symbol(operator), operator.len());
    }

    fn close(&mut self, byte: u8) {
        let symbol = match (self.nesting.last(), byte) {
            (Some(Nesting::Bracket(b'[')), b']') => TokenKind::Symbol("]"),
            (Some(Nesting::Bracket(b'{')), b'}') => TokenKind::Symbol("}"),
            (Some(Nesting::Bracket(b'(')), b')') => TokenKind::Symbol(")"),
            (Some(Nesting::Interpolation), b')') => TokenKind::InterpolationEnd,
            _ => return self.push(TokenKind::InvalidCharacter, 1),
        };
        self.nesting.pop();
        self.push(symbol, 1);
    }

    fn number(&mut self) {
        let rest = self.rest();
        let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = digits(0);
        if rest.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits((length + 1 + sign).min(rest.len()));
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        self.push(TokenKind::Number(self.slice(0, length)), length);
    }

    fn in_string(&mut self) {
        let rest = self.rest();
        match rest {
            [b'"', ..] => {
                self.nesting.pop();
                self.push(TokenKind::StringEnd, 1);
            }
            [b'\\', b'(', ..] => {
                self.nesting.push(Nesting::Interpolation);
                self.push(TokenKind::InterpolationStart, 2);
            }
            [b'\\', _, ..] => self.escapes(),
            [b'\\'] => self.push(TokenKind::InvalidCharacter, 1),
            _ => {
                let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                self.push(TokenKind::StringText(Ok(self.slice(0, length))), length);
            }
        }
    }

    /// A run of escape sequences, which are those of JSON.
    fn escapes(&mut self) {
        let rest = self.rest();
        let mut length = 0;
        while rest.get(length) == Some(&b'\\') {
            match rest.get(length + 1) {
                None | Some(b'(') => break,
                Some(b'u') => {
                    let digits =
                        rest[length + 2..].iter().take(4).take_while(|byte| byte.is_ascii_alphanumeric());
                    length += 2 + digits.count();
                }
                Some(_) => {
                    let letter = self.text[self.position + length + 1..].chars().next();
                    length += 1 + letter.map_or(1, char::len_utf8);
                }
            }
        }
        let quoted = format!("\"{}\"", self.slice(0, length));
        let parsed = super::reader::parse_text(quoted.as_bytes());
        let text = parsed.map(|value| value.as_text().unwrap_or_default().to_owned());
        self.push(TokenKind::StringText(text), length);
    }
}
