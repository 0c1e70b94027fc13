//! Escapes untrusted names for display on a terminal.

use std::path::Path;

/// Formats a path with control characters and invisible Unicode characters escaped as `\u{…}`, and newlines
/// as `
/// `.
pub fn printable(path: impl AsRef<Path>) -> String {
    printable_text(&path.as_ref().to_string_lossy())
}

/// Escapes control characters and invisible Unicode characters in a line of text.
pub fn printable_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || is_invisible(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Returns true for direction marks, overrides, isolates and zero-width characters.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_direction_characters_are_escaped() {
        for (name, shown) in [
            ("plain ä 字", "plain ä 字"),
            ("two\nlines", "two\\nlines"),
            ("\u{1b}[2K\rsafe", "\\u{1b}[2K\\rsafe"),
            ("a\u{202e}b\u{9b}31m", "a\\u{202e}b\\u{9b}31m"),
        ] {
            assert_eq!(printable(name), shown);
        }
    }
}
