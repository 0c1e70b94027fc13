//! Decimal numbers rounded to 64 bits of precision, as `long double` has.

use std::cmp::Ordering;

/// The bits of the mantissa.
const PRECISION: u64 = 64;

/// A positive number: `mantissa × 2^exponent`. The highest bit of the mantissa is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rounded {
    exponent: i64,
    mantissa: u64,
}

/// A large positive integer, with the lowest 32 bits first.
#[derive(Clone, Debug)]
struct BigNumber(Vec<u32>);

impl BigNumber {
    /// An integer from decimal digits.
    fn from_digits(digits: &[u8]) -> Self {
        let mut number = Self(Vec::new());
        digits.iter().for_each(|digit| number.multiply_add(10, u32::from(digit - b'0')));
        number
    }

    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for part in &mut self.0 {
            carry += u64::from(*part) * u64::from(factor);
            *part = carry as u32;
            carry >>= u32::BITS;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn bits(&self) -> u64 {
        let last = self.0.last().map_or(0, |part| u32::BITS - part.leading_zeros());
        (self.0.len().saturating_sub(1) as u64) * u64::from(u32::BITS) + u64::from(last)
    }

    fn shift_left(&mut self, count: u64) {
        let (parts, bits) = (count / u64::from(u32::BITS), (count % u64::from(u32::BITS)) as u32);
        (0..bits).for_each(|_| self.multiply_add(2, 0));
        let zeros = usize::try_from(parts).unwrap_or(0);
        self.0.splice(0..0, std::iter::repeat_n(0, zeros));
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Subtracts a number that is not larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = 0i64;
        for (index, part) in self.0.iter_mut().enumerate() {
            let difference = i64::from(*part) - i64::from(other.0.get(index).copied().unwrap_or(0)) - borrow;
            borrow = i64::from(difference < 0);
            *part = difference as u32;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

/// Rounds `DIGITS × 10^scale`. The digits do not start with zeros.
pub(super) fn round(digits: &[u8], scale: i64) -> Rounded {
    let (mut dividend, mut divisor) = (BigNumber::from_digits(digits), BigNumber(vec![1]));
    let scaled = if scale < 0 { &mut divisor } else { &mut dividend };
    (0..scale.unsigned_abs()).for_each(|_| scaled.multiply_add(10, 0));
    // The quotient gets one bit more than the mantissa, or two.
    let (above, below) = (dividend.bits(), divisor.bits());
    let wanted = PRECISION + 1;
    let exponent = above.cast_signed() - below.cast_signed() - wanted.cast_signed();
    match u64::try_from(exponent) {
        Ok(count) => divisor.shift_left(count),
        Err(_) => dividend.shift_left(exponent.unsigned_abs()),
    }
    let (quotient, has_rest) = divide(dividend, &divisor);
    nearest(quotient, has_rest, exponent)
}

/// The quotient of at most 66 bits, and whether there is a rest.
fn divide(mut dividend: BigNumber, divisor: &BigNumber) -> (u128, bool) {
    let mut steps = vec![divisor.clone()];
    while steps.last().is_some_and(|step| step.compare(&dividend).is_le()) {
        let mut next = steps[steps.len() - 1].clone();
        next.multiply_add(2, 0);
        steps.push(next);
    }
    let mut quotient = 0u128;
    for step in steps.iter().rev() {
        quotient <<= 1;
        if step.compare(&dividend).is_le() {
            dividend.subtract(step);
            quotient |= 1;
        }
    }
    (quotient, !dividend.0.is_empty())
}

/// Rounds to the nearest number of 64 bits; a tie goes to the even one.
fn nearest(quotient: u128, has_rest: bool, exponent: i64) -> Rounded {
    let extra = u64::from(u128::BITS - quotient.leading_zeros()) - PRECISION;
    let (mantissa, rest) = (quotient >> extra, quotient & ((1 << extra) - 1));
    let half = 1 << (extra - 1);
    let rounds_up = rest > half || rest == half && (has_rest || mantissa & 1 == 1);
    let mantissa = mantissa + u128::from(rounds_up);
    let exponent = exponent + extra.cast_signed();
    match u64::try_from(mantissa) {
        Ok(mantissa) => Rounded { exponent, mantissa },
        Err(_) => Rounded { exponent: exponent + 1, mantissa: 1 << (PRECISION - 1) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_more_than_64_bits_are_rounded_to_the_nearest() {
        let exact = Rounded { exponent: 1, mantissa: 1 << 63 };
        assert_eq!(round(b"18446744073709551616", 0), exact);
        assert_eq!(round(b"18446744073709551617", 0), exact);
        assert_eq!(round(b"184467440737095516165", -1), exact);
        assert_eq!(round(b"18446744073709551619", 0), Rounded { exponent: 1, mantissa: (1 << 63) + 2 });
        assert_eq!(round(b"1", 0), Rounded { exponent: -63, mantissa: 1 << 63 });
        assert_eq!(round(b"5", -1), Rounded { exponent: -64, mantissa: 1 << 63 });
        assert!(round(b"1", 4900) > round(b"9", 4899));
        assert!(round(b"1", -4900) < round(b"2", -4900));
    }
}
