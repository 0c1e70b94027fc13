//! `RANDOM` and `SRANDOM`.

use std::cell::Cell;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::SystemTime;

/// The generator of `RANDOM`.
#[derive(Clone, Debug)]
pub(crate) struct RandomGenerator {
    seed: Cell<u32>,
    last: Cell<u32>,
}

impl RandomGenerator {
    /// A generator that starts with this seed, as an assignment to `RANDOM` makes one.
    pub(crate) fn new(seed: u32) -> Self {
        Self { seed: Cell::new(seed), last: Cell::new(0) }
    }

    /// A subshell has a sequence of its own, which follows from the parent's seed.
    pub(super) fn for_subshell(&self) -> Self {
        Self::new(self.seed.get().wrapping_mul(0x9e37_79b1) ^ 0x5bd1_e995)
    }

    /// The next number, never the same twice in a row: the minimal standard generator, folded to 15 bits.
    pub(crate) fn next(&self) -> u32 {
        loop {
            let seed = match self.seed.get() {
                0 => 123_459_876,
                seed => i64::from(seed.cast_signed()),
            };
            let (high, low) = (seed / 127_773, seed % 127_773);
            let next = 16_807 * low - 2_836 * high;
            let next = if next < 0 { next + 0x7fff_ffff } else { next };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the generator works in 32 bits"
            )]
            let next = next as u32;
            self.seed.set(next);
            let value = ((next >> 16) ^ (next & 0xffff)) & 0x7fff;
            if value != self.last.replace(value) {
                return value;
            }
        }
    }
}

/// An unpredictable number, for `SRANDOM` and as a first seed.
pub(crate) fn unpredictable_number() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(now.subsec_nanos());
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash is random enough")]
    let half = hasher.finish() as u32;
    half
}
