//! Dates in arguments.

use haft_fs::Timestamp;
use haft_text::printf::civil::CivilTime;
use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;

use super::time::now;
use crate::system::date::{self, PointInTime, is_normal};

const LEAP_SECOND: i64 = 60;

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
    let is_valid = is_normal(&civil) || second == LEAP_SECOND && is_normal(&CivilTime { second: 0, ..civil });
    let epoch = zone.epoch(&civil).filter(|_| is_valid)?.epoch;
    Some(Timestamp { seconds: epoch, nanoseconds: 0 })
}

/// Parses a date as `date --date` does. What it leaves out comes from the time `base`.
pub(crate) fn parse_date(zone: &LocalZone, text: &[u8], base: Timestamp) -> Option<Timestamp> {
    let base = PointInTime { seconds: base.seconds, nanoseconds: base.nanoseconds };
    let found = date::parse(text, base, zone)?;
    Some(Timestamp { seconds: found.seconds, nanoseconds: found.nanoseconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds_since_the_epoch() {
        let zone = LocalZone::load(Some(b"UTC0"), &|_| None);
        let seconds = |text: &str| parse_date(&zone, text.as_bytes(), now()).map(|time| time.seconds);
        assert_eq!(seconds("1970-01-02"), Some(86_400));
        assert_eq!(seconds("2024-02-29 12:30:01"), Some(1_709_209_801));
        assert_eq!(seconds("2024-02-29T12:30:01+02:00"), Some(1_709_202_601));
        assert_eq!(seconds("@-5"), Some(-5));
        assert_eq!(seconds("2023-02-29"), None);
        let base = Timestamp { seconds: 86_400, nanoseconds: 0 };
        assert_eq!(parse_date(&zone, b"12:30", base).map(|time| time.seconds), Some(131_400));
        assert_eq!(parse_date(&zone, b"yesterday", base).map(|time| time.seconds), Some(0));
        let stamp = |text: &str| parse_stamp(&zone, text.as_bytes()).map(|time| time.seconds);
        assert_eq!(stamp("197001010001.30"), Some(90));
        assert_eq!(stamp("6912312359"), Some(-60));
        assert_eq!(stamp("1970"), None);
    }
}
