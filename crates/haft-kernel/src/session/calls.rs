//! The position of a script: the calls it is in, the current line, the text and the command that run.

use std::sync::Arc;

use haft_lang::ast::Span;
use haft_text::Bytes;

use crate::shared::CopyOnWrite;

/// A call of a function or of a sourced file.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function's name, or `source`.
    pub name: Bytes,
    /// The file that the function was defined in, or the sourced file.
    pub source: Bytes,
    /// The line it was called from.
    pub line: u32,
    /// Whether it is a function. `local` works only in functions; `return` works in sourced files too.
    pub is_function: bool,
    /// The arguments for `BASH_ARGV`, if the option `extdebug` was on.
    pub arguments: Option<Arc<[Bytes]>>,
}

/// The position of a script in its text and its calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallStack {
    /// The calls, the innermost last.
    frames: CopyOnWrite<Vec<Frame>>,
    /// The line of the running command in its text.
    line: u32,
    /// The difference between `LINENO` and that line. bash counts the lines of a backquoted substitution from its last line on.
    line_offset: u32,
    /// The text that is being run. Spans refer to it.
    source_text: Option<Arc<[u8]>>,
    /// The command that `BASH_COMMAND` shows.
    command_span: Span,
    /// While a trap runs: the command that ran when it was triggered.
    trapped_command: Option<Bytes>,
    /// How often the first character of `PS4` is repeated.
    trace_depth: u32,
    /// How many loops `break` could leave.
    loops: u32,
    /// Whether the `command` builtin runs another builtin, whose errors then never end the script.
    is_under_command: bool,
    errexit: ErrexitContext,
}

/// Whether failure of a command triggers the `ERR` trap and `set -e`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ErrexitContext {
    /// Failure triggers the `ERR` trap and, with `set -e`, ends the shell.
    #[default]
    Active,
    /// The command follows a `!`: failure does nothing.
    Negated,
    /// The command is part of one that follows a `!`: failure triggers the trap and ends nothing.
    InNegated,
    /// The command is a condition, or part of one: failure does nothing.
    Condition,
}

impl ErrexitContext {
    /// Whether failure of a command in this context does nothing.
    #[inline]
    pub(crate) fn ignores_failure(self) -> bool {
        matches!(self, Self::Negated | Self::Condition)
    }
}

impl CallStack {
    /// Prepares the frames for [`CallStack::for_subshell`], so that it does not copy them.
    pub(super) fn share(&mut self) {
        self.frames.share();
    }

    /// A subshell is at the same position, but cannot leave the loops of its parent.
    pub(super) fn for_subshell(&self) -> Self {
        Self { loops: 0, ..self.clone() }
    }

    /// The calls, the innermost last.
    #[inline]
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Enters a call.
    pub(crate) fn push(&mut self, frame: Frame) {
        self.frames.make_mut().push(frame);
    }

    /// Leaves the innermost call.
    pub(crate) fn pop(&mut self) {
        self.frames.make_mut().pop();
    }

    /// Leaves all calls but the outermost `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.frames.make_mut().truncate(count);
    }

    /// Leaves all calls.
    pub(crate) fn clear(&mut self) {
        self.frames = CopyOnWrite::default();
    }

    /// Whether a function is running.
    pub(crate) fn is_in_function(&self) -> bool {
        self.frames.iter().any(|frame| frame.is_function)
    }

    /// `LINENO`.
    #[inline]
    pub(crate) fn line(&self) -> u32 {
        self.line + self.line_offset
    }

    /// The line of the running command in its text, for [`CallStack::set_line`].
    #[inline]
    pub(crate) fn text_line(&self) -> u32 {
        self.line
    }

    /// Sets what `LINENO` is more than the line of the running command; returns the previous value.
    #[inline]
    pub(crate) fn set_line_offset(&mut self, offset: u32) -> u32 {
        std::mem::replace(&mut self.line_offset, offset)
    }

    /// Sets `LINENO`.
    #[inline]
    pub(crate) fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    /// The text that is being run.
    pub(crate) fn source_text(&self) -> Option<&Arc<[u8]>> {
        self.source_text.as_ref()
    }

    /// Sets the text that is being run; returns the previous one.
    #[inline]
    pub(crate) fn set_source_text(&mut self, text: Option<Arc<[u8]>>) -> Option<Arc<[u8]>> {
        std::mem::replace(&mut self.source_text, text)
    }

    /// The command that `BASH_COMMAND` shows.
    #[inline]
    pub(crate) fn command_span(&self) -> Span {
        self.command_span
    }

    /// Sets the command that `BASH_COMMAND` shows.
    #[inline]
    pub(crate) fn set_command_span(&mut self, span: Span) {
        self.command_span = span;
    }

    /// While a trap runs: the command that ran when it was triggered.
    pub(crate) fn trapped_command(&self) -> Option<&Bytes> {
        self.trapped_command.as_ref()
    }

    /// Sets the command that `BASH_COMMAND` shows while a trap runs; returns the previous one.
    pub(crate) fn set_trapped_command(&mut self, command: Option<Bytes>) -> Option<Bytes> {
        std::mem::replace(&mut self.trapped_command, command)
    }

    /// How often the first character of `PS4` is repeated.
    pub(crate) fn trace_depth(&self) -> u32 {
        self.trace_depth
    }

    /// Makes the trace one level deeper.
    pub(crate) fn deepen_trace(&mut self) {
        self.trace_depth += 1;
    }

    /// Makes the trace one level less deep.
    pub(crate) fn flatten_trace(&mut self) {
        self.trace_depth -= 1;
    }

    /// How many loops `break` could leave.
    pub(crate) fn loops(&self) -> u32 {
        self.loops
    }

    /// Sets how many loops `break` could leave; returns the previous number.
    #[inline]
    pub(crate) fn set_loops(&mut self, loops: u32) -> u32 {
        std::mem::replace(&mut self.loops, loops)
    }

    /// Whether the `command` builtin runs another builtin.
    pub(crate) fn is_under_command(&self) -> bool {
        self.is_under_command
    }

    /// Says whether the `command` builtin runs another builtin; returns the previous value.
    pub(crate) fn set_under_command(&mut self, is_under_command: bool) -> bool {
        std::mem::replace(&mut self.is_under_command, is_under_command)
    }

    /// The context of the command that runs.
    #[inline]
    pub(crate) fn errexit(&self) -> ErrexitContext {
        self.errexit
    }

    /// Sets the context of the command that runs; returns the previous one.
    #[inline]
    pub(crate) fn set_errexit(&mut self, context: ErrexitContext) -> ErrexitContext {
        std::mem::replace(&mut self.errexit, context)
    }
}
