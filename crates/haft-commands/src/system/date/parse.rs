//! Parses the times of `date --date`.

use haft_text::printf::civil::CivilTime;
use haft_text::printf::time_zone::LocalZone;

use super::PointInTime;
use super::lexer::{DateNumber, DateToken, tokens};
use super::words::DateUnit;

/// The largest offset of a time zone, in minutes.
const MAX_ZONE_MINUTES: i64 = 24 * 60;

const NANOSECONDS: i64 = 1_000_000_000;

/// The parts of a time that have been found.
#[derive(Default)]
struct DateParts {
    epoch: Option<PointInTime>,
    /// Year, month and day. The year may follow later.
    date: Option<(Option<DateNumber>, i64, i64)>,
    /// Hour, minute, second, nanosecond.
    time: Option<(i64, i64, i64, u32)>,
    /// The ordinal and the day of the week.
    weekday: Option<(i64, i64)>,
    /// Minutes east of Greenwich.
    zone: Option<i64>,
    relative: RelativeTime,
}

/// The sum of the relative parts.
#[derive(Default, Clone, Copy)]
struct RelativeTime {
    is_given: bool,
    months: i64,
    days: i64,
    seconds: i64,
    nanoseconds: i64,
}

/// Parses a time. `None` if it is not valid.
pub(crate) fn parse(text: &[u8], now: PointInTime, zone: &LocalZone) -> Option<PointInTime> {
    let tokens = tokens(std::str::from_utf8(text).ok()?)?;
    let mut parser = DateParser { tokens: &tokens, at: 0, parts: DateParts::default() };
    if tokens.first() == Some(&DateToken::Symbol(b'@')) {
        parser.epoch()?;
    }
    while parser.at < tokens.len() {
        parser.item()?;
    }
    parser.parts.resolve(now, zone)
}

struct DateParser<'a> {
    tokens: &'a [DateToken],
    at: usize,
    parts: DateParts,
}

