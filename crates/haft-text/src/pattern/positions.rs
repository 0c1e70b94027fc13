//! Sets of positions in a subject.

/// A set of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Positions {
    /// These positions, in ascending order without duplicates.
    List(Vec<usize>),
    /// Every start of a character, and the end of the subject, within these bounds, both included.
    Span(usize, usize),
}

impl Positions {
    pub(super) fn none() -> Self {
        Self::List(Vec::new())
    }

    pub(super) fn one(position: usize) -> Self {
        Self::List(vec![position])
    }

    /// Returns the set of these positions, which must be in ascending order.
    pub(super) fn list(positions: Vec<usize>) -> Self {
        Self::List(positions)
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::List(positions) if positions.is_empty())
    }

    pub(super) fn first(&self) -> Option<usize> {
        match self {
            Self::List(positions) => positions.first().copied(),
            Self::Span(first, _) => Some(*first),
        }
    }

    pub(super) fn last(&self) -> Option<usize> {
        match self {
            Self::List(positions) => positions.last().copied(),
            Self::Span(_, last) => Some(*last),
        }
    }

    /// Tells whether a position, which must be between characters, is in the set.
    pub(super) fn contains(&self, position: usize) -> bool {
        match self {
            Self::List(positions) => positions.binary_search(&position).is_ok(),
            Self::Span(first, last) => (*first..=*last).contains(&position),
        }
    }

    /// Returns the first position of the set at or after `from`.
    pub(super) fn first_from(&self, subject: &[u8], from: usize) -> Option<usize> {
        match self {
            Self::List(positions) => positions.get(positions.partition_point(|&at| at < from)).copied(),
            Self::Span(first, last) => {
                let mut position = from.max(*first);
                while position <= *last {
                    if subject.get(position).is_none_or(|byte| byte & 0xC0 != 0x80) {
                        return Some(position);
                    }
                    position += 1;
                }
                None
            }
        }
    }
}
