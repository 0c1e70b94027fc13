//! Times as text: `strftime` of the C library, in the C locale.
//!
//! jiff supplies the calendar and the names; flags, widths and the treatment of unknown conversions are those of glibc.

use jiff::Zoned;
use jiff::fmt::strtime;

use super::civil::CivilTime;

/// The largest field width; a larger one would only use up memory.
const MAX_FIELD_WIDTH: usize = 4096;

/// A point in time in some time zone.
#[derive(Clone, Debug)]
pub struct LocalTime {
    /// Seconds since the epoch.
    epoch: i64,
    /// The same time of some year that jiff can represent.
    zoned: Zoned,
    /// How many years later than `zoned` the time is.
    years_later: i64,
}

impl LocalTime {
    pub(super) fn new(epoch: i64, zoned: Zoned, years_later: i64) -> Self {
        Self { epoch, zoned, years_later }
    }

    /// The date and the time of day.
    #[must_use]
    pub fn civil(&self) -> CivilTime {
        CivilTime {
            year: self.year(),
            month: self.zoned.month().into(),
            day: self.zoned.day().into(),
            hour: self.zoned.hour().into(),
            minute: self.zoned.minute().into(),
            second: self.zoned.second().into(),
        }
    }

    /// Seconds east of Greenwich.
    #[must_use]
    pub fn offset(&self) -> i32 {
        self.zoned.offset().seconds()
    }

    fn year(&self) -> i64 {
        i64::from(self.zoned.year()) + self.years_later
    }

    /// The year that the ISO 8601 week of the date belongs to.
    fn week_year(&self) -> i64 {
        i64::from(self.zoned.date().iso_week_date().year()) + self.years_later
    }

    /// One conversion without padding, as jiff formats it.
    fn conversion(&self, letter: u8) -> String {
        strtime::format([b'%', b'-', letter], &self.zoned).unwrap_or_default()
    }

    fn zone_abbreviation(&self) -> String {
        let info = self.zoned.time_zone().to_offset_info(self.zoned.timestamp());
        info.abbreviation().to_owned()
    }
}

/// Formats a time.
#[must_use]
pub fn format(format: &[u8], time: &LocalTime) -> Vec<u8> {
    let mut output = Vec::new();
    let mut rest = format;
    while let Some(start) = memchr::memchr(b'%', rest) {
        output.extend_from_slice(&rest[..start]);
        let (conversion, after) = Conversion::parse(&rest[start..]);
        conversion.write(time, &mut output);
        rest = after;
    }
    output.extend_from_slice(rest);
    output
}

/// The value of a conversion before flags and width.
enum TimeField {
    /// A number with a minimum of digits.
    Number(i64, usize),
    /// A number that is padded with spaces to two digits unless a flag says otherwise.
    SpacePadded(i64),
    Text(String, CaseRule),
    /// Several conversions.
    Composite(&'static str),
    /// Seconds east of Greenwich.
    Offset(i32),
}

/// The effect of the flags `^` and `#` on a text. `^` converts it to upper case unless the rule is [`CaseRule::Lower`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseRule {
    /// `#` does nothing.
    Plain,
    /// `#` converts it to upper case.
    HashToUpper,
    /// `#` converts it to lower case.
    HashToLower,
    /// Always in lower case.
    Lower,
}

/// A conversion with its flags and width: `%-5d`.
struct Conversion<'a> {
    /// All of it, from the percent sign on.
    source: &'a [u8],
    /// `_`, `-` or `0`; the last one counts.
    padding: Option<u8>,
    /// `^`.
    uppercase: bool,
    /// `#`.
    change_case: bool,
    width: usize,
    /// `E` or `O`.
    modifier: Option<u8>,
    /// `None` if the format ends before it.
    letter: Option<u8>,
}

impl<'a> Conversion<'a> {
    /// Parses the conversion at the start of `format`, and returns it with the text after it.
    fn parse(format: &'a [u8]) -> (Self, &'a [u8]) {
        let (mut padding, mut uppercase, mut change_case) = (None, false, false);
        let mut index = 1;
        while let Some(&flag) = format.get(index) {
            match flag {
                b'_' | b'-' | b'0' => padding = Some(flag),
                b'^' => uppercase = true,
                b'#' => change_case = true,
                _ => break,
            }
            index += 1;
        }
        let mut width = 0;
        while let Some(digit @ b'0'..=b'9') = format.get(index) {
            width = (width * 10 + usize::from(digit - b'0')).min(MAX_FIELD_WIDTH);
            index += 1;
        }
        let modifier = format.get(index).copied().filter(|byte| matches!(byte, b'E' | b'O'));
        index += usize::from(modifier.is_some());
        let letter = format.get(index).copied();
        let (source, rest) = format.split_at((index + 1).min(format.len()));
        (Self { source, padding, uppercase, change_case, width, modifier, letter }, rest)
    }

    /// Appends the conversion of a time. An unknown conversion is copied unchanged.
    fn write(&self, time: &LocalTime, output: &mut Vec<u8>) {
        let field =
            self.letter.filter(|letter| self.allows_modifier(*letter)).and_then(|letter| field(letter, time));
        match field {
            None => self.write_text(self.source, CaseRule::Plain, output),
            Some(TimeField::Number(number, digits)) => {
                self.write_number(number, digits, self.padding, output);
            }
            Some(TimeField::SpacePadded(number)) => {
                self.write_number(number, 2, self.padding.or(Some(b'_')), output);
            }
            Some(TimeField::Text(text, rule)) => self.write_text(text.as_bytes(), rule, output),
            Some(TimeField::Composite(parts)) => {
                self.write_text(&format(parts.as_bytes(), time), CaseRule::Plain, output);
            }
            Some(TimeField::Offset(seconds)) => {
                let minutes = i64::from(seconds.abs() / 60);
                self.write_text(if seconds < 0 { b"-" } else { b"+" }, CaseRule::Plain, output);
                self.write_number(minutes / 60 * 100 + minutes % 60, 4, self.padding, output);
            }
        }
    }

