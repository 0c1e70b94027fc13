//! Taking note of what the stages of the script's own pipelines were, and how they ended.
//!
//! A session that is asked to record hands a [`Note`] to the command it is about to run. Whoever learns something about the
//! command fills it in; it is never handed on to what the command itself runs.

use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_lang::ast::{Command, CommandKind, Pipeline};
use haft_process::{Exit, Usage};
use haft_text::Bytes;

use super::outcome::{Stage, StageKind};
use crate::execute::{Arguments, Target};
use crate::flow::{Flow, Unwind};
use crate::io::Written;
use crate::session::Session;

/// How much of the text of a command that is no simple one is noted.
const SHOWN: usize = 200;
/// How much of the arguments of a command is noted, in bytes and in words.
const KEPT: (usize, usize) = (64 * 1024, 4096);
/// The signal that a write to a closed pipe is answered with.
const BROKEN_PIPE: i32 = 13;

/// What is known of a stage so far.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    argv: Vec<Bytes>,
    argv_truncated: bool,
    kind: StageKind,
    started: Instant,
    ended: Option<(Exit, Instant)>,
    usage: Option<Usage>,
    /// What counts the bytes that it writes to the next stage.
    written: Option<Arc<Written>>,
}

impl Note {
    /// Has its output counted.
    pub(crate) fn count(&mut self, written: Arc<Written>) {
        self.written = Some(written);
    }

    /// A note for a command that is about to be looked at.
    pub(crate) fn new(session: &Session, command: &Command) -> Box<Note> {
        let (kind, argv) = match &command.kind {
            CommandKind::Simple(simple) if simple.arguments.is_empty() => (StageKind::Assignment, Vec::new()),
            CommandKind::Simple(_) => (StageKind::Unexpanded, vec![shown(session, command)]),
            _ => (StageKind::Compound, vec![shown(session, command)]),
        };
        Box::new(Note {
            argv,
            argv_truncated: false,
            kind,
            started: Instant::now(),
            ended: None,
            usage: None,
            written: None,
        })
    }

    /// Notes what the command was found to be.
    pub(crate) fn identify(&mut self, target: &Target, words: &[Bytes]) {
        (self.argv, self.argv_truncated) = kept(words);
        self.kind = match target {
            Target::Function(_) => StageKind::Function,
            Target::Builtin(_) => StageKind::Builtin,
            Target::Added(_) => StageKind::Command,
            Target::Script(_) => StageKind::Script,
            Target::External => StageKind::External,
            Target::Tool => StageKind::Tool,
        };
    }

    /// Notes how a program ended.
    pub(crate) fn end(&mut self, exit: Exit, usage: Usage) {
        self.ended = Some((exit, Instant::now()));
        self.usage = Some(usage);
    }

    /// Notes the status that something in this process ended with, unless more is known.
    pub(crate) fn end_with(&mut self, status: i32) {
        if self.ended.is_none() {
            self.ended = Some((Exit::Code(status), Instant::now()));
        }
    }

    fn stage(self, status: i32) -> Stage {
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

/// As many of the words as are kept, and whether there are more.
fn kept(words: &[Bytes]) -> (Vec<Bytes>, bool) {
    let (mut left, most) = KEPT;
    let mut kept = Vec::with_capacity(words.len().min(most));
    for word in words.iter().take(most) {
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
fn shown(session: &Session, command: &Command) -> Bytes {
    let text = session.text_of(command.span);
    let end = text.len().min(SHOWN);
    Bytes::from(&text[..end])
}

impl Session {
    /// Runs a pipeline of the script itself, and takes note of its stages.
    #[inline(never)]
    pub(crate) fn run_recorded(&mut self, pipeline: &Pipeline) -> Flow {
        self.processes.set_recording(false);
        if let Some(run) = self.processes.run() {
            run.record().data = None;
        }
        let before = self.count_output();
        self.moment.note = pipeline.stages.first().map(|first| Note::new(self, first));
        let result = self.run_pipeline(pipeline);
        if let Some(note) = self.moment.note.take() {
            let status = match result {
                Ok(_) => self.parameters.pipe_status().last().copied().unwrap_or(0),
                Err(unwind) => unwind.status(),
            };
            self.record(vec![(note, status)]);
        }
        self.note_output(pipeline, before);
        self.processes.set_recording(true);
        result
    }

    /// How much was written to the run's standard output until now, if it is captured on its own.
    fn count_output(&mut self) -> Option<u64> {
        let run = self.processes.run().cloned()?;
        let (captured, pipe) = (run.captured.stdout.as_ref()?, run.stdout.upgrade()?);
        let _ = self.flush();
        let own = self.open_files.get(1)?.descriptor()?;
        (own.as_raw_fd() == pipe.as_raw_fd()).then(|| captured.written_through(pipe.as_fd()))?
    }

    /// What a pipeline wrote to the run's standard output, its last stage wrote, unless that has an output of its own or
    /// something in the background may have written too.
    fn note_output(&mut self, pipeline: &Pipeline, before: Option<u64>) {
        let redirected = pipeline.stages.last().is_some_and(|last| !last.redirects.is_empty());
        let alone = self.jobs.is_empty()
            && self.processes.substitutions().is_empty()
            && self.processes.orphans().is_empty();
        let (Some(before), false, true) = (before, redirected, alone) else { return };
        let Some(now) = self.count_output() else { return };
        if let Some(run) = self.processes.run()
            && let Some(last) = run.record().stages.back_mut()
        {
            last.bytes_out = Some(now - before);
        }
    }

    /// Puts the stages of a pipeline on record.
    pub(crate) fn record(&mut self, notes: Vec<(Box<Note>, i32)>) {
        let Some(run) = self.processes.run() else { return };
        let mut stages: Vec<Stage> = notes.into_iter().map(|(note, status)| note.stage(status)).collect();
        for index in 1..stages.len() {
            let stage = &mut stages[index - 1];
            if matches!(stage.exit, Exit::Signal(BROKEN_PIPE))
                || (stage.usage.is_none() && stage.exit == Exit::Code(128 + BROKEN_PIPE))
            {
                stage.exit = Exit::Signal(BROKEN_PIPE);
                stage.closed_by = Some(index);
            }
        }
        run.record().add(stages);
    }

    /// Runs what a name was found to mean, and notes what that is. Only a program gets the note, to tell how it ended.
    #[inline(never)]
    pub(crate) fn run_noted(
        &mut self,
        target: Target,
        arguments: &Arguments,
        assigned: &[(Bytes, Bytes)],
    ) -> Flow {
        let Some(mut note) = self.moment.note.take() else {
            return self.run_found(target, arguments, assigned);
        };
        note.identify(&target, &arguments.words);
        if matches!(target, Target::External) {
            self.moment.note = Some(note);
            return self.run_found(target, arguments, assigned);
        }
        let result = self.run_found(target, arguments, assigned);
        match result {
            Err(Unwind::Signal(signal)) => note.end(Exit::Signal(signal), Usage::default()),
            Err(unwind) => note.end_with(unwind.status()),
            Ok(status) => note.end_with(status),
        }
        self.moment.note = Some(note);
        result
    }
}
