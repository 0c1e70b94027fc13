//! The words of `date --date`.

use super::lexer::DateToken;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Longer abbreviations than three letters.
const LONG_ABBREVIATIONS: [(&str, &str); 5] = [
    ("sept", "september"),
    ("tues", "tuesday"),
    ("wednes", "wednesday"),
    ("thur", "thursday"),
    ("thurs", "thursday"),
];

const ORDINALS: [(&str, i64); 14] = [
    ("last", -1),
    ("this", 0),
    ("next", 1),
    ("first", 1),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("eleventh", 11),
    ("twelfth", 12),
];

/// Time zones, in minutes east of Greenwich.
const ZONES: [(&str, i64); 33] = [
    ("gmt", 0),
    ("ut", 0),
    ("utc", 0),
    ("z", 0),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("ast", -240),
    ("adt", -180),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("akst", -540),
    ("akdt", -480),
    ("hst", -600),
    ("cet", 60),
    ("cest", 120),
    ("met", 60),
    ("mest", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
    ("ist", 330),
    ("sgt", 480),
    ("kst", 540),
    ("jst", 540),
    ("nzst", 720),
    ("nzdt", 780),
];

/// A unit of relative times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateUnit {
    Months(i64),
    Days(i64),
    Seconds(i64),
}

const UNITS: [(&str, DateUnit); 10] = [
    ("year", DateUnit::Months(12)),
    ("month", DateUnit::Months(1)),
    ("fortnight", DateUnit::Days(14)),
    ("week", DateUnit::Days(7)),
    ("day", DateUnit::Days(1)),
    ("hour", DateUnit::Seconds(3600)),
    ("minute", DateUnit::Seconds(60)),
    ("min", DateUnit::Seconds(60)),
    ("second", DateUnit::Seconds(1)),
    ("sec", DateUnit::Seconds(1)),
];

/// The meaning of a word. `None` if it has none.
pub(super) fn meaning(word: &str) -> Option<DateToken> {
    let word = word.to_ascii_lowercase();
    let word = word.strip_suffix('.').unwrap_or(&word);
    let long = LONG_ABBREVIATIONS.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long);
    let position = |names: &[&str]| {
        names.iter().position(|name| *name == long || word.len() == 3 && name.starts_with(word))
    };
    if let Some(index) = position(&MONTHS) {
        return Some(DateToken::Month(index as i64 + 1));
    }
    if let Some(index) = position(&DAYS) {
        return Some(DateToken::Day(index as i64));
    }
    match word {
        "am" | "a.m" => return Some(DateToken::Meridian(0)),
        "pm" | "p.m" => return Some(DateToken::Meridian(12)),
        "ago" => return Some(DateToken::Ago),
        "tomorrow" => return Some(DateToken::DayShift(1)),
        "yesterday" => return Some(DateToken::DayShift(-1)),
        "today" | "now" => return Some(DateToken::DayShift(0)),
        "t" => return Some(DateToken::Separator),
        _ => {}
    }
    if let Some((_, ordinal)) = ORDINALS.iter().find(|(name, _)| *name == word) {
        return Some(DateToken::Ordinal(*ordinal));
    }
    let singular = word.strip_suffix('s').unwrap_or(word);
    if let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == word || *name == singular) {
        return Some(DateToken::Unit(*unit));
    }
    ZONES.iter().find(|(name, _)| *name == word).map(|(_, minutes)| DateToken::Zone(*minutes))
}
