//! Whether source and destination of a copy are the same file.

use haft_fs::Metadata;

use super::{CopyMethod, CopyOptions, CopyStep, Dereference, is_same_name};
use crate::text::streams::TextRun;

/// The relation between source and destination.
pub(super) enum Sameness {
    Different,
    Same,
    /// They are the same, and that is the result.
    NothingToDo(bool),
}

/// Compares source and destination.
pub(super) fn compare(
    run: &TextRun<'_, '_>,
    options: CopyOptions,
    step: &CopyStep<'_>,
    existing: &Metadata,
) -> Sameness {
    let source = step.source_metadata;
    let same = source.same_file(existing);
    let has_same_name = || is_same_name(run, step.source, step.destination);
    if same && options.method == CopyMethod::HardLink {
        return Sameness::NothingToDo(true);
    }
    let moves = options.method == CopyMethod::Move;
    let (from, to) = if options.dereference == Dereference::Never {
        if source.is_symlink() && existing.is_symlink() {
            return match has_same_name() {
                true => Sameness::Same,
                false if same && moves => Sameness::Same,
                false if same => Sameness::NothingToDo(true),
                false => Sameness::Different,
            };
        }
        (source, *existing)
    } else {
        let (true, Ok(from), Ok(to)) = (same, run.lstat(step.source), run.lstat(step.destination)) else {
            return Sameness::Different;
        };
        if from.is_symlink() && to.is_symlink() && options.remove_destination {
            return Sameness::Different;
        }
        (from, to)
    };
    if moves || options.remove_destination {
        if to.is_symlink() {
            return Sameness::Different;
        }
        if from.same_file(&to) && to.links > 1 && !has_same_name() {
            return if moves { Sameness::Same } else { Sameness::Different };
        }
    }
    compare_targets(run, options, step, [from, to])
}

/// Compares the files that symbolic links lead to.
fn compare_targets(
    run: &TextRun<'_, '_>,
    options: CopyOptions,
    step: &CopyStep<'_>,
    [from, to]: [Metadata; 2],
) -> Sameness {
    if !from.is_symlink() && !to.is_symlink() && !from.same_file(&to) {
        return Sameness::Different;
    }
    if options.method == CopyMethod::SymbolicLink && to.is_symlink() {
        return Sameness::Different;
    }
    if options.dereference != Dereference::Never {
        return Sameness::Same;
    }
    let target = |metadata: Metadata, name: &[u8]| match metadata.is_symlink() {
        true => run.stat(name).ok(),
        false => Some(metadata),
    };
    match (target(from, step.source), target(to, step.destination)) {
        (Some(one), Some(other)) if one.same_file(&other) => match options.method {
            CopyMethod::HardLink if to.is_symlink() => Sameness::Different,
            CopyMethod::HardLink => Sameness::NothingToDo(true),
            _ => Sameness::Same,
        },
        _ => Sameness::Different,
    }
}
