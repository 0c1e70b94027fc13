//! Changes, and hunks of changes with context.

use haft_kernel::Unwind;

use super::DiffSettings;
use super::algorithm::SequenceComparison;
use super::lines::{classes, is_blank};
use super::{boundaries, confusing};

/// A change: lines of the first file that lines of the second replace.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineChange {
    pub(super) first: usize,
    pub(super) deleted: usize,
    pub(super) second: usize,
    pub(super) inserted: usize,
    /// Whether it changes only lines that `-B` ignores.
    pub(super) is_ignored: bool,
}

/// Finds the changes between two files.
pub(super) fn changes(
    files: [&[&[u8]]; 2],
    settings: &DiffSettings,
    check: &dyn Fn() -> Result<(), Unwind>,
) -> Result<Vec<LineChange>, Unwind> {
    let (start, ends) = compared_region(files, settings.context);
    let region = [&files[0][start..ends[0]], &files[1][start..ends[1]]];
    let (numbers, count) = classes(region, settings.whitespace, settings.ignores_case);
    let counts = [count_classes(&numbers[0], count), count_classes(&numbers[1], count)];
    let discarded =
        [confusing::discarded(&numbers[0], &counts[1]), confusing::discarded(&numbers[1], &counts[0])];
    let kept = [0, 1].map(|file| -> Vec<usize> {
        (0..numbers[file].len()).filter(|line| !discarded[file][*line]).collect()
    });
    let sequences =
        [0, 1].map(|file| -> Vec<usize> { kept[file].iter().map(|line| numbers[file][*line]).collect() });
    let found = SequenceComparison::new([&sequences[0], &sequences[1]], check).compare()?;
    let mut changed = discarded;
    for file in [0, 1] {
        for (line, is_changed) in kept[file].iter().zip(&found[file]) {
            changed[file][*line] = *is_changed;
        }
    }
    boundaries::shift(&mut changed, [&numbers[0], &numbers[1]]);
    let mut list = script(&changed, start);
    if settings.ignores_blank_lines {
        for change in &mut list {
            let deleted = &files[0][change.first..change.first + change.deleted];
            let inserted = &files[1][change.second..change.second + change.inserted];
            change.is_ignored =
                deleted.iter().chain(inserted).all(|line| is_blank(line, settings.whitespace));
        }
    }
    Ok(list)
}

/// The part that is compared: without equal lines at both ends, except for some lines of context.
fn compared_region(files: [&[&[u8]]; 2], context: usize) -> (usize, [usize; 2]) {
    let [first, second] = files;
    let prefix = first.iter().zip(second).take_while(|(one, two)| one == two).count();
    let is_complete = |lines: &[&[u8]]| lines.last().is_none_or(|line| line.ends_with(b"\n"));
    let suffix = match is_complete(first) == is_complete(second) {
        true => {
            let pairs = first[prefix..].iter().rev().zip(second[prefix..].iter().rev());
            pairs.take_while(|(one, two)| one == two).count()
        }
        false => 0,
    };
    let suffix = suffix.saturating_sub(context);
    (prefix.saturating_sub(context), [first.len() - suffix, second.len() - suffix])
}

fn count_classes(numbers: &[usize], count: usize) -> Vec<usize> {
    let mut counts = vec![0; count];
    numbers.iter().for_each(|number| counts[*number] += 1);
    counts
}

/// The changes that flags of lines mean.
fn script(changed: &[Vec<bool>; 2], start: usize) -> Vec<LineChange> {
    let is_changed = |file: usize, line: usize| changed[file].get(line).copied().unwrap_or(false);
    let (mut first, mut second) = (0, 0);
    let mut list = Vec::new();
    while first < changed[0].len() || second < changed[1].len() {
        if is_changed(0, first) || is_changed(1, second) {
            let (from, to) = (first, second);
            while is_changed(0, first) {
                first += 1;
            }
            while is_changed(1, second) {
                second += 1;
            }
            list.push(LineChange {
                first: start + from,
                deleted: first - from,
                second: start + to,
                inserted: second - to,
                is_ignored: false,
            });
        }
        first += 1;
        second += 1;
    }
    list
}

/// Groups changes whose context touches. Groups in which all changes are ignored are left out.
pub(super) fn hunks(changes: &[LineChange], context: usize) -> Vec<&[LineChange]> {
    let mut hunks = Vec::new();
    let mut start = 0;
    while start < changes.len() {
        let mut end = start + 1;
        while let Some(next) = changes.get(end) {
            let before = &changes[end - 1];
            let threshold = if next.is_ignored { context } else { 2 * context + 1 };
            if next.first - (before.first + before.deleted) >= threshold {
                break;
            }
            end += 1;
        }
        let hunk = &changes[start..end];
        if hunk.iter().any(|change| !change.is_ignored) {
            hunks.push(hunk);
        }
        start = end;
    }
    hunks
}
