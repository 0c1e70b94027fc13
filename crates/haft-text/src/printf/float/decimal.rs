//! The exact decimal digits of a number, and their rounding.

use super::big::Big;

/// The number `0.digits × 10^point`; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: Vec<u8>,
    pub(super) point: i64,
}

impl Decimal {
    /// Returns the digits of `mantissa × 2^exponent`.
    pub(super) fn new(mantissa: u64, exponent: i32) -> Self {
        let mut number = Big::from_u64(mantissa);
        let twos = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
        let fraction = if exponent >= 0 {
            number.shift_left(twos);
            0
        } else {
            number.multiply_power(5, twos);
            i64::from(exponent.unsigned_abs())
        };
        let mut digits = number.decimal();
        let point = if digits.is_empty() { 0 } else { digits.len() as i64 - fraction };
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Self { digits, point }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Rounds to a number of digits: to the nearest, ties to even.
    pub(super) fn round(&mut self, keep: i64) {
        let Ok(keep) = usize::try_from(keep) else {
            (self.digits, self.point) = (Vec::new(), 0);
            return;
        };
        if keep >= self.digits.len() {
            return;
        }
        let odd = keep > 0 && self.digits[keep - 1] % 2 == 1;
        let up = match self.digits[keep] {
            0..=4 => false,
            5 => odd || self.digits.len() > keep + 1,
            _ => true,
        };
        self.digits.truncate(keep);
        if up {
            self.increment();
        }
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.point += 1;
    }

    /// Returns the digit at a place: 0 is the first after the point, -1 the last before it.
    pub(super) fn digit(&self, place: i64) -> u8 {
        let index = usize::try_from(place + self.point).ok();
        b'0' + index.and_then(|index| self.digits.get(index)).copied().unwrap_or(0)
    }

    /// Returns the exponent in scientific notation.
    pub(super) fn exponent(&self) -> i64 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }
}
