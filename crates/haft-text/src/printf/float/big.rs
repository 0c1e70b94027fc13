//! Integers of arbitrary size, with the operations that floating-point conversions need.

use std::cmp::Ordering;

/// A natural number: 32-bit digits, least significant first, without leading zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Big {
    words: Vec<u32>,
}

impl Big {
    pub(super) fn from_u64(value: u64) -> Self {
        let bytes = value.to_le_bytes();
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut big = Self { words: vec![word(0), word(4)] };
        big.trim();
        big
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    /// Multiplies, then adds.
    pub(super) fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for word in &mut self.words {
            let product = u64::from(*word) * u64::from(factor) + carry;
            (*word, carry) = split(product);
        }
        if carry > 0 {
            self.words.push(split(carry).0);
        }
        self.trim();
    }

    /// Multiplies by a power of a small number.
    pub(super) fn multiply_power(&mut self, base: u32, exponent: usize) {
        let (mut chunk, mut chunk_exponent) = (base, 1);
        while let Some(larger) = chunk.checked_mul(base) {
            (chunk, chunk_exponent) = (larger, chunk_exponent + 1);
        }
        for _ in 0..exponent / chunk_exponent {
            self.multiply_add(chunk, 0);
        }
        for _ in 0..exponent % chunk_exponent {
            self.multiply_add(base, 0);
        }
    }

    pub(super) fn bits(&self) -> usize {
        match self.words.last() {
            None => 0,
            Some(top) => self.words.len() * 32 - top.leading_zeros() as usize,
        }
    }

    pub(super) fn bit(&self, index: usize) -> bool {
        self.words.get(index / 32).is_some_and(|word| word >> (index % 32) & 1 == 1)
    }

    /// Tells whether any bit below this one is set.
    pub(super) fn any_below(&self, index: usize) -> bool {
        let whole = (index / 32).min(self.words.len());
        self.words[..whole].iter().any(|word| *word != 0) || (whole * 32..index).any(|bit| self.bit(bit))
    }

    pub(super) fn shift_left(&mut self, count: usize) {
        let (words, bits) = (count / 32, count % 32);
        if bits > 0 {
            self.multiply_add(1 << bits, 0);
        }
        if !self.is_zero() {
            self.words.splice(0..0, std::iter::repeat_n(0, words));
        }
    }

    /// Returns the 64 bits from this one up.
    pub(super) fn window(&self, lowest: usize) -> u64 {
        (0..64).filter(|at| self.bit(lowest + at)).fold(0, |window, at| window | 1 << at)
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_length = self.words.len().cmp(&other.words.len());
        by_length.then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()))
    }

    /// Subtracts a number, which must not be larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = 0i64;
        for (index, word) in self.words.iter_mut().enumerate() {
            let taken = i64::from(other.words.get(index).copied().unwrap_or(0)) + borrow;
            let difference = i64::from(*word) - taken;
            borrow = i64::from(difference < 0);
            *word = split(difference.rem_euclid(1 << 32).unsigned_abs()).0;
        }
        self.trim();
    }

    /// Returns the quotient, and whether there is a remainder. The divisor must not be zero.
    pub(super) fn divide(&self, divisor: &Self) -> (Self, bool) {
        let mut quotient = Self { words: vec![0; self.words.len()] };
        let mut remainder = Self::default();
        for index in (0..self.bits()).rev() {
            remainder.multiply_add(2, u32::from(self.bit(index)));
            if remainder.compare(divisor) != Ordering::Less {
                remainder.subtract(divisor);
                quotient.words[index / 32] |= 1 << (index % 32);
            }
        }
        quotient.trim();
        (quotient, !remainder.is_zero())
    }

    /// Returns the decimal digits as numbers, most significant first.
    pub(super) fn decimal(&self) -> Vec<u8> {
        let mut rest = self.clone();
        let mut digits = Vec::new();
        while !rest.is_zero() {
            let mut chunk = 0u64;
            for word in rest.words.iter_mut().rev() {
                let value = chunk << 32 | u64::from(*word);
                *word = split(value / 1_000_000_000).0;
                chunk = value % 1_000_000_000;
            }
            rest.trim();
            for _ in 0..9 {
                digits.push((chunk % 10).to_le_bytes()[0]);
                chunk /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }
}

/// Splits a number into its lower and upper half.
fn split(value: u64) -> (u32, u64) {
    let bytes = value.to_le_bytes();
    (u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), value >> 32)
}
