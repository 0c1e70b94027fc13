//! Recording the stages of the script's own pipelines: what they were and how they ended.
//!
//! A command that is recorded gets a [`StageRecorder`] as an argument. Each function that learns something about the command
//! fills it in. It is never passed on to the commands within that command.

use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_lang::ast::{Command, CommandKind, Pipeline};
use haft_process::{Exit, Signals, Usage};
use haft_text::Bytes;

use super::outcome::{Stage, StageKind};
use crate::execute::{CommandArguments, CommandTarget, ExecutionParameters};
use crate::flow::{Flow, Unwind};
use crate::io::Written;
use crate::session::Session;

/// The most bytes of a compound command's text that are recorded.
const MAX_COMPOUND_TEXT_BYTES: usize = 200;

/// The most bytes of a command's arguments that are recorded.
const MAX_STAGE_ARGV_BYTES: usize = 64 * 1024;

/// The most arguments of a command that are recorded.
const MAX_STAGE_ARGUMENTS: usize = 4096;

/// What is known of a stage so far.
#[derive(Clone, Debug)]
pub(crate) struct StageRecorder {
    argv: Vec<Bytes>,
    argv_truncated: bool,
    kind: StageKind,
    started: Instant,
    ended: Option<(Exit, Instant)>,
    usage: Option<Usage>,
    /// Counts the bytes that the stage writes to the next one.
    written: Option<Arc<Written>>,
}

impl StageRecorder {
    /// A recorder for a command that is about to be expanded.
    pub(crate) fn new(session: &Session, command: &Command) -> Box<StageRecorder> {
        let (kind, argv) = match &command.kind {
            CommandKind::Simple(simple) if simple.arguments.is_empty() => (StageKind::Assignment, Vec::new()),
            CommandKind::Simple(_) => (StageKind::Unexpanded, vec![shown_text(session, command)]),
            _ => (StageKind::Compound, vec![shown_text(session, command)]),
        };
        Box::new(StageRecorder {
            argv,
            argv_truncated: false,
            kind,
            started: Instant::now(),
            ended: None,
            usage: None,
            written: None,
        })
    }

    /// Records how many bytes the stage writes to the next one.
    pub(crate) fn count(&mut self, written: Arc<Written>) {
        self.written = Some(written);
    }

    /// Records what the command was resolved to.
    pub(crate) fn identify(&mut self, target: &CommandTarget, words: &[Bytes]) {
        (self.argv, self.argv_truncated) = truncated_argv(words);
        self.kind = match target {
            CommandTarget::Function(_) => StageKind::Function,
            CommandTarget::Builtin(_) => StageKind::Builtin,
            CommandTarget::Added(_) => StageKind::Command,
            CommandTarget::Script(_) => StageKind::Script,
            CommandTarget::External => StageKind::External,
            CommandTarget::Tool => StageKind::Tool,
        };
    }

    /// Records how a program ended.
    pub(crate) fn end(&mut self, exit: Exit, usage: Usage) {
        self.ended = Some((exit, Instant::now()));
        self.usage = Some(usage);
    }

    /// Records the status of work in this process, unless more is known.
    pub(crate) fn end_with(&mut self, status: i32) {
        if self.ended.is_none() {
            self.ended = Some((Exit::Code(status), Instant::now()));
        }
    }

    fn into_stage(self, status: i32) -> Stage {
        let (exit, at) = self.ended.unwrap_or_else(|| (Exit::Code(status), Instant::now()));
        Stage {
            pipeline: 0,
            argv: self.argv,
            argv_truncated: self.argv_truncated,
            kind: self.kind,
            exit,
            bytes_out: self.written.and_then(|written| written.known()),
            wall: at.checked_duration_since(self.started).unwrap_or(Duration::ZERO),
            usage: self.usage,
            closed_by: None,
        }
    }
}

/// The words that are recorded, and whether there are more.
fn truncated_argv(words: &[Bytes]) -> (Vec<Bytes>, bool) {
    let mut left = MAX_STAGE_ARGV_BYTES;
    let mut kept = Vec::with_capacity(words.len().min(MAX_STAGE_ARGUMENTS));
    for word in words.iter().take(MAX_STAGE_ARGUMENTS) {
        if word.len() > left {
            kept.push(Bytes::from(&word[..left]));
            return (kept, true);
        }
        left -= word.len();
        kept.push(word.clone());
    }
    let truncated = kept.len() < words.len();
    (kept, truncated)
}

