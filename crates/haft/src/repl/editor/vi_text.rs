//! Places in a text, and changes of it, for the commands of vi.

use super::buffer::EditBuffer;

pub(super) fn following(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The place some characters to the right, within the line.
pub(super) fn ahead(buffer: &EditBuffer, count: usize) -> usize {
    let line = &buffer.text()[buffer.cursor()..buffer.line_end()];
    buffer.cursor() + line.char_indices().nth(count).map_or(line.len(), |(at, _)| at)
}

/// The place some characters to the left, within the line.
pub(super) fn behind(buffer: &EditBuffer, count: usize) -> usize {
    let line = &buffer.text()[buffer.line_start()..buffer.cursor()];
    let place = line.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(at, _)| at);
    buffer.line_start() + place
}

pub(super) fn column(buffer: &EditBuffer, number: usize) -> usize {
    let line = &buffer.text()[buffer.line_start()..buffer.line_end()];
    let place = line.char_indices().nth(number.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    buffer.line_start() + place
}

pub(super) fn first_print(buffer: &EditBuffer) -> usize {
    let line = &buffer.text()[buffer.line_start()..buffer.line_end()];
    buffer.line_start() + (line.len() - line.trim_start().len())
}

pub(super) fn put(buffer: &mut EditBuffer, after: bool, count: usize) {
    if after {
        buffer.move_to(buffer.right().min(buffer.line_end()));
    }
    (0..count).for_each(|_| buffer.paste_cut());
    buffer.move_to(buffer.left());
}

pub(super) fn replace(buffer: &mut EditBuffer, character: Option<char>, count: usize) {
    let (start, end) = (buffer.cursor(), ahead(buffer, count));
    let length = buffer.text()[start..end].chars().count();
    if let Some(character) = character.filter(|_| length == count) {
        buffer.move_to(end);
        buffer.replace_before(start, &character.to_string().repeat(count));
        buffer.move_to(buffer.left());
    }
}

pub(super) fn switch_case(buffer: &mut EditBuffer, count: usize) {
    let (start, end) = (buffer.cursor(), ahead(buffer, count));
    let switched: String = buffer.text()[start..end]
        .chars()
        .flat_map(|c| {
            if c.is_uppercase() { c.to_lowercase().collect::<Vec<_>>() } else { c.to_uppercase().collect() }
        })
        .collect();
    buffer.move_to(end);
    buffer.replace_before(start, &switched);
}

/// The class of a character: blank, part of a word, or other.
pub(super) fn class(character: char) -> u8 {
    match character {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    }
}

/// The class of a character for words that only blanks separate.
pub(super) fn big_class(character: char) -> u8 {
    u8::from(!character.is_whitespace())
}

pub(super) fn next_word(text: &str, at: usize, class: fn(char) -> u8) -> usize {
    let rest = &text[at..];
    let first = rest.chars().next().map_or(0, class);
    let after = if first == 0 { rest } else { rest.trim_start_matches(|c| class(c) == first) };
    text.len() - after.trim_start().len()
}

pub(super) fn previous_word(text: &str, at: usize, class: fn(char) -> u8) -> usize {
    let before = text[..at].trim_end();
    let last = before.chars().next_back().map_or(0, class);
    before.trim_end_matches(|c| class(c) == last).len()
}

/// The last character of the word after this place.
pub(super) fn word_end(text: &str, at: usize, class: fn(char) -> u8) -> usize {
    let start = (at + following(&text[at..])).min(text.len());
    let rest = text[start..].trim_start();
    let first = rest.chars().next().map_or(0, class);
    let end = text.len() - rest.trim_start_matches(|c| class(c) == first).len();
    text[..end].char_indices().next_back().map_or(at, |(last, _)| last.max(at))
}

/// The last character of the word or blanks at a place, or of the `count`-th word.
pub(super) fn word_run(text: &str, at: usize, class: fn(char) -> u8, count: usize) -> usize {
    let rest = &text[at..];
    let first = rest.chars().next().map_or(0, class);
    let end = text.len() - rest.trim_start_matches(|c| class(c) == first).len();
    let last = text[..end].char_indices().next_back().map_or(at, |(last, _)| last.max(at));
    (1..count).fold(last, |at, _| word_end(text, at, class))
}

pub(super) fn opposite(name: char) -> char {
    if name.is_lowercase() { name.to_ascii_uppercase() } else { name.to_ascii_lowercase() }
}

/// The place of the `count`-th occurrence of a character in a direction, and whether an operator takes it too.
pub(super) fn find(
    text: &str,
    at: usize,
    name: char,
    character: char,
    count: usize,
) -> Option<(usize, bool)> {
    let nth = count.saturating_sub(1);
    if name.is_lowercase() {
        let start = at + following(&text[at..]);
        let found = start + text.get(start..)?.match_indices(character).nth(nth)?.0;
        let to = if name == 'f' { found } else { text[..found].char_indices().next_back()?.0 };
        return Some((to, true));
    }
    let found = text[..at].rmatch_indices(character).nth(nth)?.0;
    Some((if name == 'F' { found } else { found + character.len_utf8() }, false))
}

/// The bracket that belongs to the first bracket at or after a place.
pub(super) fn matching_bracket(text: &str, at: usize) -> Option<usize> {
    const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
    let (place, bracket) = text[at..].char_indices().find(|(_, c)| "()[]{}".contains(*c))?;
    let (open, close) = *PAIRS.iter().find(|(open, close)| [*open, *close].contains(&bracket))?;
    let place = at + place;
    let mut depth = 0;
    let mut is_match = |c: char, deeper: char, end: char| {
        depth += i32::from(c == deeper) - i32::from(c == end);
        depth == 0 && c == end
    };
    match bracket == open {
        true => {
            text[place..].char_indices().find(|(_, c)| is_match(*c, open, close)).map(|(at, _)| place + at)
        }
        false => {
            let end = place + close.len_utf8();
            text[..end].char_indices().rev().find(|(_, c)| is_match(*c, close, open)).map(|(at, _)| at)
        }
    }
}
