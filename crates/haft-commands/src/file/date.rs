//! Dates in arguments.

use haft_fs::Timestamp;
use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;

use super::time::now;

const DAY_SECONDS: i64 = 86_400;
const NANOSECOND_DIGITS: usize = 9;
/// Days from year 0 to the epoch, in the calendar that starts in March.
const EPOCH_DAYS: i64 = 719_468;
const CYCLE_DAYS: i64 = 146_097;
/// The largest second: a leap second.
const MAX_SECOND: i64 = 60;

/// A date and a time of day.
#[derive(Clone, Copy)]
struct CivilTime {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

impl CivilTime {
    fn is_valid(&self) -> bool {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let days = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return false,
        };
        (1..=days).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..=MAX_SECOND).contains(&self.second)
    }

    /// Seconds since the epoch, as if the time zone were UTC.
    fn utc(&self) -> i64 {
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (cycle, of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        let days = cycle * CYCLE_DAYS + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year - EPOCH_DAYS;
        days * DAY_SECONDS + self.hour * 3600 + self.minute * 60 + self.second
    }

    /// Seconds since the epoch in a time zone.
    fn epoch(&self, zone: &LocalZone) -> i64 {
        let utc = self.utc();
        let first = utc - offset(zone, utc);
        utc - offset(zone, first)
    }
}

/// The offset of a time zone at a time, in seconds.
fn offset(zone: &LocalZone, epoch: i64) -> i64 {
    let text = strftime::format(b"%z", &zone.local_time(epoch));
    parse_offset(&text).unwrap_or(0)
}

/// Parses `+0130`, `+01:30` or `+01`.
fn parse_offset(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digits: Vec<u8> = rest.iter().copied().filter(|byte| *byte != b':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits)?, 0),
        4 => (number(&digits[..2])?, number(&digits[2..])?),
        _ => return None,
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

fn number(text: &[u8]) -> Option<i64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| str::from_utf8(text).ok()?.parse().ok()).flatten()
}

/// Parses `[[CC]YY]MMDDhhmm[.ss]`.
pub(crate) fn parse_stamp(zone: &LocalZone, text: &[u8]) -> Option<Timestamp> {
    let (digits, second) = match text.iter().position(|&byte| byte == b'.') {
        Some(dot) if text.len() - dot == 3 => (&text[..dot], number(&text[dot + 1..])?),
        Some(_) => return None,
        None => (text, 0),
    };
    number(digits)?;
    let (year, rest) = match digits.len() {
        8 => {
            let year = strftime::format(b"%Y", &zone.local_time(now().seconds));
            (number(&year)?, digits)
        }
        10 => {
            let short = number(&digits[..2])?;
            (if short < 69 { 2000 + short } else { 1900 + short }, &digits[2..])
        }
        12 => (number(&digits[..4])?, &digits[4..]),
        _ => return None,
    };
    let pair = |index: usize| number(&rest[index * 2..index * 2 + 2]);
    let civil = CivilTime { year, month: pair(0)?, day: pair(1)?, hour: pair(2)?, minute: pair(3)?, second };
    civil.is_valid().then(|| Timestamp { seconds: civil.epoch(zone), nanoseconds: 0 })
}

/// Parses a date: `@SECONDS`, `now`, or `YYYY-MM-DD`, perhaps with a time and an offset.
pub(crate) fn parse_date(zone: &LocalZone, text: &[u8]) -> Option<Timestamp> {
    let text = text.trim_ascii();
    match text {
        b"now" => return Some(now()),
        [b'@', seconds @ ..] => return parse_seconds(seconds),
        _ => {}
    }
    let (date, rest) = text.split_at_checked(10)?;
    let [year, month, day] = match date {
        [year @ .., b'-', m1, m2, b'-', d1, d2] => {
            [number(year)?, number(&[*m1, *m2])?, number(&[*d1, *d2])?]
        }
        _ => return None,
    };
    let rest = rest.strip_prefix(b"T").unwrap_or(rest).trim_ascii_start();
    let clock_end = rest.iter().position(|byte| !b"0123456789:.".contains(byte)).unwrap_or(rest.len());
    let (clock, zone_text) = rest.split_at(clock_end);
    let ([hour, minute, second], nanoseconds) =
        if clock.is_empty() { ([0; 3], 0) } else { parse_clock(clock)? };
    let civil = CivilTime { year, month, day, hour, minute, second };
    let seconds = match zone_text.trim_ascii() {
        b"" => civil.epoch(zone),
        b"Z" | b"UTC" | b"GMT" => civil.utc(),
        text => civil.utc() - parse_offset(text).filter(|_| !clock.is_empty())?,
    };
    civil.is_valid().then_some(Timestamp { seconds, nanoseconds })
}

/// Parses `HH:MM[:SS[.FRACTION]]`.
fn parse_clock(text: &[u8]) -> Option<([i64; 3], u32)> {
    let mut parts = text.split(|byte| *byte == b':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let seconds = parts.next().unwrap_or(b"0");
    if parts.next().is_some() {
        return None;
    }
    let mut pieces = seconds.splitn(2, |byte| *byte == b'.');
    let second = number(pieces.next()?)?;
    let nanoseconds = pieces.next().map_or(Some(0), fraction)?;
    Some(([hour, minute, second], nanoseconds))
}

/// Parses digits after the decimal point as nanoseconds.
fn fraction(digits: &[u8]) -> Option<u32> {
    number(digits)?;
    let padded: Vec<u8> =
        digits.iter().copied().chain(std::iter::repeat(b'0')).take(NANOSECOND_DIGITS).collect();
    u32::try_from(number(&padded)?).ok()
}

/// Parses `[-]SECONDS[.FRACTION]` since the epoch.
fn parse_seconds(text: &[u8]) -> Option<Timestamp> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut pieces = digits.splitn(2, |byte| *byte == b'.');
    let seconds = number(pieces.next()?)?;
    let nanoseconds = pieces.next().map_or(Some(0), fraction)?;
    Some(match (negative, nanoseconds) {
        (false, _) => Timestamp { seconds, nanoseconds },
        (true, 0) => Timestamp { seconds: -seconds, nanoseconds },
        (true, _) => Timestamp { seconds: -seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds_since_the_epoch() {
        let zone = LocalZone::load(Some(b"UTC0"), &|_| None);
        let seconds = |text: &str| parse_date(&zone, text.as_bytes()).map(|time| time.seconds);
        assert_eq!(seconds("1970-01-02"), Some(86_400));
        assert_eq!(seconds("2024-02-29 12:30:01"), Some(1_709_209_801));
        assert_eq!(seconds("2024-02-29T12:30:01+02:00"), Some(1_709_202_601));
        assert_eq!(seconds("@-5"), Some(-5));
        assert_eq!(seconds("2023-02-29"), None);
        assert_eq!(seconds("12:30"), None);
        let stamp = |text: &str| parse_stamp(&zone, text.as_bytes()).map(|time| time.seconds);
        assert_eq!(stamp("197001010001.30"), Some(90));
        assert_eq!(stamp("6912312359"), Some(-60));
        assert_eq!(stamp("1970"), None);
    }
}
