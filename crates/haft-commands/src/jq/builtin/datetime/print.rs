//! `strftime` in the C locale.

use std::fmt::Write as _;

use super::{Parts, seconds_of};

pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A time as text. `zone` is the abbreviation of the time zone and its offset in seconds.
pub(super) fn format_time(parts: &Parts, form: &str, zone: (&str, i64)) -> String {
    let mut text = String::new();
    let mut letters = form.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let mut flag = None;
        let mut conversion = letters.next();
        while let Some(found @ ('-' | '_' | '0' | '^' | '#' | 'E' | 'O')) = conversion {
            if !matches!(found, 'E' | 'O') {
                flag = Some(found);
            }
            conversion = letters.next();
        }
        match conversion {
            Some(conversion) => write_part(&mut text, parts, conversion, flag, zone),
            None => text.push('%'),
        }
    }
    text
}

fn write_part(text: &mut String, parts: &Parts, conversion: char, flag: Option<char>, zone: (&str, i64)) {
    let [year, month, day, hour, minute, second, weekday, yearday] = *parts;
    let name = |names: &[&str], index: i64| {
        usize::try_from(index).ok().and_then(|at| names.get(at).copied()).unwrap_or("?").to_owned()
    };
    let twelve = if hour.rem_euclid(12) == 0 { 12 } else { hour.rem_euclid(12) };
    let nested = |form: &str| format_time(parts, form, zone);
    let words = match conversion {
        'a' => name(&DAYS, weekday).chars().take(3).collect(),
        'A' => name(&DAYS, weekday),
        'b' | 'h' => name(&MONTHS, month).chars().take(3).collect(),
        'B' => name(&MONTHS, month),
        'c' => nested("%a %b %e %H:%M:%S %Y"),
        'D' | 'x' => nested("%m/%d/%y"),
        'F' => nested("%Y-%m-%d"),
        'r' => nested("%I:%M:%S %p"),
        'R' => nested("%H:%M"),
        'T' | 'X' => nested("%H:%M:%S"),
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        '%' => "%".to_owned(),
        'p' => if hour >= 12 { "PM" } else { "AM" }.to_owned(),
        'P' => if hour >= 12 { "pm" } else { "am" }.to_owned(),
        's' => (seconds_of(parts) - zone.1).to_string(),
        'Z' => zone.0.to_owned(),
        'z' => format!(
            "{}{:02}{:02}",
            if zone.1 < 0 { '-' } else { '+' },
            zone.1.abs() / 3600,
            zone.1.abs() / 60 % 60
        ),
        _ => String::new(),
    };
    let number = match conversion {
        'C' => Some((year.div_euclid(100), 2, '0')),
        'd' => Some((day, 2, '0')),
        'e' => Some((day, 2, ' ')),
        'g' => Some((iso_week(parts).0.rem_euclid(100), 2, '0')),
        'G' => Some((iso_week(parts).0, 1, '0')),
        'H' => Some((hour, 2, '0')),
        'I' => Some((twelve, 2, '0')),
        'j' => Some((yearday + 1, 3, '0')),
        'k' => Some((hour, 2, ' ')),
        'l' => Some((twelve, 2, ' ')),
        'm' => Some((month + 1, 2, '0')),
        'M' => Some((minute, 2, '0')),
        'S' => Some((second, 2, '0')),
        'u' => Some((if weekday == 0 { 7 } else { weekday }, 1, '0')),
        'U' => Some(((yearday + 7 - weekday) / 7, 2, '0')),
        'V' => Some((iso_week(parts).1, 2, '0')),
        'w' => Some((weekday, 1, '0')),
        'W' => Some(((yearday + 7 - (weekday + 6) % 7) / 7, 2, '0')),
        'y' => Some((year.rem_euclid(100), 2, '0')),
        'Y' => Some((year, 1, '0')),
        _ => None,
    };
    match number {
        Some((number, width, fill)) => write_number(text, number, width, fill, flag),
        None if words.is_empty() && !matches!(conversion, 'Z') => {
            text.push('%');
            text.push(conversion);
        }
        None if flag == Some('^') => text.push_str(&words.to_uppercase()),
        None => text.push_str(&words),
    }
}

fn write_number(text: &mut String, number: i64, width: usize, fill: char, flag: Option<char>) {
    let fill = match flag {
        Some('_') => ' ',
        Some('0') => '0',
        _ => fill,
    };
    let _ = match (flag, fill) {
        (Some('-'), _) => write!(text, "{number}"),
        (_, ' ') => write!(text, "{number:>width$}"),
        _ => write!(text, "{number:0>width$}"),
    };
}

/// The year and the number of the week that starts on Monday.
fn iso_week(parts: &Parts) -> (i64, i64) {
    let [year, .., weekday, yearday] = *parts;
    let monday_based = (weekday + 6) % 7;
    let week = (yearday - monday_based + 10) / 7;
    let days_in = |year: i64| if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 { 366 } else { 365 };
    let weeks_in = |year: i64, first_weekday: i64| {
        let is_long = first_weekday == 3 || (first_weekday == 2 && days_in(year) == 366);
        if is_long { 53 } else { 52 }
    };
    let first_weekday = (monday_based - yearday).rem_euclid(7);
    if week < 1 {
        let before = (first_weekday - days_in(year - 1)).rem_euclid(7);
        return (year - 1, weeks_in(year - 1, before));
    }
    match week > weeks_in(year, first_weekday) {
        true => (year + 1, 1),
        false => (year, week),
    }
}
