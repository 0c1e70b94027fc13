//! `strptime` in the C locale.

use super::print::{DAYS, MONTHS};
use super::{Parts, days_from_civil, utc_parts};

/// The fields of a time that a text contains.
#[derive(Default)]
struct Found {
    parts: Parts,
    has_weekday: bool,
    has_yearday: bool,
    has_date: bool,
    is_afternoon: Option<bool>,
    century: Option<i64>,
}

/// Parses a time. Returns its parts and the rest of the text.
pub(super) fn parse_time<'t>(text: &'t str, form: &str) -> Option<(Parts, &'t str)> {
    let mut found = Found { parts: [1900, 0, 0, 0, 0, 0, 0, 0], ..Found::default() };
    let rest = parse(&mut found, text, form)?;
    let Found { mut parts, is_afternoon, .. } = found;
    if let Some(is_afternoon) = is_afternoon {
        parts[3] = parts[3] % 12 + if is_afternoon { 12 } else { 0 };
    }
    if let Some(century) = found.century {
        parts[0] = century * 100 + parts[0].rem_euclid(100);
    }
    if found.has_date || parts[2] != 0 {
        let days = days_from_civil(parts[0], parts[1], parts[2]);
        let filled = utc_parts(days * 86_400)?;
        if !found.has_weekday {
            parts[6] = filled[6];
        }
        if !found.has_yearday {
            parts[7] = days - days_from_civil(parts[0], 0, 1);
        }
    }
    Some((parts, rest))
}

fn parse<'t>(found: &mut Found, text: &'t str, form: &str) -> Option<&'t str> {
    let mut rest = text;
    let mut letters = form.chars();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_whitespace() {
            rest = rest.trim_ascii_start();
            continue;
        }
        if letter != '%' {
            rest = rest.strip_prefix(letter)?;
            continue;
        }
        let mut conversion = letters.next()?;
        while matches!(conversion, '-' | '_' | '0' | '^' | '#' | 'E' | 'O') {
            conversion = letters.next()?;
        }
        rest = convert(found, rest, conversion)?;
    }
    Some(rest)
}

fn convert<'t>(found: &mut Found, text: &'t str, conversion: char) -> Option<&'t str> {
    let nested = |found: &mut Found, form: &str| parse(found, text, form);
    match conversion {
        'D' | 'x' => nested(found, "%m/%d/%y"),
        'F' => nested(found, "%Y-%m-%d"),
        'R' => nested(found, "%H:%M"),
        'T' | 'X' => nested(found, "%H:%M:%S"),
        'r' => nested(found, "%I:%M:%S %p"),
        'c' => nested(found, "%a %b %e %H:%M:%S %Y"),
        'n' | 't' => Some(text.trim_ascii_start()),
        '%' => text.strip_prefix('%'),
        'a' | 'A' => {
            let (index, rest) = named(text, &DAYS)?;
            (found.parts[6], found.has_weekday) = (index, true);
            Some(rest)
        }
        'b' | 'B' | 'h' => {
            let (index, rest) = named(text, &MONTHS)?;
            (found.parts[1], found.has_date) = (index, true);
            Some(rest)
        }
        'p' | 'P' => {
            let (index, rest) = named(text, &["AM", "PM"])?;
            found.is_afternoon = Some(index == 1);
            Some(rest)
        }
        'Z' => Some(text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic())),
        'z' => zone(text),
        's' => {
            let (seconds, rest) = number(text, 20, i64::MIN..=i64::MAX)?;
            found.parts = utc_parts(seconds)?;
            (found.has_weekday, found.has_yearday, found.has_date) = (true, true, true);
            Some(rest)
        }
        _ => numeric(found, text, conversion),
    }
}

fn numeric<'t>(found: &mut Found, text: &'t str, conversion: char) -> Option<&'t str> {
    let (index, digits, range, shift) = match conversion {
        'Y' => (0, 4, 0..=9999, 0),
        'm' => (1, 2, 1..=12, -1),
        'd' | 'e' => (2, 2, 1..=31, 0),
        'H' | 'k' => (3, 2, 0..=23, 0),
        'I' | 'l' => (3, 2, 1..=12, 0),
        'M' => (4, 2, 0..=59, 0),
        'S' => (5, 2, 0..=61, 0),
        'w' => (6, 1, 0..=6, 0),
        'u' => (6, 1, 1..=7, 0),
        'j' => (7, 3, 1..=366, -1),
        'y' => (0, 2, 0..=99, 0),
        'C' => {
            let (century, rest) = number(text, 2, 0..=99)?;
            found.century = Some(century);
            return Some(rest);
        }
        'U' | 'W' | 'V' => return number(text, 2, 0..=53).map(|(_, rest)| rest),
        _ => return None,
    };
    let (value, rest) = number(text, digits, range)?;
    found.parts[index] = match conversion {
        'y' if value < 69 => 2000 + value,
        'y' => 1900 + value,
        'u' => value % 7,
        _ => value + shift,
    };
    match index {
        6 => found.has_weekday = true,
        7 => found.has_yearday = true,
        0..=2 => found.has_date = true,
        _ => {}
    }
    Some(rest)
}

fn number(text: &str, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<(i64, &str)> {
    let text = text.trim_start_matches(' ');
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) if *range.start() < 0 => (true, rest),
        _ => (false, text),
    };
    let length = unsigned.bytes().take(digits).take_while(u8::is_ascii_digit).count();
    let value: i64 = unsigned[..length].parse().ok()?;
    let value = if negative { -value } else { value };
    range.contains(&value).then(|| (value, &unsigned[length..]))
}

/// The index of a name, or of its first three letters, without regard to case.
fn named<'t>(text: &'t str, names: &[&str]) -> Option<(i64, &'t str)> {
    names.iter().enumerate().find_map(|(index, name)| {
        [*name, name.get(..3).unwrap_or(name)].iter().find_map(|form| {
            let start = text.get(..form.len())?;
            start.eq_ignore_ascii_case(form).then(|| (index as i64, &text[form.len()..]))
        })
    })
}

/// A zone as an offset, which has no effect.
fn zone(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    if let Some(rest) = text.strip_prefix('Z') {
        return Some(rest);
    }
    let digits = text.strip_prefix(['+', '-'])?;
    let (_, rest) = number(digits, 2, 0..=99)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    Some(number(rest, 2, 0..=59).map_or(rest, |(_, rest)| rest))
}
