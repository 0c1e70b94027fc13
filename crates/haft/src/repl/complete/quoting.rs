//! Removes the quoting of a typed word, and quotes a completion in the same way.

use haft_kernel::Session;

use crate::repl::editor::CompletionCandidate;

/// The beginning of a word: its value, and how it is quoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypedWord {
    /// The value, with variables and `~` expanded.
    value: Vec<u8>,
    /// The start of the last name in the value: after the last slash.
    name_in_value: usize,
    /// The start of the last name in the typed text.
    pub(super) name_at: usize,
    /// The open quote at the end.
    quote: Option<char>,
    /// Whether the quote was opened before the last name.
    quote_before: bool,
}

impl TypedWord {
    /// Parses a word. Returns `None` if its value is only known at run time.
    pub(super) fn of(typed: &str, session: &Session) -> Option<Self> {
        let mut word = Self::default();
        let mut rest = typed;
        if let Some(after) = typed.strip_prefix('~')
            && (after.is_empty() || after.starts_with('/'))
        {
            word.value.extend_from_slice(&session.value(b"HOME")?);
            rest = after;
        }
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            rest = word.take(character, rest, session)?;
            if character == '/' {
                word.name_in_value = word.value.len();
                word.name_at = typed.len() - rest.len();
                word.quote_before = word.quote.is_some();
            }
        }
        Some(word)
    }

    fn take<'t>(&mut self, character: char, rest: &'t str, session: &Session) -> Option<&'t str> {
        match (character, self.quote) {
            ('\'', None) | ('"', None) => self.quote = Some(character),
            (quote, Some(open)) if quote == open => self.quote = None,
            ('\\', None | Some('"')) => {
                let next = rest.chars().next()?;
                if self.quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                    self.push('\\');
                }
                self.push(next);
                return Some(&rest[next.len_utf8()..]);
            }
            ('`', None | Some('"')) => return None,
            ('$', None | Some('"')) => return self.variable(rest, session),
            (character, _) => self.push(character),
        }
        Some(rest)
    }

    fn variable<'t>(&mut self, rest: &'t str, session: &Session) -> Option<&'t str> {
        let braced = rest.strip_prefix('{');
        let inner = braced.unwrap_or(rest);
        let end = inner.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
        let (name, after) = inner.split_at(end);
        if name.is_empty() {
            return None;
        }
        self.value.extend_from_slice(&session.value(name.as_bytes()).unwrap_or_default());
        match braced {
            Some(_) => after.strip_prefix('}'),
            None => Some(after),
        }
    }

    fn push(&mut self, character: char) {
        self.value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    pub(super) fn has_slash(&self) -> bool {
        self.name_at > 0
    }

    /// The directory that was typed, up to its last slash.
    pub(super) fn directory(&self) -> &[u8] {
        &self.value[..self.name_in_value]
    }

    /// The name after the last slash.
    pub(super) fn name(&self) -> &[u8] {
        &self.value[self.name_in_value..]
    }

    /// The candidate that replaces the typed part of a name.
    pub(super) fn candidate(&self, name: &[u8], is_directory: bool) -> CompletionCandidate {
        let slash = if is_directory { "/" } else { "" };
        let shown = format!("{}{slash}", String::from_utf8_lossy(name));
        let opening = self.quote.filter(|_| !self.quote_before).map(String::from).unwrap_or_default();
        let closing = self.quote.filter(|_| !is_directory).map(String::from).unwrap_or_default();
        let text = format!("{opening}{}{slash}{closing}", quoted(name, self.quote));
        CompletionCandidate { shown, text, tail: if is_directory { "" } else { " " } }
    }
}

/// Quotes a name for the inside of this quote, or for unquoted text.
pub(super) fn quoted(name: &[u8], quote: Option<char>) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_quoted(&mut text, character, quote);
        }
        for byte in chunk.invalid() {
            outside(&mut text, quote, &format!("\\x{byte:02x}"));
        }
    }
    text
}

fn push_quoted(text: &mut String, character: char, quote: Option<char>) {
    const ESCAPED_CHARACTERS: &str = " !\"#$&'()*;<>?[\\]^`{|}~";
    match (character, quote) {
        (character, _) if character.is_control() => {
            outside(text, quote, &format!("\\x{:02x}", u32::from(character)));
        }
        ('\'', Some('\'')) => text.push_str("'\\''"),
        ('"' | '\\' | '$' | '`', Some('"')) => text.extend(['\\', character]),
        (character, None) if ESCAPED_CHARACTERS.contains(character) => text.extend(['\\', character]),
        (character, _) => text.push(character),
    }
}

/// Adds `$'…'`, for which an open quote is closed and opened again.
fn outside(text: &mut String, quote: Option<char>, escape: &str) {
    text.extend(quote);
    text.push_str(&format!("$'{escape}'"));
    text.extend(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_quoted() {
        assert_eq!(quoted(b"a b\n", None), "a\\ b$'\\x0a'");
        assert_eq!(quoted(b"it's $x", Some('\'')), "it'\\''s $x");
        assert_eq!(quoted(b"say \"$x\"", Some('"')), "say \\\"\\$x\\\"");
        assert_eq!(quoted(b"\xffx", Some('"')), "\"$'\\xff'\"x");
    }
}
