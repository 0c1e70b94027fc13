use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU16;

/// Replaces everything except narrow characters before it is drawn on the screen.
///
/// With one character of one column per cell, the screen never has half of a wide character or a combining mark without its
/// letter. Wide characters, letters with combining marks, and characters that the screen refuses to draw are *glyphs*: their
/// text is stored here, and a private code point is drawn instead, followed by a filler if the glyph is wide.
#[derive(Default)]
pub(super) struct Glyphs {
    texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    widths: HashMap<char, GlyphWidth>,
    /// The last character, which combining marks may follow, and whether it is wide.
    pending: String,
    pending_wide: bool,
    overflowed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GlyphWidth {
    None,
    Narrow,
    Wide,
}

/// The second column of a wide glyph.
const FILLER: char = '\u{f0000}';
/// The first private code point of a glyph. Such characters in the text itself become glyphs too.
const FIRST_GLYPH: u32 = 0xf_0001;
/// Maximum number of glyphs: the private code points of the plane, without the noncharacters at its end.
const MAX_GLYPHS: usize = 0xfffd;
/// Maximum size of a glyph. Further marks are omitted.
const MAX_GLYPH_BYTES: usize = 64;

impl Glyphs {
    /// Whether a glyph could not be stored, or lost marks.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Appends the text to `drawn`, with glyphs replaced. Keeps the last character, which marks may follow.
    pub(super) fn draw(&mut self, text: &str, drawn: &mut String) {
        for character in text.chars() {
            match self.width(character) {
                GlyphWidth::None if character.is_control() => {
                    self.flush(drawn);
                    drawn.push(character);
                }
                GlyphWidth::None if self.pending.is_empty() => {}
                GlyphWidth::None if self.pending.len() + character.len_utf8() > MAX_GLYPH_BYTES => {
                    self.overflowed = true;
                }
                GlyphWidth::None => self.pending.push(character),
                width => {
                    self.flush(drawn);
                    self.pending.push(character);
                    self.pending_wide = width == GlyphWidth::Wide;
                }
            }
        }
    }

    /// Draws the last character, because no marks follow.
    pub(super) fn flush(&mut self, drawn: &mut String) {
        let mut characters = self.pending.chars();
        match (characters.next(), characters.next()) {
            (None, _) => return,
            (Some(single), None) if !self.pending_wide && is_plain(single) => drawn.push(single),
            _ => {
                let number = self.number();
                drawn.extend(char::from_u32(FIRST_GLYPH + number));
                drawn.extend(self.pending_wide.then_some(FILLER));
            }
        }
        self.pending.clear();
    }

    /// Replaces drawn code points by the text of their glyphs.
    pub(super) fn restore<'a>(&self, drawn: &'a str) -> Cow<'a, str> {
        if drawn.chars().all(is_plain) {
            return drawn.into();
        }
        let mut text = String::with_capacity(drawn.len());
        for character in drawn.chars() {
            match u32::from(character)
                .checked_sub(FIRST_GLYPH)
                .and_then(|number| self.texts.get(number as usize))
            {
                Some(glyph) => text.push_str(glyph),
                None if character == FILLER => {}
                None => text.push(character),
            }
        }
        text.into()
    }

    /// Returns the index of the pending glyph. If no index is free, returns the last one, which shows U+FFFD.
    fn number(&mut self) -> u32 {
        if let Some(number) = self.numbers.get(self.pending.as_str()) {
            return *number;
        }
        let mut glyph: Box<str> = self.pending.as_str().into();
        if self.texts.len() + 1 >= MAX_GLYPHS {
            self.overflowed = true;
            if self.texts.len() == MAX_GLYPHS {
                return MAX_GLYPHS as u32 - 1;
            }
            glyph = char::REPLACEMENT_CHARACTER.to_string().into();
        }
        let number = self.texts.len() as u32;
        self.texts.push(glyph.clone());
        self.numbers.insert(glyph, number);
        number
    }

    fn width(&mut self, character: char) -> GlyphWidth {
        /// Maximum number of cached widths.
        const MAX_CACHED_WIDTHS: usize = 4096;
        match character {
            ' '..='~' | char::REPLACEMENT_CHARACTER => GlyphWidth::Narrow,
            _ if character.is_control() => GlyphWidth::None,
            _ => {
                if self.widths.len() >= MAX_CACHED_WIDTHS {
                    self.widths.clear();
                }
                *self.widths.entry(character).or_insert_with(|| measure(character))
            }
        }
    }
}

/// Whether the screen can draw a narrow character directly.
fn is_plain(character: char) -> bool {
    character < FILLER && character != char::REPLACEMENT_CHARACTER
}

/// Measures how far a character moves the cursor of an empty screen.
fn measure(character: char) -> GlyphWidth {
    const COLUMNS: NonZeroU16 = NonZeroU16::new(8).expect("8 is not 0");
    let mut screen = vt100::Parser::new(NonZeroU16::MIN, COLUMNS, 0);
    screen.process(format!("x{character}").as_bytes());
    match screen.screen().cursor_position().1 {
        0 | 1 => GlyphWidth::None,
        2 => GlyphWidth::Narrow,
        _ => GlyphWidth::Wide,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(glyphs: &mut Glyphs, text: &str) -> String {
        let mut drawn = String::new();
        glyphs.draw(text, &mut drawn);
        glyphs.flush(&mut drawn);
        drawn
    }

    #[test]
    fn drawn_text_is_narrow_and_can_be_restored() {
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
            assert!(
                drawn.chars().all(|character| measure(character) == GlyphWidth::Narrow),
                "{text}: {drawn:?}"
            );
            assert_eq!(glyphs.restore(&drawn), text);
        }
        assert_eq!(drawn(&mut glyphs, "漢").chars().count(), 2);
        assert_eq!(drawn(&mut glyphs, "e\u{301}").chars().count(), 1);
    }

    #[test]
    fn the_number_of_glyphs_is_bounded() {
        let mut glyphs = Glyphs::default();
        for base in '\u{4e00}'..'\u{9000}' {
            for mark in ["", "\u{301}", "\u{302}", "\u{303}", "\u{304}"] {
                drawn(&mut glyphs, &format!("{base}{mark}"));
            }
        }
        assert!(glyphs.overflowed());
        assert_eq!(glyphs.texts.len(), MAX_GLYPHS);
        let last = drawn(&mut glyphs, "\u{8fff}\u{310}");
        assert_eq!(glyphs.restore(&last), "\u{fffd}");
        let long = format!("a{}", "\u{301}".repeat(1000));
        assert!(drawn(&mut Glyphs::default(), &long).len() < 8);
    }
}
