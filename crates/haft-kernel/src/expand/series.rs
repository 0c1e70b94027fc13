//! The members of `{1..9}` and `{a..z}`.

use haft_lang::ast::BraceRange;

use super::parts::format_number;
use crate::bytes::Bytes;

/// A range, any member of which can be had without those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series {
    first: i128,
    step: i128,
    len: u128,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// With zeros before them up to a width.
    Numbers {
        width: usize,
    },
    Letters,
}

impl Series {
    pub(super) fn new(range: BraceRange) -> Self {
        let (first, last, step, kind) = match range {
            BraceRange::Numbers { first, last, step, width } => {
                (i128::from(first), i128::from(last), step, Kind::Numbers { width: width as usize })
            }
            BraceRange::Letters { first, last, step } => {
                (i128::from(first), i128::from(last), step, Kind::Letters)
            }
        };
        let step = i128::from(step.max(1));
        let len = (last - first).unsigned_abs() / step.unsigned_abs() + 1;
        Self { first, step: if first <= last { step } else { -step }, len, kind }
    }

    pub(super) fn len(&self) -> u128 {
        self.len
    }

    /// The member at a place below the length.
    pub(super) fn get(&self, index: u128) -> Bytes {
        let member = self.first + self.step * index as i128;
        match self.kind {
            Kind::Numbers { width } => {
                let number = i64::try_from(member).unwrap_or(i64::MAX);
                match width {
                    0 => format_number(number, &mut [0; 20]).into(),
                    _ => format!("{number:0width$}").into(),
                }
            }
            // Quote removal comes later, and takes the backslash.
            Kind::Letters => match u8::try_from(member) {
                Ok(b'\\') | Err(_) => Bytes::new(),
                Ok(letter) => [letter].as_slice().into(),
            },
        }
    }
}
