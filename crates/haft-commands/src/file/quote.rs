//! Quoting of names, in the styles of GNU's `quotearg`.

use haft_text::encoding::Encoding;

/// How a name is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotingStyle {
    /// Not at all.
    Literal,
    /// For a shell, if needed.
    Shell,
    /// For a shell, always.
    ShellAlways,
    /// For a shell, if needed, with `$'…'` around what cannot be shown.
    ShellEscape,
    /// The same, always.
    ShellEscapeAlways,
    /// As a string of C.
    C,
    /// The escapes of C, without quotes.
    Escape,
    /// The escapes of C, in the quotes of the locale.
    Locale,
}

/// Quotes a name. Bytes in `special` are quoted too.
pub(crate) fn quote(name: &[u8], style: QuotingStyle, encoding: Encoding, special: &[u8]) -> Vec<u8> {
    let shell = |always, escapes| ShellQuoting { name, encoding, escapes, special }.quote(always);
    match style {
        QuotingStyle::Literal => name.to_vec(),
        QuotingStyle::Shell => shell(false, false),
        QuotingStyle::ShellAlways => shell(true, false),
        QuotingStyle::ShellEscape => shell(false, true),
        QuotingStyle::ShellEscapeAlways => shell(true, true),
        QuotingStyle::C => quote_c(name, encoding, ["\"", "\""], special),
        QuotingStyle::Escape => quote_c(name, encoding, ["", ""], special),
        QuotingStyle::Locale if encoding == Encoding::Utf8 => {
            quote_c(name, encoding, ["\u{2018}", "\u{2019}"], special)
        }
        QuotingStyle::Locale => quote_c(name, encoding, ["'", "'"], special),
    }
}

/// Splits a name into characters, and says of each whether it can be shown.
fn characters(name: &[u8], encoding: Encoding) -> Vec<(&[u8], bool)> {
    let mut found = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (character, after) = rest.split_at(encoding.character_length(rest).max(1));
        found.push((character, is_shown(character)));
        rest = after;
    }
    found
}

/// Whether a character can be shown.
fn is_shown(character: &[u8]) -> bool {
    match character {
        [byte] => (b' '..=b'~').contains(byte),
        _ => str::from_utf8(character).is_ok_and(|text| !text.chars().any(is_hidden)),
    }
}

/// Whether a character beyond ASCII has no visible form.
fn is_hidden(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// The letter of the escape sequence of a control character.
fn escape_letter(byte: u8) -> Option<u8> {
    Some(match byte {
        0x07 => b'a',
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x0b => b'v',
        _ => return None,
    })
}

/// The escape sequence of the bytes of a character, without `$'…'` around it. `None` if the character can be shown.
fn escape_sequence(character: &[u8], is_shown: bool) -> Option<Vec<u8>> {
    match character {
        [byte] if escape_letter(*byte).is_some() => escape_letter(*byte).map(|letter| vec![b'\\', letter]),
        _ if is_shown => None,
        bytes => Some(bytes.iter().flat_map(|byte| format!("\\{byte:03o}").into_bytes()).collect()),
    }
}

fn quote_c(name: &[u8], encoding: Encoding, [open, close]: [&str; 2], special: &[u8]) -> Vec<u8> {
    let mut output = open.as_bytes().to_vec();
    for (character, is_shown) in characters(name, encoding) {
        let is_close = !close.is_empty() && character == close.as_bytes();
        match escape_sequence(character, is_shown) {
            Some(sequence) => output.extend(sequence),
            None => {
                let needs_escape = character == b"\\" || is_close || special.contains(&character[0]);
                output.extend(needs_escape.then_some(b'\\'));
                output.extend_from_slice(character);
            }
        }
    }
    output.extend_from_slice(close.as_bytes());
    output
}

/// Quoting for a shell.
struct ShellQuoting<'a> {
    name: &'a [u8],
    encoding: Encoding,
    /// Whether characters that cannot be shown become escape sequences.
    escapes: bool,
    special: &'a [u8],
}

impl ShellQuoting<'_> {
    fn quote(&self, always: bool) -> Vec<u8> {
        if !always && !self.needs_quotes() {
            return self.name.to_vec();
        }
        if self.name.contains(&b'\'') && self.fits_double_quotes() {
            return quote_c(self.name, self.encoding, ["\"", "\""], &[]);
        }
        let mut output = vec![b'\''];
        let mut in_escape = false;
        for (character, is_shown) in characters(self.name, self.encoding) {
            let sequence = if self.escapes { escape_sequence(character, is_shown) } else { None };
            match sequence {
                Some(sequence) => {
                    if !in_escape {
                        output.extend_from_slice(b"'$'");
                    }
                    in_escape = true;
                    output.extend(sequence);
                }
                None if character == b"'" => {
                    output.extend_from_slice(b"'\\''");
                    in_escape = false;
                }
                None => {
                    if in_escape {
                        output.extend_from_slice(b"''");
                    }
                    in_escape = false;
                    output.extend_from_slice(character);
                }
            }
        }
        output.push(b'\'');
        output
    }

    fn needs_quotes(&self) -> bool {
        let length = self.name.len();
        let is_special = |(index, &byte): (usize, &u8)| match byte {
            b'#' | b'~' => index == 0,
            b'{' | b'}' => length == 1,
            _ => b" \t\n\r?!\"$&'()*;<=>[\\^`|".contains(&byte) || self.special.contains(&byte),
        };
        let hidden =
            self.escapes && characters(self.name, self.encoding).iter().any(|(_, is_shown)| !is_shown);
        length == 0 || hidden || self.name.iter().enumerate().any(is_special)
    }

    /// Whether all characters mean the same in double quotes.
    fn fits_double_quotes(&self) -> bool {
        let length = self.name.len();
        let fits = |(index, (character, is_shown)): (usize, (&[u8], bool))| match character {
            [b'#' | b'~'] => index == 0,
            [b'{' | b'}'] => length == 1,
            [byte] if byte.is_ascii() => byte.is_ascii_alphanumeric() || b"' %+,-./:]_@".contains(byte),
            _ => is_shown,
        };
        characters(self.name, self.encoding).into_iter().enumerate().all(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_a_shell_if_needed() {
        let quoted = |name: &[u8], encoding| {
            String::from_utf8_lossy(&quote(name, QuotingStyle::ShellEscape, encoding, &[])).into_owned()
        };
        assert_eq!(quoted(b"plain", Encoding::Bytes), "plain");
        assert_eq!(quoted(b"a b", Encoding::Bytes), "'a b'");
        assert_eq!(quoted(b"it's", Encoding::Bytes), "\"it's\"");
        assert_eq!(quoted(b"a\nb", Encoding::Bytes), "'a'$'\\n''b'");
        assert_eq!(quoted("\u{e9}".as_bytes(), Encoding::Bytes), "''$'\\303\\251'");
        assert_eq!(quoted("\u{e9}".as_bytes(), Encoding::Utf8), "\u{e9}");
    }
}