impl DateParser<'_> {
    fn peek(&self, ahead: usize) -> Option<DateToken> {
        self.tokens.get(self.at + ahead).copied()
    }

    /// An unsigned number.
    fn plain(&self, ahead: usize) -> Option<DateNumber> {
        match self.peek(ahead)? {
            DateToken::Number(number) if !number.is_signed => Some(number),
            _ => None,
        }
    }

    /// A number after a dash, which the lexer takes for a sign.
    fn dashed(&self, ahead: usize) -> Option<DateNumber> {
        match self.peek(ahead)? {
            DateToken::Number(number) if number.is_negative => {
                Some(DateNumber { value: -number.value, ..number })
            }
            _ => None,
        }
    }

    fn is_symbol(&self, ahead: usize, symbol: u8) -> bool {
        self.peek(ahead) == Some(DateToken::Symbol(symbol))
    }

    /// `@SECONDS`.
    fn epoch(&mut self) -> Option<()> {
        let DateToken::Number(number) = self.peek(1)? else { return None };
        self.at += 2;
        let nanoseconds = number.fraction.unwrap_or(0);
        let borrows = number.is_negative && nanoseconds > 0;
        self.parts.epoch = Some(PointInTime {
            seconds: number.value - i64::from(borrows),
            nanoseconds: if borrows { NANOSECONDS as u32 - nanoseconds } else { nanoseconds },
        });
        if self.at == self.tokens.len() { Some(()) } else { None }
    }

    fn item(&mut self) -> Option<()> {
        match self.peek(0)? {
            DateToken::Number(number) => self.number(number),
            DateToken::Month(month) => self.month(month),
            DateToken::Day(day) => {
                self.at += 1 + usize::from(self.is_symbol(1, b','));
                self.set_weekday(0, day)
            }
            DateToken::Ordinal(ordinal) => match self.peek(1)? {
                DateToken::Day(day) => {
                    self.at += 2;
                    self.set_weekday(ordinal, day)
                }
                DateToken::Unit(unit) => {
                    self.at += 2;
                    self.add(unit, ordinal, 0)
                }
                _ => None,
            },
            DateToken::Unit(unit) => {
                self.at += 1;
                self.add(unit, 1, 0)
            }
            DateToken::DayShift(days) => {
                self.at += 1;
                self.add(DateUnit::Days(1), days, 0)
            }
            DateToken::Zone(minutes) => self.zone(minutes),
            DateToken::Separator
                if self.follows_dashed_date() && self.plain(1).is_some_and(|hour| hour.digits <= 2) =>
            {
                self.at += 1;
                self.item()?;
                let before = self.tokens[self.at - 1];
                (!matches!(before, DateToken::Meridian(_) | DateToken::Unit(_) | DateToken::Ago))
                    .then_some(())
            }
            _ => None,
        }
    }

    /// Whether a date such as `2024-02-29` is directly before the cursor.
    fn follows_dashed_date(&self) -> bool {
        let is_dashed = |token: &DateToken| matches!(token, DateToken::Number(number) if number.is_negative);
        self.at >= 3 && self.tokens[self.at - 2..self.at].iter().all(is_dashed)
    }

    fn set_weekday(&mut self, ordinal: i64, day: i64) -> Option<()> {
        self.parts.weekday.replace((ordinal, day)).is_none().then_some(())
    }

    fn set_date(&mut self, year: Option<DateNumber>, month: i64, day: i64) -> Option<()> {
        self.parts.date.replace((year, month, day)).is_none().then_some(())
    }

    /// Adds a relative part, and reverses all of them if `ago` follows.
    fn add(&mut self, unit: DateUnit, count: i64, nanoseconds: u32) -> Option<()> {
        let ago = self.peek(0) == Some(DateToken::Ago);
        self.at += usize::from(ago);
        let count = if ago { -count } else { count };
        let relative = &mut self.parts.relative;
        relative.is_given = true;
        let sum = |total: i64, size: i64| total.checked_add(count.checked_mul(size)?);
        match unit {
            DateUnit::Months(size) => relative.months = sum(relative.months, size)?,
            DateUnit::Days(size) => relative.days = sum(relative.days, size)?,
            DateUnit::Seconds(size) => relative.seconds = sum(relative.seconds, size)?,
        }
        if nanoseconds > 0 {
            if unit != DateUnit::Seconds(1) {
                return None;
            }
            relative.nanoseconds += if count < 0 { -i64::from(nanoseconds) } else { i64::from(nanoseconds) };
        }
        Some(())
    }

    /// A month, and what may follow it: `Feb 29`, `Feb 29 2024`, `Feb 29, 2024`.
    fn month(&mut self, month: i64) -> Option<()> {
        if let (Some(day), Some(year)) = (self.dashed(1), self.dashed(2)) {
            self.at += 3;
            return self.set_date(Some(year), month, day.value);
        }
        let day = self.plain(1)?;
        if self.is_symbol(2, b',') {
            let year = self.plain(3)?;
            self.at += 4;
            return self.set_date(Some(year), month, day.value);
        }
        self.at += 2;
        self.set_date(None, month, day.value)
    }

    fn zone(&mut self, minutes: i64) -> Option<()> {
        self.at += 1;
        let mut minutes = minutes;
        if let Some(DateToken::Number(number)) = self.peek(0)
            && number.is_signed
            && !number.is_apart
            && !matches!(self.peek(1), Some(DateToken::Unit(_)))
        {
            minutes += self.zone_offset(number)?;
        }
        self.parts.zone.replace(minutes).is_none().then_some(())
    }

    /// `+0100`, `+1` or `+01:00`, in minutes.
    fn zone_offset(&mut self, number: DateNumber) -> Option<i64> {
        self.at += 1;
        let value = number.value.abs();
        let minutes = if self.is_symbol(0, b':') {
            let minutes = self.plain(1)?;
            self.at += 2;
            value * 60 + minutes.value
        } else if number.digits <= 2 {
            value * 60
        } else {
            value / 100 * 60 + value % 100
        };
        (minutes <= MAX_ZONE_MINUTES).then_some(if number.is_negative { -minutes } else { minutes })
    }

    fn number(&mut self, number: DateNumber) -> Option<()> {
        match self.peek(1) {
            Some(DateToken::Unit(unit)) => {
                self.at += 2;
                return self.add(unit, number.value, number.fraction.unwrap_or(0));
            }
            _ if number.is_signed => return None,
            Some(DateToken::Symbol(b':')) => return self.time(number),
            Some(DateToken::Meridian(shift)) => {
                self.at += 2;
                return self.set_time(number.value, Some(shift), 0, 0, 0);
            }
            Some(DateToken::Symbol(b'/')) => return self.slashed(number),
            Some(DateToken::Day(day)) => {
                self.at += 2;
                return self.set_weekday(number.value, day);
            }
            Some(DateToken::Month(month)) => return self.day_and_month(number, month),
            _ => {}
        }
        if let (Some(month), Some(day)) = (self.dashed(1), self.dashed(2)) {
            self.at += 3;
            return self.set_date(Some(number), month.value, day.value);
        }
        if self.is_symbol(1, b'-')
            && let (Some(DateToken::Month(month)), Some(year)) = (self.peek(2), self.dashed(3))
        {
            self.at += 4;
            return self.set_date(Some(year), month, number.value);
        }
        self.pure_number(number)
    }

    /// `29 Feb` or `29 Feb 2024`.
    fn day_and_month(&mut self, day: DateNumber, month: i64) -> Option<()> {
        self.at += 2;
        let is_year = !matches!(
            self.peek(1),
            Some(DateToken::Symbol(b':') | DateToken::Unit(_) | DateToken::Meridian(_))
        );
        let year = self.plain(0).filter(|_| is_year);
        self.at += usize::from(year.is_some());
        self.set_date(year, month, day.value)
    }

    /// `2/29`, `2/29/2024` or `2024/2/29`.
    fn slashed(&mut self, first: DateNumber) -> Option<()> {
        let second = self.plain(2)?;
        if !self.is_symbol(3, b'/') {
            self.at += 3;
            return self.set_date(None, first.value, second.value);
        }
        let third = self.plain(4)?;
        self.at += 5;
        match first.digits > 3 {
            true => self.set_date(Some(first), second.value, third.value),
            false => self.set_date(Some(third), first.value, second.value),
        }
    }

    /// `13:45`, `13:45:10.5`, `1:45 pm`, `13:45+01:00`.
    fn time(&mut self, hour: DateNumber) -> Option<()> {
        let minute = self.plain(2)?;
        self.at += 3;
        let mut second = 0;
        let mut nanosecond = 0;
        if self.is_symbol(0, b':') {
            let number = self.plain(1)?;
            self.at += 2;
            second = number.value;
            nanosecond = number.fraction.unwrap_or(0);
        }
        let shift = match self.peek(0) {
            Some(DateToken::Meridian(shift)) => {
                self.at += 1;
                Some(shift)
            }
            _ => None,
        };
        if let Some(DateToken::Number(number)) = self.peek(0)
            && number.is_signed
            && shift.is_none()
        {
            let minutes = self.zone_offset(number)?;
            if self.parts.zone.replace(minutes).is_some() {
                return None;
            }
        }
        self.set_time(hour.value, shift, minute.value, second, nanosecond)
    }

    fn set_time(
        &mut self,
        hour: i64,
        shift: Option<i64>,
        minute: i64,
        second: i64,
        nanosecond: u32,
    ) -> Option<()> {
        let hour = match shift {
            None if (0..24).contains(&hour) => hour,
            Some(shift) if (1..=12).contains(&hour) => hour % 12 + shift,
            _ => return None,
        };
        if !(0..60).contains(&minute) || !(0..=60).contains(&second) {
            return None;
        }
        self.parts.time.replace((hour, minute, second, nanosecond)).is_none().then_some(())
    }

    /// A number alone is a year, a date such as `20240229`, or a time of day.
    fn pure_number(&mut self, number: DateNumber) -> Option<()> {
        self.at += 1;
        if number.fraction.is_some() {
            return None;
        }
        let has_time = self.parts.time.is_some();
        if let Some((year @ None, ..)) = &mut self.parts.date
            && !self.parts.relative.is_given
            && (has_time || number.digits > 2)
        {
            *year = Some(number);
            return Some(());
        }
        if number.digits > 4 {
            let year = DateNumber { value: number.value / 10_000, digits: number.digits - 4, ..number };
            return self.set_date(Some(year), number.value / 100 % 100, number.value % 100);
        }
        match number.digits {
            1 | 2 => self.set_time(number.value, None, 0, 0, 0),
            _ => self.set_time(number.value / 100, None, number.value % 100, 0, 0),
        }
    }
}

