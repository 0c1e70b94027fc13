//! The record of a stage of the script's own pipelines: what it was and how it ended.
//!
//! A command that is recorded gets a [`StageRecorder`] as an argument. Each function that learns something about the command
//! fills it in. It is never passed on to the commands within that command.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{Exit, Usage};
use haft_text::Bytes;

use super::{Stage, StageKind};
use crate::io::Written;

/// The most bytes of a compound command's text that are recorded.
const MAX_COMPOUND_TEXT_BYTES: usize = 200;

/// The most bytes of a command's arguments that are recorded.
const MAX_STAGE_ARGV_BYTES: usize = 64 * 1024;

/// The most arguments of a command that are recorded.
const MAX_STAGE_ARGUMENTS: usize = 4096;

/// The record of a stage so far.
#[derive(Clone, Debug)]
pub(crate) struct StageRecorder {
    argv: Vec<Bytes>,
    argv_truncated: bool,
    kind: StageKind,
    started: Instant,
    ended: Option<(Exit, Instant)>,
    usage: Option<Usage>,
    timed_out: bool,
    /// Counts the bytes that the stage writes to the next one.
    written: Option<Arc<Written>>,
}

impl StageRecorder {
    /// A recorder for a command that is about to be expanded. `text` is its source text, of which the beginning is kept.
    pub(crate) fn new(kind: StageKind, text: Option<&[u8]>) -> Box<StageRecorder> {
        let shown = |text: &[u8]| Bytes::from(&text[..text.len().min(MAX_COMPOUND_TEXT_BYTES)]);
        Box::new(StageRecorder {
            argv: text.map(shown).into_iter().collect(),
            argv_truncated: false,
            kind,
            started: Instant::now(),
            ended: None,
            usage: None,
            timed_out: false,
            written: None,
        })
    }

    /// Records how many bytes the stage writes to the next one.
    pub(crate) fn count(&mut self, written: Arc<Written>) {
        self.written = Some(written);
    }

    /// Records what the command was resolved to.
    pub(crate) fn identify(&mut self, kind: StageKind, words: &[Bytes]) {
        (self.argv, self.argv_truncated) = truncated_argv(words);
        self.kind = kind;
    }

    /// Records whether it ended because its timeout expired.
    pub(crate) fn set_timed_out(&mut self, timed_out: bool) {
        self.timed_out = timed_out;
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

    /// The stage, which ended with this status unless more is known.
    pub(crate) fn into_stage(self, status: i32) -> Stage {
        let (exit, at) = self.ended.unwrap_or_else(|| (Exit::Code(status), Instant::now()));
        Stage {
            pipeline: 0,
            argv: self.argv,
            argv_truncated: self.argv_truncated,
            kind: self.kind,
            exit,
            timed_out: self.timed_out,
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
