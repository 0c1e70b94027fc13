//! Functions on times.

mod parse;
mod print;

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Entry, Failure, Returned, Services};
use crate::jq::value::Value;

const SECONDS_PER_DAY: i64 = 86_400;

/// A time as its parts: year, month from 0, day, hour, minute, second, day of the week, day of the year.
pub(super) type Parts = [i64; 8];

pub(super) const TABLE: &[Entry] = &[
    ("now", 0, |_, _, _| {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Value::Number(elapsed.as_micros() as f64 / 1e6))
    }),
    ("gmtime", 0, |_, input, _| match input.as_number() {
        Some(seconds) => broken_down(seconds, utc_parts(seconds as i64)),
        None => Err("gmtime() requires numeric inputs".into()),
    }),
    ("localtime", 0, |services, input, _| match input.as_number() {
        Some(seconds) => broken_down(seconds, services.local_time(seconds as i64)),
        None => Err("localtime() requires numeric inputs".into()),
    }),
    ("mktime", 0, |_, input, _| make_time(&input)),
    ("strftime", 1, |_, input, [form, ..]| {
        let parts = match input.as_number() {
            Some(seconds) => utc_parts(seconds as i64),
            None => given_parts(&input, &form, "strftime/1")?,
        };
        formatted(parts, &form, ("UTC", 0), "strftime/1")
    }),
    ("strflocaltime", 1, |services, input, [form, ..]| local_text(services, &input, &form)),
    ("strptime", 1, |_, input, [form, ..]| match (input.as_text(), form.as_text()) {
        (Some(text), Some(form)) => parse_time(text, form),
        _ => Err("strptime/1 requires string inputs and arguments".into()),
    }),
];

/// The days since 1970 of a date. The month may be outside of the year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year + month.div_euclid(12);
    let month = month.rem_euclid(12) + 1;
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The parts of a time in UTC. `None` if the year is out of range.
pub(super) fn utc_parts(seconds: i64) -> Option<Parts> {
    let days = seconds.div_euclid(SECONDS_PER_DAY);
    let rest = seconds.rem_euclid(SECONDS_PER_DAY);
    if days.abs() > 700_000_000_000 {
        return None;
    }
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * index + 2) / 5 + 1;
    let month = if index < 10 { index + 2 } else { index - 10 };
    let year = year_of_era + era * 400 + i64::from(month < 2);
    let weekday = (days + 4).rem_euclid(7);
    let yearday = days - days_from_civil(year, 0, 1);
    Some([year, month, day, rest / 3600, rest / 60 % 60, rest % 60, weekday, yearday])
}

/// The seconds since 1970 of parts in UTC.
pub(super) fn seconds_of(parts: &Parts) -> i64 {
    let [year, month, day, hour, minute, second, ..] = *parts;
    days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second
}

fn parts_value(parts: &Parts) -> Vec<Value> {
    parts.iter().map(|part| Value::Number(*part as f64)).collect()
}

fn broken_down(seconds: f64, parts: Option<Parts>) -> Returned {
    let Some(parts) = parts else {
        return Err("error converting number of seconds since epoch to datetime".into());
    };
    let mut values = parts_value(&parts);
    values[5] = Value::Number(parts[5] as f64 + (seconds - seconds.floor()));
    Ok(values.into())
}

/// The parts in an array of numbers.
fn read_parts(input: &Value) -> Option<Parts> {
    let items = input.as_array()?;
    let mut parts = [0; 8];
    for (index, part) in parts.iter_mut().enumerate() {
        *part = items.get(index)?.as_number()? as i64;
    }
    Some(parts)
}

fn make_time(input: &Value) -> Returned {
    let Some(items) = input.as_array() else { return Err("mktime requires array inputs".into()) };
    if items.len() < 6 {
        return Err("mktime requires parsed datetime inputs".into());
    }
    match read_parts(input) {
        Some(parts) => match seconds_of(&parts) {
            -1 => Err("invalid gmtime representation".into()),
            seconds => Ok(Value::Number(seconds as f64)),
        },
        None => Err("mktime requires parsed datetime inputs".into()),
    }
}

fn given_parts(input: &Value, form: &Value, name: &str) -> Result<Option<Parts>, Failure> {
    if input.as_array().is_none() {
        return Err(format!("{name} requires parsed datetime inputs").into());
    }
    if form.as_text().is_none() {
        return Err(format!("{name} requires a string format").into());
    }
    match read_parts(input) {
        Some(parts) => Ok(Some(parts)),
        None => Err(format!("{name} requires parsed datetime inputs").into()),
    }
}

fn formatted(parts: Option<Parts>, form: &Value, zone: (&str, i64), name: &str) -> Returned {
    let Some(parts) = parts else {
        return Err("error converting number of seconds since epoch to datetime".into());
    };
    let Some(form) = form.as_text() else { return Err(format!("{name} requires a string format").into()) };
    let text = print::format_time(&parts, form, zone);
    match text.is_empty() {
        true => Err(format!("{name}: unknown system failure").into()),
        false => Ok(text.into()),
    }
}

fn local_text(services: &mut dyn Services, input: &Value, form: &Value) -> Returned {
    let (parts, seconds) = match input.as_number() {
        Some(seconds) => (services.local_time(seconds as i64), seconds as i64),
        None => {
            let parts = given_parts(input, form, "strflocaltime/1")?;
            (parts, parts.map_or(0, |parts| seconds_of(&parts)))
        }
    };
    let (zone, offset) = services.zone(seconds);
    formatted(parts, form, (&zone, offset), "strflocaltime/1")
}

fn parse_time(text: &str, form: &str) -> Returned {
    match parse::parse_time(text, form) {
        Some((parts, "")) => Ok(parts_value(&parts).into()),
        Some((parts, rest)) if rest.starts_with(|letter: char| letter.is_ascii_whitespace()) => {
            let mut values = parts_value(&parts);
            values.push(rest.into());
            Ok(values.into())
        }
        _ => Err(format!("date \"{text}\" does not match format \"{form}\"").into()),
    }
}