impl DateParts {
    fn resolve(&self, now: PointInTime, zone: &LocalZone) -> Option<PointInTime> {
        if let Some(epoch) = self.epoch {
            return Some(epoch);
        }
        let shown_by = self.zone.map(|minutes| minutes * 60);
        let mut civil = match shown_by {
            // The date of today is that of the time zone.
            Some(offset) => LocalZone::utc().local_time(now.seconds.checked_add(offset)?).civil(),
            None => zone.local_time(now.seconds).civil(),
        };
        let nanoseconds = self.fill(&mut civil, now);
        let written = civil;
        let epoch = |civil: &CivilTime| match shown_by {
            Some(offset) => {
                let seconds = civil.as_utc()?.checked_sub(offset)?;
                Some(haft_text::printf::civil::MadeTime { epoch: seconds, exists: true })
            }
            None => zone.epoch(civil),
        };
        let made = epoch(&written)?;
        if !made.exists || !is_normal(&written) {
            return None;
        }
        if let (Some((ordinal, day)), None) = (self.weekday, self.date) {
            let today = civil.weekday()?;
            let is_later = ordinal > 0 && today != day;
            civil.day += (day - today + 7) % 7 + 7 * (ordinal - i64::from(is_later));
        }
        civil.month = civil.month.checked_add(self.relative.months)?;
        civil.day = civil.day.checked_add(self.relative.days)?;
        let seconds = epoch(&civil)?.epoch.checked_add(self.relative.seconds)?;
        let total = i64::from(nanoseconds) + self.relative.nanoseconds;
        Some(PointInTime {
            seconds: seconds.checked_add(total.div_euclid(NANOSECONDS))?,
            nanoseconds: u32::try_from(total.rem_euclid(NANOSECONDS)).ok()?,
        })
    }

    /// Replaces the fields of the current time that were given, and returns the nanoseconds.
    fn fill(&self, civil: &mut CivilTime, now: PointInTime) -> u32 {
        if let Some((year, month, day)) = self.date {
            if let Some(year) = year {
                let century = if year.value < 69 { 2000 } else { 1900 };
                civil.year = if year.digits == 2 { year.value + century } else { year.value };
            }
            (civil.month, civil.day) = (month, day);
        }
        let keeps_time = self.relative.is_given && self.date.is_none() && self.weekday.is_none();
        match self.time {
            Some((hour, minute, second, nanosecond)) => {
                (civil.hour, civil.minute, civil.second) = (hour, minute, second);
                nanosecond
            }
            None if keeps_time => now.nanoseconds,
            None => {
                (civil.hour, civil.minute, civil.second) = (0, 0, 0);
                0
            }
        }
    }
}

/// Whether a date and a time of day exist in the calendar.
pub(crate) fn is_normal(civil: &CivilTime) -> bool {
    civil.as_utc().is_some_and(|seconds| LocalZone::utc().local_time(seconds).civil() == *civil)
}
