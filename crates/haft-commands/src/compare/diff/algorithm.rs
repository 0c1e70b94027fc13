//! Finds the lines that differ: Myers' algorithm, from both ends, in linear space.

use haft_kernel::Unwind;

/// The cost from which a shortest edit script is no longer looked for.
const LEAST_EXPENSIVE: usize = 4096;

/// A comparison of two sequences.
pub(super) struct SequenceComparison<'a> {
    sequences: [&'a [usize]; 2],
    /// The furthest point per diagonal, from the start and from the end. A diagonal is the difference of the positions.
    forward: Vec<isize>,
    backward: Vec<isize>,
    /// The index of diagonal 0.
    zero: isize,
    too_expensive: usize,
    /// Whether each element was removed from the first, or inserted in the second.
    pub(super) changed: [Vec<bool>; 2],
    check: &'a dyn Fn() -> Result<(), Unwind>,
}

/// A part of both sequences.
#[derive(Clone, Copy)]
struct Region {
    x: (isize, isize),
    y: (isize, isize),
}

impl<'a> SequenceComparison<'a> {
    pub(super) fn new(sequences: [&'a [usize]; 2], check: &'a dyn Fn() -> Result<(), Unwind>) -> Self {
        let [first, second] = sequences.map(<[usize]>::len);
        let diagonals = first + second + 3;
        let mut too_expensive = 1;
        let mut rest = diagonals;
        while rest != 0 {
            rest >>= 2;
            too_expensive <<= 1;
        }
        Self {
            sequences,
            forward: vec![0; diagonals + 1],
            backward: vec![0; diagonals + 1],
            zero: isize::try_from(second + 1).unwrap_or(isize::MAX),
            too_expensive: LEAST_EXPENSIVE.max(too_expensive),
            changed: [vec![false; first], vec![false; second]],
            check,
        }
    }

    /// Compares the sequences.
    pub(super) fn compare(mut self) -> Result<[Vec<bool>; 2], Unwind> {
        let length = |index: usize| isize::try_from(self.sequences[index].len()).unwrap_or(isize::MAX);
        let mut regions = vec![Region { x: (0, length(0)), y: (0, length(1)) }];
        while let Some(region) = regions.pop() {
            (self.check)()?;
            let Region { x, y } = self.trimmed(region);
            if x.0 == x.1 {
                mark(&mut self.changed[1], y);
            } else if y.0 == y.1 {
                mark(&mut self.changed[0], x);
            } else {
                let (middle_x, middle_y) = self.middle(Region { x, y })?;
                regions.push(Region { x: (middle_x, x.1), y: (middle_y, y.1) });
                regions.push(Region { x: (x.0, middle_x), y: (y.0, middle_y) });
            }
        }
        Ok(self.changed)
    }

    fn equal(&self, x: isize, y: isize) -> bool {
        self.sequences[0][x.unsigned_abs()] == self.sequences[1][y.unsigned_abs()]
    }

    /// Leaves out equal elements at both ends.
    fn trimmed(&self, region: Region) -> Region {
        let Region { mut x, mut y } = region;
        while x.0 < x.1 && y.0 < y.1 && self.equal(x.0, y.0) {
            x.0 += 1;
            y.0 += 1;
        }
        while x.0 < x.1 && y.0 < y.1 && self.equal(x.1 - 1, y.1 - 1) {
            x.1 -= 1;
            y.1 -= 1;
        }
        Region { x, y }
    }

    fn index(&self, diagonal: isize) -> usize {
        (self.zero + diagonal).unsigned_abs()
    }

    /// Finds a point in the middle of a shortest edit script, where the searches from both ends meet.
    fn middle(&mut self, region: Region) -> Result<(isize, isize), Unwind> {
        let Region { x, y } = region;
        let (least, most) = (x.0 - y.1, x.1 - y.0);
        let (first, last) = (x.0 - y.0, x.1 - y.1);
        let mut ahead = (first, first);
        let mut back = (last, last);
        let is_odd = (first - last) & 1 != 0;
        let (first_index, last_index) = (self.index(first), self.index(last));
        self.forward[first_index] = x.0;
        self.backward[last_index] = x.1;
        for cost in 1.. {
            (self.check)()?;
            widen(&mut ahead, (least, most), |diagonal| {
                let index = (self.zero + diagonal).unsigned_abs();
                self.forward[index] = -1;
            });
            let mut diagonal = ahead.1;
            while diagonal >= ahead.0 {
                let point = self.step_forward(region, diagonal);
                if is_odd
                    && (back.0..=back.1).contains(&diagonal)
                    && self.backward[self.index(diagonal)] <= point
                {
                    return Ok((point, point - diagonal));
                }
                diagonal -= 2;
            }
            widen(&mut back, (least, most), |diagonal| {
                let index = (self.zero + diagonal).unsigned_abs();
                self.backward[index] = isize::MAX;
            });
            let mut diagonal = back.1;
            while diagonal >= back.0 {
                let point = self.step_backward(region, diagonal);
                if !is_odd
                    && (ahead.0..=ahead.1).contains(&diagonal)
                    && point <= self.forward[self.index(diagonal)]
                {
                    return Ok((point, point - diagonal));
                }
                diagonal -= 2;
            }
            if cost >= self.too_expensive {
                return Ok(self.best_so_far(region, ahead, back));
            }
        }
        Ok((x.0, y.0))
    }

    fn step_forward(&mut self, region: Region, diagonal: isize) -> isize {
        let (below, above) = (self.forward[self.index(diagonal - 1)], self.forward[self.index(diagonal + 1)]);
        let mut x = if below < above { above } else { below + 1 };
        while x < region.x.1 && x - diagonal < region.y.1 && self.equal(x, x - diagonal) {
            x += 1;
        }
        let index = self.index(diagonal);
        self.forward[index] = x;
        x
    }

    fn step_backward(&mut self, region: Region, diagonal: isize) -> isize {
        let (below, above) =
            (self.backward[self.index(diagonal - 1)], self.backward[self.index(diagonal + 1)]);
        let mut x = if below < above { below } else { above - 1 };
        while region.x.0 < x && region.y.0 < x - diagonal && self.equal(x - 1, x - 1 - diagonal) {
            x -= 1;
        }
        let index = self.index(diagonal);
        self.backward[index] = x;
        x
    }

    /// The point that got furthest, when the search is given up.
    fn best_so_far(&self, region: Region, ahead: (isize, isize), back: (isize, isize)) -> (isize, isize) {
        let Region { x, y } = region;
        let clamp = |point: isize, diagonal: isize, forward: bool| {
            let x_point = if forward { point.min(x.1) } else { point.max(x.0) };
            let y_point = x_point - diagonal;
            match forward {
                true if y_point > y.1 => (y.1 + diagonal, y.1),
                false if y_point < y.0 => (y.0 + diagonal, y.0),
                _ => (x_point, y_point),
            }
        };
        let mut best_forward = (-1, (x.0, y.0));
        for diagonal in (ahead.0..=ahead.1).rev().step_by(2) {
            let point = clamp(self.forward[self.index(diagonal)], diagonal, true);
            if point.0 + point.1 > best_forward.0 {
                best_forward = (point.0 + point.1, point);
            }
        }
        let mut best_backward = (isize::MAX, (x.1, y.1));
        for diagonal in (back.0..=back.1).rev().step_by(2) {
            let point = clamp(self.backward[self.index(diagonal)], diagonal, false);
            if point.0 + point.1 < best_backward.0 {
                best_backward = (point.0 + point.1, point);
            }
        }
        match (x.1 + y.1) - best_backward.0 < best_forward.0 - (x.0 + y.0) {
            true => best_forward.1,
            false => best_backward.1,
        }
    }
}

/// Makes a range of diagonals wider by one on each side, or narrower where it is at its limit. `set` gets the diagonals beyond.
fn widen(range: &mut (isize, isize), limits: (isize, isize), mut set: impl FnMut(isize)) {
    if range.0 > limits.0 {
        range.0 -= 1;
        set(range.0 - 1);
    } else {
        range.0 += 1;
    }
    if range.1 < limits.1 {
        range.1 += 1;
        set(range.1 + 1);
    } else {
        range.1 -= 1;
    }
}

fn mark(changed: &mut [bool], range: (isize, isize)) {
    changed[range.0.unsigned_abs()..range.1.unsigned_abs()].fill(true);
}
