//! Time zones: the value of `TZ`, or the machine's own.

use std::path::{Path, PathBuf};

use super::strftime::{Moment, days_from_civil};

/// A time zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// From when on which of the kinds is in force, in order.
    changes: Vec<(i64, usize)>,
    /// The kinds of time there are; the first is in force before all changes.
    kinds: Vec<Kind>,
    /// What is in force after all changes.
    rule: Option<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    offset: i64,
    name: String,
}

/// A rule as in `CET-1CEST,M3.5.0,M10.5.0/3`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    standard: Kind,
    summer: Option<(Kind, Turn, Turn)>,
}

/// When in a year the clocks are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    day: Day,
    /// Seconds after midnight.
    time: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    /// `Jn`: from 1, the 29th of February never counted.
    Julian(i64),
    /// `n`: from 0.
    Zero(i64),
    /// `Mm.w.d`: the `w`-th such weekday of a month, 5 the last.
    Month { month: i64, week: i64, weekday: i64 },
}

impl Zone {
    /// The zone that a value of `TZ` means, or the machine's without one. `read` gets the content of files.
    #[must_use]
    pub fn load(value: Option<&[u8]>, read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Self {
        let text = match value {
            None => {
                return read(Path::new("/etc/localtime")).and_then(|file| table(&file)).unwrap_or_default();
            }
            Some(value) => String::from_utf8_lossy(value).into_owned(),
        };
        let name = text.strip_prefix(':').unwrap_or(&text);
        if name.is_empty() {
            return Self::default();
        }
        let path = if name.starts_with('/') {
            PathBuf::from(name)
        } else {
            Path::new("/usr/share/zoneinfo").join(name)
        };
        if !name.contains("..")
            && let Some(zone) = read(&path).and_then(|file| table(&file))
        {
            return zone;
        }
        Self { rule: rule(name), ..Self::default() }
    }

    /// The moment at an epoch second.
    #[must_use]
    pub fn moment(&self, epoch: i64) -> Moment {
        let after = self.changes.partition_point(|(from, _)| *from <= epoch);
        let kind = match (&self.rule, after.checked_sub(1).and_then(|last| self.changes.get(last))) {
            (Some(rule), _) if after == self.changes.len() => rule.kind(epoch),
            (_, Some((_, kind))) => self.kinds.get(*kind),
            (_, None) => self.kinds.first(),
        };
        match kind {
            Some(kind) => Moment::new(epoch, kind.offset, &kind.name),
            None => Moment::new(epoch, 0, "UTC"),
        }
    }
}

impl Rule {
    fn kind(&self, epoch: i64) -> Option<&Kind> {
        let Some((summer, begin, end)) = &self.summer else { return Some(&self.standard) };
        let year = Moment::new(epoch, self.standard.offset, "").year;
        let begin = begin.in_year(year) - self.standard.offset;
        let end = end.in_year(year) - summer.offset;
        let is_summer =
            if begin < end { (begin..end).contains(&epoch) } else { !(end..begin).contains(&epoch) };
        Some(if is_summer { summer } else { &self.standard })
    }
}

impl Turn {
    /// Seconds since the epoch, were the clocks those of Greenwich.
    fn in_year(self, year: i64) -> i64 {
        let first = days_from_civil(year, 1, 1);
        let leap = days_from_civil(year, 3, 1) - first == 60;
        let day = match self.day {
            Day::Zero(day) => first + day,
            Day::Julian(day) => first + day - 1 + i64::from(leap && day >= 60),
            Day::Month { month, week, weekday } => {
                let first = days_from_civil(year, month, 1);
                let next = if month == 12 {
                    days_from_civil(year + 1, 1, 1)
                } else {
                    days_from_civil(year, month + 1, 1)
                };
                let day = first + (weekday - (first + 4)).rem_euclid(7) + 7 * (week - 1);
                if day >= next { day - 7 } else { day }
            }
        };
        day * 86400 + self.time
    }
}

/// Reads a zone file: its second block, which has times of 64 bits, and the rule at its end.
fn table(file: &[u8]) -> Option<Zone> {
    let (counts, _) = header(file)?;
    let first = counts.data_length(4);
    let second = file.get(44 + first..)?;
    let (counts, body) = header(second)?;
    let times = body.get(..counts.times * 8)?;
    let kinds_of = body.get(counts.times * 8..counts.times * 9)?;
    let kinds = body.get(counts.times * 9..counts.times * 9 + counts.kinds * 6)?;
    let names = body.get(counts.times * 9 + counts.kinds * 6..)?;
    let changes = times
        .chunks_exact(8)
        .zip(kinds_of)
        .filter_map(|(time, kind)| Some((i64::from_be_bytes(time.try_into().ok()?), usize::from(*kind))))
        .collect();
    let kinds = kinds
        .chunks_exact(6)
        .filter_map(|kind| {
            let offset = i32::from_be_bytes(kind.get(..4)?.try_into().ok()?);
            let name = names.get(usize::from(kind[5])..)?.split(|byte| *byte == 0).next()?;
            Some(Kind { offset: offset.into(), name: String::from_utf8_lossy(name).into_owned() })
        })
        .collect();
    let footer = body.get(counts.data_length(8)..).and_then(|rest| rest.split(|byte| *byte == b'\n').nth(1));
    let rule = footer.and_then(|text| rule(&String::from_utf8_lossy(text)));
    Some(Zone { changes, kinds, rule })
}

/// How many of what a block of a zone file holds.
struct Counts {
    universal: usize,
    standard: usize,
    leaps: usize,
    times: usize,
    kinds: usize,
    names: usize,
}

impl Counts {
    fn data_length(&self, time: usize) -> usize {
        self.times * (time + 1)
            + self.kinds * 6
            + self.names
            + self.leaps * (time + 4)
            + self.standard
            + self.universal
    }
}

fn header(block: &[u8]) -> Option<(Counts, &[u8])> {
    if !block.starts_with(b"TZif") {
        return None;
    }
    let count = |index: usize| -> Option<usize> {
        let bytes = block.get(20 + index * 4..24 + index * 4)?;
        let number = u32::from_be_bytes(bytes.try_into().ok()?);
        usize::try_from(number).ok().filter(|number| *number < 1 << 20)
    };
    let counts = Counts {
        universal: count(0)?,
        standard: count(1)?,
        leaps: count(2)?,
        times: count(3)?,
        kinds: count(4)?,
        names: count(5)?,
    };
    Some((counts, block.get(44..)?))
}

fn rule(text: &str) -> Option<Rule> {
    let mut reader = Reader { rest: text };
    let name = reader.name()?;
    let west = reader.clock()?;
    let standard = Kind { offset: -west, name };
    let Some(name) = reader.name() else { return Some(Rule { standard, summer: None }) };
    let offset = match reader.rest.chars().next() {
        None | Some(',') => standard.offset + 3600,
        Some(_) => -reader.clock()?,
    };
    let mut turn = |default: Turn| match reader.rest.strip_prefix(',') {
        Some(rest) => {
            reader.rest = rest;
            reader.turn()
        }
        None => Some(default),
    };
    let sunday = |month, week| Turn { day: Day::Month { month, week, weekday: 0 }, time: 7200 };
    let begin = turn(sunday(3, 2))?;
    let end = turn(sunday(11, 1))?;
    Some(Rule { standard, summer: Some((Kind { offset, name }, begin, end)) })
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// `CET`, or `<+03>`.
    fn name(&mut self) -> Option<String> {
        if let Some(quoted) = self.rest.strip_prefix('<') {
            let (name, rest) = quoted.split_once('>')?;
            self.rest = rest;
            return Some(name.to_owned());
        }
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        (length >= 3).then(|| name.to_owned())
    }

    fn number(&mut self) -> Option<i64> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count().min(9);
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits.parse().ok()
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    fn clock(&mut self) -> Option<i64> {
        let negative = self.rest.starts_with('-');
        self.rest = self.rest.strip_prefix(['-', '+']).unwrap_or(self.rest);
        let mut seconds = self.number()? * 3600;
        for unit in [60, 1] {
            if let Some(rest) = self.rest.strip_prefix(':') {
                self.rest = rest;
                seconds += self.number()? * unit;
            }
        }
        Some(if negative { -seconds } else { seconds })
    }

    fn turn(&mut self) -> Option<Turn> {
        let day = if let Some(rest) = self.rest.strip_prefix('J') {
            self.rest = rest;
            Day::Julian(self.number()?)
        } else if let Some(rest) = self.rest.strip_prefix('M') {
            self.rest = rest;
            let month = self.number().filter(|month| (1..=12).contains(month))?;
            self.rest = self.rest.strip_prefix('.')?;
            let week = self.number()?;
            self.rest = self.rest.strip_prefix('.')?;
            Day::Month { month, week, weekday: self.number()? }
        } else {
            Day::Zero(self.number()?)
        };
        let time = match self.rest.strip_prefix('/') {
            Some(rest) => {
                self.rest = rest;
                self.clock()?
            }
            None => 7200,
        };
        Some(Turn { day, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &str, epoch: i64) -> String {
        let zone = Zone::load(Some(value.as_bytes()), &|path| std::fs::read(path).ok());
        String::from_utf8_lossy(&super::super::strftime::format(b"%F %T %Z %z", &zone.moment(epoch))).into()
    }

    #[test]
    fn rules_in_the_value() {
        for (zone, epoch, expected) in [
            ("", 0, "1970-01-01 00:00:00 UTC +0000"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_700_000_000, "2023-11-14 23:13:20 CET +0100"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_690_000_000, "2023-07-22 06:26:40 CEST +0200"),
            ("EST5EDT", 1_690_000_000, "2023-07-22 00:26:40 EDT -0400"),
            ("<+0330>-3:30", 0, "1970-01-01 03:30:00 +0330 +0330"),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", 1_700_000_000, "2023-11-15 09:13:20 AEDT +1100"),
        ] {
            assert_eq!(shown(zone, epoch), expected, "{zone}");
        }
    }

    #[test]
    fn a_zone_file_is_read_to_its_rule() {
        if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
            return;
        }
        for (epoch, expected) in [
            (1_690_000_000, "2023-07-22 06:26:40 CEST +0200"),
            (0, "1970-01-01 01:00:00 CET +0100"),
            (-1_700_000_000, "1916-02-18 02:46:40 CET +0100"),
            (4_000_000_000, "2096-10-02 09:06:40 CEST +0200"),
        ] {
            assert_eq!(shown("Europe/Berlin", epoch), expected);
        }
    }
}
