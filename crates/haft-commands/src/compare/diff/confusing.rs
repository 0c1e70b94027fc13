//! Leaves out lines that would only confuse the comparison.
//!
//! A line without an equal in the other file is certainly changed. A line with very many equals is left out provisionally, and stays left
//! out only if it is inside of a run of lines that are certainly changed.

/// Whether a line takes part in the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineRole {
    Compared,
    Discarded,
    Provisional,
}

/// Lines from the ends of a run after which provisional lines may stay discarded.
const SAFE_DISTANCE: usize = 8;
/// Certainly changed lines in a row after which they may.
const SAFE_ROW: usize = 3;

/// Returns for each line of a file whether it is left out. `counts` has the number of equal lines in the other file per class.
pub(super) fn discarded(classes: &[usize], counts: &[usize]) -> Vec<bool> {
    let many = many(classes.len());
    let mut roles: Vec<LineRole> = classes
        .iter()
        .map(|class| match counts[*class] {
            0 => LineRole::Discarded,
            count if count > many => LineRole::Provisional,
            _ => LineRole::Compared,
        })
        .collect();
    let mut at = 0;
    while at < roles.len() {
        match roles[at] {
            LineRole::Provisional => roles[at] = LineRole::Compared,
            LineRole::Discarded => {
                let end = trim_run(&mut roles, at);
                settle_run(&mut roles[at..end]);
                at = end;
                continue;
            }
            LineRole::Compared => {}
        }
        at += 1;
    }
    roles.iter().map(|role| *role == LineRole::Discarded || *role == LineRole::Provisional).collect()
}

/// The number of equal lines above which a line is provisional. It grows with the root of the number of lines.
fn many(lines: usize) -> usize {
    let mut many = 5;
    let mut rest = lines / 64;
    loop {
        rest >>= 2;
        if rest == 0 {
            return many;
        }
        many *= 2;
    }
}

/// Finds the end of the run of discarded lines at `start`, without provisional lines at its end, which are compared.
fn trim_run(roles: &mut [LineRole], start: usize) -> usize {
    let length = roles[start..].iter().take_while(|role| **role != LineRole::Compared).count();
    let mut end = start + length;
    while roles[end - 1] == LineRole::Provisional {
        end -= 1;
        roles[end] = LineRole::Compared;
    }
    end
}

/// Decides which provisional lines of a run are compared. The first and the last line of the run are not provisional.
fn settle_run(run: &mut [LineRole]) {
    let provisional = run.iter().filter(|role| **role == LineRole::Provisional).count();
    if provisional * 4 > run.len() {
        run.iter_mut()
            .filter(|role| **role == LineRole::Provisional)
            .for_each(|role| *role = LineRole::Compared);
        return;
    }
    cancel_long_rows(run);
    cancel_near_start(run.iter_mut());
    cancel_near_start(run.iter_mut().rev());
}

/// Compares provisional lines that are many in a row, as measured by the root of the length of the run.
fn cancel_long_rows(run: &mut [LineRole]) {
    let mut least = 1;
    let mut rest = run.len() >> 2;
    loop {
        rest >>= 2;
        if rest == 0 {
            break;
        }
        least <<= 1;
    }
    least += 1;
    let mut at = 0;
    while at < run.len() {
        let row = run[at..].iter().take_while(|role| **role == LineRole::Provisional).count();
        if row >= least {
            run[at..at + row].fill(LineRole::Compared);
        }
        at += row.max(1);
    }
}

/// Compares provisional lines up to the first place that is safe.
fn cancel_near_start<'a>(run: impl Iterator<Item = &'a mut LineRole>) {
    let mut row = 0;
    for (distance, role) in run.enumerate() {
        if distance >= SAFE_DISTANCE && *role == LineRole::Discarded {
            return;
        }
        match role {
            LineRole::Discarded => row += 1,
            _ => {
                *role = LineRole::Compared;
                row = 0;
            }
        }
        if row == SAFE_ROW {
            return;
        }
    }
}