/// The text of a command, or its beginning.
fn shown_text(session: &Session, command: &Command) -> Bytes {
    let text = session.text_of(command.span);
    let end = text.len().min(MAX_COMPOUND_TEXT_BYTES);
    Bytes::from(&text[..end])
}

impl Session {
    /// Runs a pipeline of the script itself and records its stages.
    #[inline(never)]
    pub(crate) fn run_recorded(&mut self, pipeline: &Pipeline, parameters: ExecutionParameters) -> Flow {
        self.processes.set_recording(false);
        if let Some(run) = self.processes.run() {
            run.record().data = None;
        }
        let before = self.count_output();
        let mut record = pipeline.stages.first().map(|first| StageRecorder::new(self, first));
        let result = self.run_pipeline_recording(pipeline, parameters, &mut record);
        if let Some(record) = record {
            let status = match result {
                Ok(_) => self.parameters.pipe_status().last().copied().unwrap_or(0),
                Err(unwind) => unwind.status(),
            };
            self.record(vec![(record, status)]);
        }
        self.record_output(pipeline, before);
        self.processes.set_recording(true);
        result
    }

    /// How many bytes were written to the run's standard output until now, if it is captured separately.
    fn count_output(&mut self) -> Option<u64> {
        let run = self.processes.run().cloned()?;
        let (captured, pipe) = (run.captured.stdout.as_ref()?, run.stdout.upgrade()?);
        let _ = self.flush();
        let own = self.open_files.get(1)?.descriptor()?;
        (own.as_raw_fd() == pipe.as_raw_fd()).then(|| captured.written_through(pipe.as_fd()))?
    }

    /// Attributes what a pipeline wrote to the run's standard output to its last stage, unless that stage redirects its
    /// output or something in the background may have written too.
    fn record_output(&mut self, pipeline: &Pipeline, before: Option<u64>) {
        let redirected = pipeline.stages.last().is_some_and(|last| !last.redirects.is_empty());
        let (Some(before), false, true) = (before, redirected, self.runs_nothing_else()) else { return };
        let Some(now) = self.count_output() else { return };
        if let Some(run) = self.processes.run()
            && let Some(last) = run.record().stages.back_mut()
        {
            last.bytes_out = Some(now - before);
        }
    }

    /// Whether neither jobs nor process substitutions nor orphans run.
    fn runs_nothing_else(&self) -> bool {
        self.jobs.is_empty()
            && self.processes.substitutions().is_empty()
            && self.processes.orphans().is_empty()
    }

    /// Adds the stages of a pipeline to the record of the run.
    pub(crate) fn record(&mut self, records: Vec<(Box<StageRecorder>, i32)>) {
        let Some(run) = self.processes.run() else { return };
        let mut stages: Vec<Stage> =
            records.into_iter().map(|(record, status)| record.into_stage(status)).collect();
        for index in 1..stages.len() {
            let stage = &mut stages[index - 1];
            if matches!(stage.exit, Exit::Signal(Signals::PIPE))
                || (stage.usage.is_none() && stage.exit == Exit::Code(128 + Signals::PIPE))
            {
                stage.exit = Exit::Signal(Signals::PIPE);
                stage.closed_by = Some(index);
            }
        }
        run.record().add(stages);
    }

    /// Runs what a name was resolved to, and records what that is and how it ended.
    #[inline(never)]
    pub(crate) fn run_recorded_target(
        &mut self,
        target: CommandTarget,
        arguments: &CommandArguments,
        assigned: &[(Bytes, Bytes)],
        record: &mut StageRecorder,
    ) -> Flow {
        let parameters = ExecutionParameters::default();
        record.identify(&target, &arguments.words);
        if matches!(target, CommandTarget::External) {
            return self.invoke_target(target, arguments, assigned, parameters, Some(record));
        }
        let result = self.invoke_target(target, arguments, assigned, parameters, None);
        match result {
            Err(Unwind::Signal(signal)) => record.end(Exit::Signal(signal), Usage::default()),
            Err(unwind) => record.end_with(unwind.status()),
            Ok(status) => record.end_with(status),
        }
        result
    }
}
