//! Reads calls with literal arguments, the part of Starlark that files with rules use.

use std::fmt;

/// A call of a function with named arguments.
#[derive(Debug)]
pub(super) struct StarlarkCall {
    pub(super) name: String,
    pub(super) arguments: Vec<(String, StarlarkValue)>,
    /// The line of the name, starting at 1.
    pub(super) line: usize,
}

/// A literal value.
#[derive(Debug)]
pub(super) enum StarlarkValue {
    Text(String),
    List(Vec<StarlarkValue>),
    /// A number, or a name such as `True`.
    Other(String),
}

impl StarlarkCall {
    pub(super) fn argument(&self, name: &str) -> Option<&StarlarkValue> {
        self.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl fmt::Display for StarlarkCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.arguments.iter().map(|(name, value)| format!("{name} = {value}"));
        write!(formatter, "{}({})", self.name, shown.collect::<Vec<_>>().join(", "))
    }
}

impl StarlarkValue {
    pub(super) fn text(&self) -> Option<&str> {
        if let StarlarkValue::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn list(&self) -> Option<&[StarlarkValue]> {
        if let StarlarkValue::List(list) = self { Some(list) } else { None }
    }
}

impl fmt::Display for StarlarkValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StarlarkValue::Text(text) => write!(formatter, "{text:?}"),
            StarlarkValue::Other(name) => formatter.write_str(name),
            StarlarkValue::List(list) => {
                let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(formatter, "[{}]", shown.join(", "))
            }
        }
    }
}

/// Reads a file of calls.
///
/// # Errors
/// Returns the reason, with the line, if there is anything else.
pub(super) fn parse(text: &str) -> Result<Vec<StarlarkCall>, String> {
    let mut reader = StarlarkReader { text, at: 0 };
    let mut calls = Vec::new();
    while reader.peek().is_some() {
        calls.push(reader.call()?);
    }
    Ok(calls)
}

struct StarlarkReader<'t> {
    text: &'t str,
    at: usize,
}

/// Lists may not nest deeper.
const MAX_DEPTH: usize = 16;

impl StarlarkReader<'_> {
    /// The next character after blanks and comments.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return rest.chars().next();
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn wrong(&self, expected: &str) -> String {
        format!("expected {expected} at line {}", self.line())
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.peek() != Some(wanted) {
            return Err(self.wrong(&format!("'{wanted}'")));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn name(&mut self) -> Result<String, String> {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest
            .find(|letter: char| !letter.is_alphanumeric() && !"_.-".contains(letter))
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(self.wrong("a name"));
        }
        self.at += end;
        Ok(rest[..end].to_owned())
    }

    fn call(&mut self) -> Result<StarlarkCall, String> {
        self.peek();
        let line = self.line();
        let name = self.name()?;
        self.expect('(')?;
        let mut arguments = Vec::new();
        while self.peek() != Some(')') {
            let key = self.name()?;
            self.expect('=')?;
            arguments.push((key, self.value(0)?));
            if self.peek() != Some(')') {
                self.expect(',')?;
            }
        }
        self.expect(')')?;
        Ok(StarlarkCall { name, arguments, line })
    }

    fn value(&mut self, depth: usize) -> Result<StarlarkValue, String> {
        match self.peek() {
            Some('"' | '\'') => self.string().map(StarlarkValue::Text),
            Some('[') if depth < MAX_DEPTH => {
                self.expect('[')?;
                let mut list = Vec::new();
                while self.peek() != Some(']') {
                    list.push(self.value(depth + 1)?);
                    if self.peek() != Some(']') {
                        self.expect(',')?;
                    }
                }
                self.expect(']')?;
                Ok(StarlarkValue::List(list))
            }
            _ => self.name().map(StarlarkValue::Other),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let rest = &self.text[self.at..];
        let quote = &rest[..1];
        let triple = quote.repeat(3);
        let delimiter = if rest.starts_with(&triple) { triple.as_str() } else { quote };
        let (mut text, mut at) = (String::new(), delimiter.len());
        while let Some(letter) = rest[at..].chars().next() {
            if rest[at..].starts_with(delimiter) {
                self.at += at + delimiter.len();
                return Ok(text);
            }
            at += letter.len_utf8();
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            let Some(escaped) = rest[at..].chars().next() else { break };
            at += escaped.len_utf8();
            match escaped {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '\\' | '\'' | '"' => text.push(escaped),
                _ => text.extend(['\\', escaped]),
            }
        }
        Err(self.wrong("the end of a string that starts"))
    }
}
