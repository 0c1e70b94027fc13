use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU16;

/// Lets the screen see nothing but narrow characters.
///
/// A cell of the screen holds one character of one column, and keeping to that keeps the screen from ever being in a state
/// that it cannot handle: half a wide character, an accent without its letter. Everything else, that is wide characters,
/// letters with combining marks and what the screen refuses to draw, is a *glyph*: its text is kept here and a private
/// code point drawn in its stead, followed by a filler where it is wide.
#[derive(Default)]
pub(super) struct Glyphs {
    texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    widths: HashMap<char, Width>,
    /// The last character, to which marks may still come, and whether it is wide.
    pending: String,
    pending_wide: bool,
    overflowed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    None,
    Narrow,
    Wide,
}

/// The second column of a wide glyph.
const FILLER: char = '\u{f0000}';
/// Private code points from here on stand for glyphs; where text has such characters itself, they are glyphs too.
const FIRST: u32 = 0xf_0001;
/// So many glyphs have a place: no more than there are code points before the next two that mean nothing.
const CAPACITY: usize = 0xfffd;
/// Marks beyond this many bytes are left out.
const LONGEST: usize = 64;

impl Glyphs {
    /// Whether some glyph had no place, or lost marks.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Appends the text, as the screen may see it, to `drawn`. The last character waits for marks.
    pub(super) fn draw(&mut self, text: &str, drawn: &mut String) {
        for character in text.chars() {
            match self.width(character) {
                Width::None if character.is_control() => {
                    self.settle(drawn);
                    drawn.push(character);
                }
                Width::None if self.pending.is_empty() => {}
                Width::None if self.pending.len() + character.len_utf8() > LONGEST => self.overflowed = true,
                Width::None => self.pending.push(character),
                width => {
                    self.settle(drawn);
                    self.pending.push(character);
                    self.pending_wide = width == Width::Wide;
                }
            }
        }
    }

    /// Draws what waits for marks: none will come.
    pub(super) fn settle(&mut self, drawn: &mut String) {
        let mut characters = self.pending.chars();
        match (characters.next(), characters.next()) {
            (None, _) => return,
            (Some(single), None) if !self.pending_wide && is_plain(single) => drawn.push(single),
            _ => {
                let number = self.number();
                drawn.extend(char::from_u32(FIRST + number));
                drawn.extend(self.pending_wide.then_some(FILLER));
            }
        }
        self.pending.clear();
    }

    /// The text that was drawn.
    pub(super) fn restore<'a>(&self, drawn: &'a str) -> Cow<'a, str> {
        if drawn.chars().all(is_plain) {
            return drawn.into();
        }
        let mut text = String::with_capacity(drawn.len());
        for character in drawn.chars() {
            match u32::from(character).checked_sub(FIRST).and_then(|number| self.texts.get(number as usize)) {
                Some(glyph) => text.push_str(glyph),
                None if character == FILLER => {}
                None => text.push(character),
            }
        }
        text.into()
    }

    /// The number of the glyph that is pending. One that has no place any more is drawn as the very last of them.
    fn number(&mut self) -> u32 {
        if let Some(number) = self.numbers.get(self.pending.as_str()) {
            return *number;
        }
        let mut glyph: Box<str> = self.pending.as_str().into();
        if self.texts.len() + 1 >= CAPACITY {
            self.overflowed = true;
            if self.texts.len() == CAPACITY {
                return CAPACITY as u32 - 1;
            }
            glyph = char::REPLACEMENT_CHARACTER.to_string().into();
        }
        let number = self.texts.len() as u32;
        self.texts.push(glyph.clone());
        self.numbers.insert(glyph, number);
        number
    }

    fn width(&mut self, character: char) -> Width {
        /// Of how many characters the width is remembered.
        const REMEMBERED: usize = 4096;
        match character {
            ' '..='~' | char::REPLACEMENT_CHARACTER => Width::Narrow,
            _ if character.is_control() => Width::None,
            _ => {
                if self.widths.len() >= REMEMBERED {
                    self.widths.clear();
                }
                *self.widths.entry(character).or_insert_with(|| measure(character))
            }
        }
    }
}

/// Whether the screen can draw this narrow character as it is.
fn is_plain(character: char) -> bool {
    character < FILLER && character != char::REPLACEMENT_CHARACTER
}

/// Asks an empty screen how far a character moves the cursor.
fn measure(character: char) -> Width {
    const COLUMNS: NonZeroU16 = NonZeroU16::new(8).expect("8 is not 0");
    let mut screen = vt100::Parser::new(NonZeroU16::MIN, COLUMNS, 0);
    screen.process(format!("x{character}").as_bytes());
    match screen.screen().cursor_position().1 {
        0 | 1 => Width::None,
        2 => Width::Narrow,
        _ => Width::Wide,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(glyphs: &mut Glyphs, text: &str) -> String {
        let mut drawn = String::new();
        glyphs.draw(text, &mut drawn);
        glyphs.settle(&mut drawn);
        drawn
    }

    #[test]
    fn what_is_drawn_is_narrow_and_comes_back() {
        let mut glyphs = Glyphs::default();
        for text in [
            "plain",
            "grün",
            "漢字",
            "e\u{301}a",
            "🦀 👨\u{200d}👩",
            "\u{f0001}\u{10ffff}",
            "\u{fffd}",
            "1\u{fe0f}\u{20e3}",
        ] {
            let drawn = drawn(&mut glyphs, text);
            assert!(drawn.chars().all(|character| measure(character) == Width::Narrow), "{text}: {drawn:?}");
            assert_eq!(glyphs.restore(&drawn), text);
        }
        assert_eq!(drawn(&mut glyphs, "漢").chars().count(), 2);
        assert_eq!(drawn(&mut glyphs, "e\u{301}").chars().count(), 1);
    }

    #[test]
    fn glyphs_are_bounded() {
        let mut glyphs = Glyphs::default();
        for base in '\u{4e00}'..'\u{9000}' {
            for mark in ["", "\u{301}", "\u{302}", "\u{303}", "\u{304}"] {
                drawn(&mut glyphs, &format!("{base}{mark}"));
            }
        }
        assert!(glyphs.overflowed());
        assert_eq!(glyphs.texts.len(), CAPACITY);
        let last = drawn(&mut glyphs, "\u{8fff}\u{310}");
        assert_eq!(glyphs.restore(&last), "\u{fffd}");
        let long = format!("a{}", "\u{301}".repeat(1000));
        assert!(drawn(&mut Glyphs::default(), &long).len() < 8);
    }
}
