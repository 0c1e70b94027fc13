//! Moving descriptors to the numbers that a program expects.

use std::os::fd::RawFd;

/// One descriptor to duplicate onto another number.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescriptorMove {
    /// The number in the parent.
    pub(super) from: RawFd,
    /// The number in the program.
    pub(super) to: RawFd,
    /// Whether `from` is also the target of another move, so that it must be duplicated to a free number first.
    pub(super) lift: bool,
}

/// All moves for one exec, and the descriptors to close afterwards.
#[derive(Debug)]
pub(super) struct DescriptorMoves {
    pub(super) moves: Vec<DescriptorMove>,
    /// Ranges of numbers that are not the target of a move, both ends included.
    pub(super) close: Vec<(u32, u32)>,
    /// The lowest number above all targets and above standard error.
    pub(super) floor: RawFd,
}

impl DescriptorMoves {
    /// Plans the moves for pairs of the parent's number and the program's number.
    pub(super) fn new(descriptors: &[(RawFd, RawFd)]) -> DescriptorMoves {
        let is_target = |number: RawFd| descriptors.iter().any(|&(_, to)| to == number);
        let moves = descriptors
            .iter()
            .map(|&(from, to)| DescriptorMove { from, to, lift: from != to && is_target(from) })
            .collect();
        let highest = descriptors.iter().map(|&(_, to)| to).max().unwrap_or(2).max(2);
        DescriptorMoves { moves, close: ranges_between(descriptors), floor: highest + 1 }
    }
}

/// Returns the ranges of numbers that are not the target of any pair.
fn ranges_between(descriptors: &[(RawFd, RawFd)]) -> Vec<(u32, u32)> {
    let mut targets: Vec<u32> = descriptors.iter().map(|&(_, to)| to.cast_unsigned()).collect();
    targets.sort_unstable();
    targets.dedup();
    let mut ranges = Vec::with_capacity(2);
    let mut next = 0;
    for target in targets {
        if target > next {
            ranges.push((next, target - 1));
        }
        next = target + 1;
    }
    ranges.push((next, u32::MAX));
    ranges
}
