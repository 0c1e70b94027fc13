//! Times as text: the formats of `strftime`, in the C locale.

/// A point in time in some zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since the epoch.
    pub epoch: i64,
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
    /// The hour.
    pub hour: i64,
    /// The minute.
    pub minute: i64,
    /// The second.
    pub second: i64,
    /// The day of the week, Sunday is 0.
    pub weekday: i64,
    /// The day of the year, from 0.
    pub yearday: i64,
    /// How many seconds the zone is east of Greenwich.
    pub offset: i64,
    /// What the zone calls its time.
    pub zone: String,
}

const MONTHS: [&str; 12] = [
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
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Moment {
    /// The moment at this epoch second in a zone that is so far east and has this name.
    #[must_use]
    pub fn new(epoch: i64, offset: i64, zone: &str) -> Self {
        let local = epoch.saturating_add(offset);
        let days = local.div_euclid(86400);
        let clock = local.rem_euclid(86400);
        let (year, month, day) = civil(days);
        Self {
            epoch,
            year,
            month,
            day,
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
            weekday: (days + 4).rem_euclid(7),
            yearday: days - days_from_civil(year, 1, 1),
            offset,
            zone: zone.to_owned(),
        }
    }

    /// The year and week of ISO 8601: a week belongs to the year that its Thursday is in.
    fn iso_week(&self) -> (i64, i64) {
        let monday_based = (self.weekday + 6) % 7;
        let thursday = self.yearday - monday_based + 3;
        let length = year_length(self.year);
        if thursday < 0 {
            let before = year_length(self.year - 1);
            return (self.year - 1, (thursday + before) / 7 + 1);
        }
        if thursday >= length {
            return (self.year + 1, 1);
        }
        (self.year, thursday / 7 + 1)
    }
}

fn year_length(year: i64) -> i64 {
    days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1)
}

/// The number of a day since the epoch, in the Gregorian calendar of all times.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a day since the epoch.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Formats a moment.
#[must_use]
pub fn format(format: &[u8], moment: &Moment) -> Vec<u8> {
    let mut output = Vec::new();
    let mut rest = format;
    while let Some(start) = memchr::memchr(b'%', rest) {
        output.extend_from_slice(&rest[..start]);
        let directive = &rest[start + 1..];
        let (modifier, length) = Modifier::parse(directive);
        let shown = directive.get(length).and_then(|letter| show(*letter, moment));
        if let Some(shown) = shown {
            modifier.apply(&shown, &mut output);
            rest = &directive[length + 1..];
        } else {
            output.push(b'%');
            rest = directive;
        }
    }
    output.extend_from_slice(rest);
    output
}

/// What a directive yields before flags and width.
enum Shown {
    /// A number with so many digits at least, filled up with this.
    Number(i64, usize, char),
    Text(String),
}

/// The flags and the width between `%` and the letter.
#[derive(Default)]
struct Modifier {
    fill: Option<char>,
    bare: bool,
    upper: bool,
    swap: bool,
    width: usize,
}

impl Modifier {
    fn parse(directive: &[u8]) -> (Self, usize) {
        let mut modifier = Self::default();
        let mut index = 0;
        while let Some(&byte) = directive.get(index) {
            match byte {
                b'_' => modifier.fill = Some(' '),
                b'0' => modifier.fill = Some('0'),
                b'-' => modifier.bare = true,
                b'^' => modifier.upper = true,
                b'#' => modifier.swap = true,
                _ => break,
            }
            index += 1;
        }
        while let Some(digit @ b'0'..=b'9') = directive.get(index) {
            modifier.width = (modifier.width * 10 + usize::from(digit - b'0')).min(4096);
            index += 1;
        }
        if let Some(b'E' | b'O') = directive.get(index) {
            index += 1;
        }
        (modifier, index)
    }

