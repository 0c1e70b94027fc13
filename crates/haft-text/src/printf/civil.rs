//! Dates and times of day without a time zone, and `mktime`.

use super::time_zone::LocalZone;

/// A date and a time of day. Every field may be outside of its usual range: the 32nd of January is the first of February.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilTime {
    /// The year.
    pub year: i64,
    /// The month, 1 to 12.
    pub month: i64,
    /// The day of the month, 1 to 31.
    pub day: i64,
    /// The hour, 0 to 23.
    pub hour: i64,
    /// The minute, 0 to 59.
    pub minute: i64,
    /// The second, 0 to 59.
    pub second: i64,
}

/// The result of [`LocalZone::epoch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeTime {
    /// Seconds since the epoch.
    pub epoch: i64,
    /// Whether the local time exists. It does not if clocks were set forward over it.
    pub exists: bool,
}

const SECONDS_PER_DAY: i64 = 86_400;

/// A year that is too far away for arithmetic in seconds.
const MAX_YEAR: i64 = 1 << 36;

impl CivilTime {
    /// The number of seconds since the epoch, if the time zone is UTC. `None` if it is too large.
    #[must_use]
    pub fn as_utc(&self) -> Option<i64> {
        let days = self.days()?;
        let time = self.hour.checked_mul(3600)?.checked_add(self.minute.checked_mul(60)?)?;
        days.checked_mul(SECONDS_PER_DAY)?.checked_add(time)?.checked_add(self.second)
    }

    /// The day of the week of the date, 0 for Sunday. `None` if the year is too large.
    #[must_use]
    pub fn weekday(&self) -> Option<i64> {
        self.days().map(|days| (days + 4).rem_euclid(7))
    }

    /// Days since the epoch: whole cycles of 400 years, then years from March to February, so that leap days are last.
    fn days(&self) -> Option<i64> {
        let months = self.month.checked_sub(3)?;
        let year = self.year.checked_add(months.div_euclid(12))?;
        if year.abs() > MAX_YEAR {
            return None;
        }
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * months.rem_euclid(12) + 2) / 5;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        (era * 146_097 + day_of_era - 719_468).checked_add(self.day.checked_sub(1)?)
    }
}

impl LocalZone {
    /// Finds the time at which clocks in this zone show `civil`, as `mktime` does. `None` if it is too large.
    #[must_use]
    pub fn epoch(&self, civil: &CivilTime) -> Option<MadeTime> {
        let wanted = civil.as_utc()?;
        // As in the C library, the search starts at UTC. In the hour that clocks show twice, this decides which one is found.
        let (mut guess, mut before) = (wanted, None);
        loop {
            let shown = guess.checked_add(i64::from(self.offset(guess)))?;
            if shown == wanted {
                return Some(MadeTime { epoch: guess, exists: true });
            }
            let next = guess.checked_add(wanted.checked_sub(shown)?)?;
            if before == Some(next) {
                return Some(MadeTime { epoch: guess.max(next), exists: false });
            }
            before = Some(guess);
            guess = next;
        }
    }

    /// Seconds east of Greenwich at a time.
    #[must_use]
    pub fn offset(&self, epoch: i64) -> i32 {
        self.local_time(epoch).offset()
    }
}
