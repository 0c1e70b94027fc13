//! Time zones: the value of `TZ`, or the time zone of the system.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::strftime::LocalTime;

/// The Gregorian calendar, weekdays included, repeats after 400 years.
const CALENDAR_CYCLE_YEARS: i64 = 400;
const CALENDAR_CYCLE_SECONDS: i64 = 146_097 * 86_400;

/// The rules of a `TZ` value that names daylight saving time without saying when it applies.
const DEFAULT_RULES: &str = ",M3.2.0,M11.1.0";

/// The time zone that times are shown in.
#[derive(Clone, Debug)]
pub struct LocalZone(TimeZone);

impl LocalZone {
    /// Finds the time zone for a value of `TZ`, or the time zone of the system if `TZ` is unset. `read` returns the content of
    /// a file. A value that names no time zone means UTC, as in the C library.
    #[must_use]
    pub fn load(value: Option<&[u8]>, read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Self {
        let parse_file = |path: &Path| TimeZone::tzif("", &read(path)?).ok();
        let Some(value) = value else {
            return Self(parse_file(Path::new("/etc/localtime")).unwrap_or(TimeZone::UTC));
        };
        let text = String::from_utf8_lossy(value);
        let name = text.strip_prefix(':').unwrap_or(&text);
        if name.is_empty() {
            return Self(TimeZone::UTC);
        }
        // An absolute path replaces the directory.
        let path: PathBuf = Path::new("/usr/share/zoneinfo").join(name);
        let file = if name.contains("..") { None } else { parse_file(&path) };
        Self(file.or_else(|| parse_rules(name)).unwrap_or(TimeZone::UTC))
    }

    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns the local time at a number of seconds since the epoch.
    #[must_use]
    pub fn local_time(&self, epoch: i64) -> LocalTime {
        let (least, most) = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        // Outside the range of jiff, the same date some calendar cycles later or earlier has the same weekday and rules.
        let cycles = match epoch {
            _ if epoch > most => (epoch - most).div_euclid(CALENDAR_CYCLE_SECONDS) + 1,
            _ if epoch < least => -(least.saturating_sub(epoch).div_euclid(CALENDAR_CYCLE_SECONDS) + 1),
            _ => 0,
        };
        let shifted = Timestamp::from_second(epoch - cycles * CALENDAR_CYCLE_SECONDS).unwrap_or_default();
        LocalTime::new(epoch, shifted.to_zoned(self.0.clone()), cycles * CALENDAR_CYCLE_YEARS)
    }
}

/// Parses a value such as `CET-1CEST,M3.5.0,M10.5.0/3`. Letters without an offset name a time zone at offset 0.
fn parse_rules(text: &str) -> Option<TimeZone> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let with_default_rules = || format!("{}{DEFAULT_RULES}", text.trim_end_matches(','));
    TimeZone::posix(text)
        .or_else(|_| TimeZone::posix(&with_default_rules()))
        .or_else(|_| TimeZone::posix(&format!("{}0", &text[..letters])))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::super::strftime;
    use super::*;

    fn shown(value: &str, epoch: i64) -> String {
        let zone = LocalZone::load(Some(value.as_bytes()), &|path| std::fs::read(path).ok());
        String::from_utf8_lossy(&strftime::format(b"%F %T %Z %z", &zone.local_time(epoch))).into()
    }

    #[test]
    fn a_value_can_hold_rules() {
        for (zone, epoch, expected) in [
            ("", 0, "1970-01-01 00:00:00 UTC +0000"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_700_000_000, "2023-11-14 23:13:20 CET +0100"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_690_000_000, "2023-07-22 06:26:40 CEST +0200"),
            ("EST5EDT", 1_690_000_000, "2023-07-22 00:26:40 EDT -0400"),
            ("EST5ABC", 1_690_000_000, "2023-07-22 00:26:40 ABC -0400"),
            ("<+0330>-3:30", 0, "1970-01-01 03:30:00 +0330 +0330"),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", 1_700_000_000, "2023-11-15 09:13:20 AEDT +1100"),
            ("unknown", 0, "1970-01-01 00:00:00 unknown +0000"),
        ] {
            assert_eq!(shown(zone, epoch), expected, "{zone}");
        }
    }

    #[test]
    fn a_zone_file_covers_past_and_future() {
        if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
            return;
        }
        for (epoch, expected) in [
            (1_690_000_000, "2023-07-22 06:26:40 CEST +0200"),
            (0, "1970-01-01 01:00:00 CET +0100"),
            (-1_700_000_000, "1916-02-18 02:46:40 CET +0100"),
            (4_000_000_000, "2096-10-02 09:06:40 CEST +0200"),
            (253_402_300_800, "10000-01-01 01:00:00 CET +0100"),
            (67_767_976_233_532_799, "2147483648-01-01 00:59:59 CET +0100"),
        ] {
            assert_eq!(shown("Europe/Berlin", epoch), expected);
        }
    }
}