    fn apply(&self, shown: &Shown, output: &mut Vec<u8>) {
        let text = match shown {
            Shown::Number(number, digits, fill) => {
                let fill = self.fill.unwrap_or(*fill);
                let width = if self.bare { 0 } else { self.width.max(*digits) };
                let sign = if *number < 0 { "-" } else { "" };
                let body = number.unsigned_abs().to_string();
                let missing = width.saturating_sub(sign.len() + body.len());
                let padding: String = std::iter::repeat_n(fill, missing).collect();
                if fill == '0' { format!("{sign}{padding}{body}") } else { format!("{padding}{sign}{body}") }
            }
            Shown::Text(text) => {
                let fill = self.fill.unwrap_or(' ');
                let missing = if self.bare { 0 } else { self.width.saturating_sub(text.len()) };
                std::iter::repeat_n(fill, missing).chain(text.chars()).collect()
            }
        };
        let text = match (self.upper, self.swap) {
            (true, _) => text.to_uppercase(),
            (false, true) if text.chars().any(char::is_lowercase) => text.to_uppercase(),
            (false, true) => text.to_lowercase(),
            (false, false) => text,
        };
        output.extend_from_slice(text.as_bytes());
    }
}

fn show(letter: u8, moment: &Moment) -> Option<Shown> {
    let two = |number: i64| Shown::Number(number, 2, '0');
    let name = |names: &[&str], index: i64| {
        usize::try_from(index).ok().and_then(|index| names.get(index)).map_or("?", |name| *name).to_owned()
    };
    let short = |full: String| Shown::Text(full[..full.len().min(3)].to_owned());
    let composed =
        |parts: &str| Shown::Text(String::from_utf8_lossy(&format(parts.as_bytes(), moment)).into());
    let twelve = if moment.hour % 12 == 0 { 12 } else { moment.hour % 12 };
    Some(match letter {
        b'%' => Shown::Text("%".to_owned()),
        b'n' => Shown::Text("\n".to_owned()),
        b't' => Shown::Text("\t".to_owned()),
        b'a' => short(name(&DAYS, moment.weekday)),
        b'A' => Shown::Text(name(&DAYS, moment.weekday)),
        b'b' | b'h' => short(name(&MONTHS, moment.month - 1)),
        b'B' => Shown::Text(name(&MONTHS, moment.month - 1)),
        b'c' => composed("%a %b %e %H:%M:%S %Y"),
        b'C' => two(moment.year.div_euclid(100)),
        b'd' => two(moment.day),
        b'D' | b'x' => composed("%m/%d/%y"),
        b'e' => Shown::Number(moment.day, 2, ' '),
        b'F' => composed("%Y-%m-%d"),
        b'g' => two(moment.iso_week().0.rem_euclid(100)),
        b'G' => Shown::Number(moment.iso_week().0, 1, '0'),
        b'H' => two(moment.hour),
        b'I' => two(twelve),
        b'j' => Shown::Number(moment.yearday + 1, 3, '0'),
        b'k' => Shown::Number(moment.hour, 2, ' '),
        b'l' => Shown::Number(twelve, 2, ' '),
        b'm' => two(moment.month),
        b'M' => two(moment.minute),
        b'p' => Shown::Text(if moment.hour < 12 { "AM" } else { "PM" }.to_owned()),
        b'P' => Shown::Text(if moment.hour < 12 { "am" } else { "pm" }.to_owned()),
        b'r' => composed("%I:%M:%S %p"),
        b'R' => composed("%H:%M"),
        b's' => Shown::Number(moment.epoch, 1, '0'),
        b'S' => two(moment.second),
        b'T' | b'X' => composed("%H:%M:%S"),
        b'u' => Shown::Number(if moment.weekday == 0 { 7 } else { moment.weekday }, 1, '0'),
        b'U' => two((moment.yearday + 7 - moment.weekday) / 7),
        b'V' => two(moment.iso_week().1),
        b'w' => Shown::Number(moment.weekday, 1, '0'),
        b'W' => two((moment.yearday + 7 - (moment.weekday + 6) % 7) / 7),
        b'y' => two(moment.year.rem_euclid(100)),
        b'Y' => Shown::Number(moment.year, 1, '0'),
        b'z' => Shown::Text(east(moment.offset)),
        b'Z' => Shown::Text(moment.zone.clone()),
        _ => return None,
    })
}

fn east(offset: i64) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60;
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: i64, text: &str) -> String {
        let moment = Moment::new(epoch, 3600, "CET");
        String::from_utf8_lossy(&format(text.as_bytes(), &moment)).into_owned()
    }

    #[test]
    fn parts_of_a_moment() {
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
        ] {
            assert_eq!(at(epoch, text), expected, "{text}");
        }
    }
}
