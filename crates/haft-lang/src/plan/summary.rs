//! Summarizes the files of a plan.

use std::collections::HashSet;

use super::directory::from_start;
use super::show;
use super::step::{FileSummary, FileUse, FileUseMode, PlanStep, StepAction, UsedFile};

/// Paths without content: standard streams and null devices.
const STREAMS: &[&[u8]] = &[
    b"/dev/null",
    b"/dev/zero",
    b"/dev/full",
    b"/dev/tty",
    b"/dev/stdin",
    b"/dev/stdout",
    b"/dev/stderr",
    b"/dev/random",
    b"/dev/urandom",
];

/// Collects the files that steps use.
pub(super) fn summary(steps: &[PlanStep]) -> FileSummary {
    let mut summary = FileSummary { complete: true, ..FileSummary::default() };
    let mut seen = HashSet::new();
    for step in steps {
        summary.complete &= step.files_complete && step.opaque.is_empty();
        for file in step.files.iter().filter(|file| !is_stream(file)) {
            let path = from_start(step.directory.as_ref(), &file.target);
            let mut add = |list: &mut Vec<UsedFile>, kind: u8| {
                if seen.insert((kind, show::source(&path), file.scope)) {
                    list.push(UsedFile { target: path.clone(), scope: file.scope });
                }
            };
            match file.mode {
                FileUseMode::Read => add(&mut summary.reads, 0),
                FileUseMode::Write | FileUseMode::Append | FileUseMode::Attributes => {
                    add(&mut summary.writes, 1);
                }
                FileUseMode::ReadWrite => {
                    add(&mut summary.reads, 0);
                    add(&mut summary.writes, 1);
                }
                FileUseMode::Delete => add(&mut summary.deletes, 2),
                FileUseMode::HereDocument
                | FileUseMode::HereString
                | FileUseMode::Duplicate
                | FileUseMode::Close => {}
            }
        }
    }
    summary
}

fn is_stream(file: &FileUse) -> bool {
    file.target.literal().is_some_and(|path| STREAMS.contains(&path) || path.starts_with(b"/dev/fd/"))
        || file.target.pieces.iter().any(
            |piece| matches!(piece, super::WordPiece::Dynamic { by, .. } if *by == super::Expansion::Process),
        )
}

impl PlanStep {
    /// Whether the step calls a function of the program.
    pub(super) fn is_function_call(&self) -> bool {
        matches!(self.action, StepAction::Function { .. })
    }
}
