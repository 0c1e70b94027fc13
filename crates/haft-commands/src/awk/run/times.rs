//! Random numbers and times.

use std::time::{SystemTime, UNIX_EPOCH};

use haft_text::printf::civil::CivilTime;
use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;

use super::{AwkRun, Evaluated};
use crate::awk::tree::AwkExpression;
use crate::awk::value::AwkValue;

/// The additive generator of `random(3)`.
pub(super) struct AwkRandom {
    state: Vec<u32>,
    at: usize,
    pub(super) seed: f64,
}

/// The length of the state, and the distance of the second number that is added.
const STATE_WORDS: usize = 31;
const NEAR: usize = 28;

impl Default for AwkRandom {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl AwkRandom {
    pub(super) fn new(seed: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the seed wraps as in C")]
        let first = match seed as i64 as u32 {
            0 => 1,
            other => other,
        };
        let mut state = vec![first];
        for index in 1..STATE_WORDS {
            // The minimal standard generator fills the state.
            let product = i64::from(state[index - 1].cast_signed()) * 16807 % 2_147_483_647;
            let value = if product < 0 { product + 2_147_483_647 } else { product };
            state.push(u32::try_from(value).unwrap_or(0));
        }
        let mut made = Self { state, at: 0, seed };
        for _ in 0..10 * STATE_WORDS {
            made.next();
        }
        made
    }

    fn next(&mut self) -> u32 {
        let near = (self.at + STATE_WORDS - NEAR) % STATE_WORDS;
        let sum = self.state[self.at].wrapping_add(self.state[near]);
        self.state[self.at] = sum;
        self.at = (self.at + 1) % STATE_WORDS;
        sum >> 1
    }

    /// A number from 0 to below 1.
    pub(super) fn number(&mut self) -> f64 {
        const RANGE: f64 = 2_147_483_648.0;
        loop {
            let (first, second) = (f64::from(self.next()), f64::from(self.next()));
            let number = (first / RANGE + second) / RANGE + 0.5 - 0.5;
            if number < 1.0 {
                return number;
            }
        }
    }
}

/// The seconds since the epoch.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64().trunc())
}

impl AwkRun<'_, '_, '_> {
    pub(super) fn srand(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let seed = match arguments.first() {
            Some(seed) => self.number(seed)?,
            None => now(),
        };
        let before = std::mem::replace(&mut self.random, AwkRandom::new(seed));
        Ok(AwkValue::Number(before.seed))
    }

    fn zone(&mut self, arguments: &[AwkExpression], index: usize) -> Evaluated<LocalZone> {
        let is_utc = match arguments.get(index) {
            Some(flag) => self.is_true(flag)?,
            None => false,
        };
        Ok(if is_utc { LocalZone::utc() } else { self.run.context.session().time_zone() })
    }

    pub(super) fn strftime(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let format = match arguments.first() {
            Some(format) => self.text(format)?,
            None => "%a %b %e %H:%M:%S %Z %Y".into(),
        };
        let time = match arguments.get(1) {
            Some(time) => self.number(time)?,
            None => now(),
        };
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        let local = self.zone(arguments, 2)?.local_time(time as i64);
        Ok(AwkValue::text(strftime::format(&format, &local)))
    }

    /// `mktime("YYYY MM DD HH MM SS [DST]")`.
    pub(super) fn mktime(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let text = self.text(&arguments[0])?;
        let zone = self.zone(arguments, 1)?;
        let numbers: Vec<i64> =
            text.lossy().split_ascii_whitespace().map_while(|number| number.parse().ok()).collect();
        let [year, month, day, hour, minute, second, ..] = numbers[..] else {
            return Ok(AwkValue::Number(-1.0));
        };
        let civil = CivilTime { year, month, day, hour, minute, second };
        #[expect(clippy::cast_precision_loss, reason = "all numbers are doubles")]
        Ok(AwkValue::Number(zone.epoch(&civil).map_or(-1.0, |made| made.epoch as f64)))
    }
}
