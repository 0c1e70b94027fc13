//! Results of runs as records.

use haft_kernel::run::{Outcome, Stage, Status};
use haft_overlay::{Change, ChangeCounts};
use haft_process::capture::Output;
use haft_process::{Captured, Exit, JobOutcome, Tree, Usage, signal_name};
use haft_records::{ChangedFiles, OutputReference, ProcessCounts, RunEnd, StageEnd};

use crate::commands::changes::report::RunOverlayReport;

/// The most changed paths that a record names.
const MAX_NAMED_PATHS: usize = 50;

/// The end of a script.
pub(super) fn script_end(outcome: &Outcome) -> RunEnd {
    let signal = match outcome.status {
        Status::Signal(number) => Some(signal_text(number)),
        _ => None,
    };
    let limit = outcome.status.limit_hit().map(|hit| hit.kind()).or(outcome.limits.hit());
    RunEnd {
        code: outcome.code(),
        signal,
        timed_out: outcome.status == Status::TimedOut,
        cancelled: outcome.status == Status::Cancelled,
        limit: limit.map(|limit| limit.name().to_owned()),
        duration: outcome.duration.as_secs_f64(),
        outputs: outputs(&outcome.captured),
        tree: Some(counts(&outcome.tree)),
        ..RunEnd::default()
    }
}

/// The end of a program.
pub(super) fn program_end(outcome: &JobOutcome) -> RunEnd {
    RunEnd {
        code: outcome.code(),
        signal: signal(outcome.exit),
        timed_out: outcome.timed_out,
        cancelled: outcome.cancelled,
        limit: outcome.limits.hit().map(|limit| limit.name().to_owned()),
        duration: outcome.duration.as_secs_f64(),
        outputs: outputs(&outcome.captured),
        tree: Some(counts(&outcome.tree)),
        ..RunEnd::default()
    }
}

/// A stage of a script.
pub(super) fn script_stage(stage: &Stage) -> StageEnd {
    StageEnd {
        pipeline: stage.pipeline,
        kind: stage.kind.name().to_owned(),
        argv: stage.argv.iter().map(|word| word.lossy().into_owned()).collect(),
        truncated: stage.argv_truncated,
        wall: stage.wall.as_secs_f64(),
        bytes_out: stage.bytes_out,
        ..ended(stage.exit, stage.usage)
    }
}

/// The only stage of a program.
pub(super) fn program_stage(outcome: &JobOutcome) -> StageEnd {
    StageEnd {
        kind: "external".to_owned(),
        argv: outcome.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        wall: outcome.wall.as_secs_f64(),
        bytes_out: outcome.captured.stdout.as_ref().map(Output::total_bytes),
        ..ended(outcome.exit, Some(outcome.usage))
    }
}

fn ended(exit: Exit, usage: Option<Usage>) -> StageEnd {
    StageEnd {
        code: exit.code(),
        signal: signal(exit),
        cpu: usage.map(|usage| (usage.user + usage.system).as_secs_f64()),
        max_rss: usage.map(|usage| usage.max_rss),
        ..StageEnd::default()
    }
}

fn signal(exit: Exit) -> Option<String> {
    match exit {
        Exit::Signal(number) => Some(signal_text(number)),
        Exit::Code(_) => None,
    }
}

fn signal_text(number: i32) -> String {
    signal_name(number).map_or(number.to_string(), |name| format!("SIG{name}"))
}

/// The outputs that are not empty.
fn outputs(captured: &Captured) -> Vec<OutputReference> {
    let streams = [
        ("stdout", &captured.stdout),
        ("stderr", &captured.stderr),
        ("output", &captured.output),
        ("late", &captured.late),
    ];
    let reference = |(stream, output): (&str, &Option<Output>)| {
        let output = output.as_ref().filter(|output| output.total_bytes() > 0)?;
        let (stream, id, bytes) = (stream.to_owned(), output.id().to_string(), output.total_bytes());
        Some(OutputReference { stream, id, bytes })
    };
    streams.into_iter().filter_map(reference).collect()
}

/// The files that differ in an overlay. Names the first of them.
pub(crate) fn changed_files(overlay: &str, changes: &[Change]) -> ChangedFiles {
    let paths = changes.iter().take(MAX_NAMED_PATHS).map(|change| change.path.display().to_string());
    ChangedFiles { overlay: overlay.to_owned(), count: changes.len() as u64, paths: paths.collect() }
}

/// The same from the result of a run.
pub(crate) fn overlay_changes(overlay: &RunOverlayReport) -> ChangedFiles {
    let ChangeCounts { added, modified, attributes, deleted, renamed, .. } = &overlay.counts;
    let count = (added + modified + attributes + deleted + renamed) as u64;
    ChangedFiles { count, ..changed_files(&overlay.id, &overlay.first) }
}

fn counts(tree: &Tree) -> ProcessCounts {
    ProcessCounts {
        started: tree.started as u64,
        killed: tree.killed as u64,
        survivors: tree.survivors.count().map(|count| count as u64),
    }
}
