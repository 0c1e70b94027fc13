//! Expansion of the parts of a word.

use haft_lang::ast::{ExtendedGlob, Glob, GlobOperator, PartKind, Word, WordContent, WordPart};

use super::sink::{Sink, SinkMode};
use crate::flow::Unwind;
use crate::session::Session;
use crate::variables::{Attributes, VariableValue};

impl Session {
    /// Expands parts into a sink. `quoted` says that they are in double quotes.
    pub(super) fn expand_parts(
        &mut self,
        parts: &[WordPart],
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        parts.iter().try_for_each(|part| self.expand_part(part, quoted, sink))
    }

    /// Expands a word within another expansion, such as the default of `${name:-word}`.
    pub(super) fn expand_inner(&mut self, word: &Word, quoted: bool, sink: &mut Sink) -> Result<(), Unwind> {
        match &word.content {
            WordContent::Plain(text) => {
                if !text.is_empty() {
                    match quoted {
                        true => sink.quoted(text),
                        false => sink.active_literal(text),
                    }
                }
                Ok(())
            }
            WordContent::Static { parts, .. } | WordContent::Parts(parts) => {
                parts.iter().try_for_each(|part| match &part.kind {
                    PartKind::Literal(text) if !quoted => {
                        sink.active_literal(text);
                        Ok(())
                    }
                    _ => self.expand_part(part, quoted, sink),
                })
            }
        }
    }

    pub(super) fn expand_part(
        &mut self,
        part: &WordPart,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        match &part.kind {
            PartKind::Literal(text) if quoted => sink.quoted(text),
            PartKind::Literal(text) => sink.literal(text),
            PartKind::Escaped(byte) => sink.quoted(&[*byte]),
            PartKind::SingleQuoted(text) | PartKind::AnsiQuoted(text) => sink.quoted(text),
            PartKind::DoubleQuoted(parts) | PartKind::LocaleQuoted(parts) => {
                if parts.is_empty() {
                    sink.quoted(b"");
                }
                let mark = sink.mark();
                self.expand_parts(parts, true, sink)?;
                sink.withdraw_if_empty(mark);
            }
            PartKind::Variable(name) => return self.expand_variable(name, quoted, sink),
            PartKind::Parameter(expansion) => {
                return self.expand_parameter(expansion, part.span, quoted, sink);
            }
            PartKind::Command(substitution) => {
                let output = self.substitute(substitution, part.span)?;
                return self.emit_long(sink, &output, quoted);
            }
            PartKind::Arithmetic(arithmetic) => {
                let number = self.evaluate(arithmetic).map_err(|failure| self.failed_in_posix(failure))?;
                emit_number(sink, number, quoted);
            }
            PartKind::Process(substitution) => {
                let path = self.substitute_process(substitution)?;
                sink.quoted(&path);
            }
            PartKind::Tilde(user) => self.expand_tilde(user, sink),
            PartKind::Glob(glob) => sink_glob(sink, glob, quoted),
            PartKind::ExtendedGlob(group) => return self.expand_group(group, quoted, sink),
            PartKind::Braces(braces) => return self.expand_braces_as_text(braces, sink),
        }
        Ok(())
    }

    fn expand_group(&mut self, group: &ExtendedGlob, quoted: bool, sink: &mut Sink) -> Result<(), Unwind> {
        let open: &[u8] = match group.operator {
            GlobOperator::ZeroOrOne => b"?(",
            GlobOperator::ZeroOrMore => b"*(",
            GlobOperator::OneOrMore => b"+(",
            GlobOperator::One => b"@(",
            GlobOperator::Not => b"!(",
        };
        sink.glob(open);
        for (index, alternative) in group.alternatives.iter().enumerate() {
            if index > 0 {
                sink.glob(b"|");
            }
            self.expand_parts(alternative, quoted, sink)?;
        }
        sink.glob(b")");
        Ok(())
    }

    /// Expands `$name`.
    pub(super) fn expand_variable(
        &mut self,
        name: &[u8],
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Unwind> {
        if let Some(variable) = self.variables.get(name)
            && let VariableValue::Scalar(value) = &variable.value
            && !variable.attributes.intersects(Attributes::INDIRECT)
        {
            return self.emit_long(sink, value, quoted);
        }
        match self.value(name) {
            Some(value) => self.emit_long(sink, &value, quoted),
            None => {
                self.require_set(name)?;
                emit(sink, b"", quoted);
                Ok(())
            }
        }
    }

    /// Appends the result of an expansion, with checks for cancellation if it is long.
    #[inline]
    fn emit_long(&self, sink: &mut Sink, bytes: &[u8], quoted: bool) -> Result<(), Unwind> {
        self.reserve_memory("an expansion", bytes.len())?;
        if bytes.len() < MIN_CHECKED_BYTES {
            emit(sink, bytes, quoted);
            return Ok(());
        }
        if quoted || sink.mode != SinkMode::Fields {
            for chunk in bytes.chunks(COPIED_CHUNK_BYTES) {
                self.check_cancelled()?;
                emit(sink, chunk, quoted);
            }
            return Ok(());
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            self.check_cancelled()?;
            rest = sink.active_chunk(rest);
            self.memory.note_growth(MIN_CHECKED_BYTES);
        }
        Ok(())
    }
}

/// Results shorter than this are split without checks for cancellation.
const MIN_CHECKED_BYTES: usize = 64 * 1024;

/// Larger values are copied in chunks, with a check for cancellation before each.
pub(super) const COPIED_CHUNK_BYTES: usize = 16 << 20;

/// Appends the result of an expansion.
pub(super) fn emit(sink: &mut Sink, bytes: &[u8], quoted: bool) {
    match quoted {
        true => sink.quoted(bytes),
        false => sink.active(bytes),
    }
}

fn emit_number(sink: &mut Sink, number: i64, quoted: bool) {
    let mut digits = [0; 20];
    emit(sink, haft_text::format_number(number, &mut digits), quoted);
}

fn sink_glob(sink: &mut Sink, glob: &Glob, quoted: bool) {
    let text: &[u8] = match glob {
        Glob::AnyString => b"*",
        Glob::AnyCharacter => b"?",
        Glob::Bracket(text) => text,
    };
    match quoted || sink.mode == SinkMode::Regex {
        true if sink.mode == SinkMode::Regex => sink.literal(text),
        true => sink.quoted(text),
        false => sink.glob(text),
    }
}
