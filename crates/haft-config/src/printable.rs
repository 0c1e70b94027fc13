//! Names that others have chosen, as a terminal may show them.

use std::path::Path;

/// A path without anything that a terminal would act on: control characters and those that turn the direction of
/// writing are shown as `\u{…}`, a newline as `\n`.
pub fn printable(path: impl AsRef<Path>) -> String {
    printable_text(&path.as_ref().to_string_lossy())
}

/// The same for a text of one line.
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

/// Characters that change how others are shown: direction marks, overrides, isolates, and those without width.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_move_the_cursor_or_turn_the_line_around() {
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