    fn allows_modifier(&self, letter: u8) -> bool {
        match self.modifier {
            Some(b'E') => b"cCnpPrRstTuxXyYzZ%".contains(&letter),
            Some(_) => !b"aAcDFxXY".contains(&letter),
            None => true,
        }
    }

    fn write_number(&self, number: i64, min_digits: usize, padding: Option<u8>, output: &mut Vec<u8>) {
        let digits = min_digits.max(self.width);
        let text = match padding {
            Some(b'-') => format!("{number}"),
            Some(b'_') => format!("{number:digits$}"),
            _ => format!("{number:0digits$}"),
        };
        self.write_text(text.as_bytes(), CaseRule::Plain, output);
    }

    fn write_text(&self, text: &[u8], rule: CaseRule, output: &mut Vec<u8>) {
        let fill = if self.padding == Some(b'0') { b'0' } else { b' ' };
        output.resize(output.len() + self.width.saturating_sub(text.len()), fill);
        let convert: fn(&u8) -> u8 = match rule {
            CaseRule::Lower => u8::to_ascii_lowercase,
            CaseRule::HashToLower if self.change_case => u8::to_ascii_lowercase,
            CaseRule::HashToUpper if self.change_case => u8::to_ascii_uppercase,
            _ if self.uppercase => u8::to_ascii_uppercase,
            _ => |byte| *byte,
        };
        output.extend(text.iter().map(convert));
    }
}

/// Returns the value of a conversion, or `None` for an unknown letter.
fn field(letter: u8, time: &LocalTime) -> Option<TimeField> {
    let text = || time.conversion(letter);
    let number = || text().trim_start().parse().unwrap_or(0);
    Some(match letter {
        b'%' => TimeField::Text("%".to_owned(), CaseRule::Plain),
        b'n' => TimeField::Text("\n".to_owned(), CaseRule::Plain),
        b't' => TimeField::Text("\t".to_owned(), CaseRule::Plain),
        b'a' | b'A' | b'b' | b'B' | b'h' => TimeField::Text(text(), CaseRule::HashToUpper),
        b'p' => TimeField::Text(text(), CaseRule::HashToLower),
        b'P' => TimeField::Text(text(), CaseRule::Lower),
        b'c' => TimeField::Composite("%a %b %e %H:%M:%S %Y"),
        b'D' | b'x' => TimeField::Composite("%m/%d/%y"),
        b'F' => TimeField::Composite("%Y-%m-%d"),
        b'r' => TimeField::Composite("%I:%M:%S %p"),
        b'R' => TimeField::Composite("%H:%M"),
        b'T' | b'X' => TimeField::Composite("%H:%M:%S"),
        b'C' => TimeField::Number(time.year().div_euclid(100), 1),
        b'g' => TimeField::Number(time.week_year().rem_euclid(100), 2),
        b'G' => TimeField::Number(time.week_year(), 1),
        b'y' => TimeField::Number(time.year().rem_euclid(100), 2),
        b'Y' => TimeField::Number(time.year(), 1),
        b's' => TimeField::Text(time.epoch.to_string(), CaseRule::Plain),
        b'u' | b'w' => TimeField::Number(number(), 1),
        b'j' => TimeField::Number(number(), 3),
        b'd' | b'H' | b'I' | b'm' | b'M' | b'S' | b'U' | b'V' | b'W' => TimeField::Number(number(), 2),
        b'e' | b'k' | b'l' => TimeField::SpacePadded(number()),
        b'z' => TimeField::Offset(time.zoned.offset().seconds()),
        b'Z' => TimeField::Text(time.zone_abbreviation(), CaseRule::HashToLower),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::time_zone::LocalZone;
    use super::*;

    fn at(epoch: i64, text: &str) -> String {
        let zone = LocalZone::load(Some(b"CET-1"), &|_| None);
        String::from_utf8_lossy(&format(text.as_bytes(), &zone.local_time(epoch))).into_owned()
    }

    #[test]
    fn every_conversion_is_that_of_the_c_library() {
        for (epoch, text, expected) in [
            (0, "%F %T %z %Z %s", "1970-01-01 01:00:00 +0100 CET 0"),
            (1_700_000_000, "%a %A %b %B %c", "Tue Tuesday Nov November Tue Nov 14 23:13:20 2023"),
            (1_700_000_000, "%C %d %D %e %g %G %I %j %k %l", "20 14 11/14/23 14 23 2023 11 318 23 11"),
            (1_700_000_000, "%p %P %r %R %u %U %V %w %W %y", "PM pm 11:13:20 PM 23:13 2 46 46 2 46 23"),
            (1_609_459_200, "%G-%V %j", "2020-53 001"),
            (1_230_768_000, "%G-%V", "2009-01"),
            (-1, "%F %T", "1970-01-01 00:59:59"),
            (951_782_400, "%F", "2000-02-29"),
            (0, "%-d|%_d|%05d|%^a|%#Z|%q|100%", "1| 1|00001|THU|cet|%q|100%"),
            (0, "%5z|%-z|%Ed|%Ey|%10q|%-5d", "    +00100|+100|%Ed|70|      %10q|    1"),
            (-99_999_999_999, "%Y %C %y %F", "-1199 -12 01 -1199-02-15"),
        ] {
            assert_eq!(at(epoch, text), expected, "{text}");
        }
    }
}
