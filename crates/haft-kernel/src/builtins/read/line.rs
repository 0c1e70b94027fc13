//! Reading one line.

use haft_text::encoding::Encoding;

use crate::builtins::Context;
use crate::builtins::descriptor_reader::{End, Input};
use crate::flow::Unwind;

/// What was read, backslashes removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// Which of the bytes were behind a backslash, in order: they separate nothing.
    pub(super) escaped: Vec<usize>,
}

/// How much is read at most, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// `-n`: or to the delimiter.
    AtMost(usize),
    /// `-N`: delimiters are read like anything else.
    Exactly(usize),
}

/// How the line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Complete,
    EndOfFile,
    TimedOut,
    Failed(i32),
}

impl From<End> for Ending {
    fn from(end: End) -> Self {
        match end {
            End::OfFile => Self::EndOfFile,
            End::OfTime => Self::TimedOut,
            End::Failed(errno) => Self::Failed(errno),
        }
    }
}

/// Reads to the delimiter, the limit or the end. Zero bytes that are no delimiters are left out.
pub(super) fn read(
    context: &mut Context<'_>,
    input: &mut Input,
    delimiter: u8,
    limit: Option<Limit>,
    raw: bool,
) -> Result<(Line, Ending), Unwind> {
    let mut line = Line::default();
    let most = limit.map(|(Limit::AtMost(count) | Limit::Exactly(count))| count);
    let exact = matches!(limit, Some(Limit::Exactly(_)));
    let encoding = context.session.encoding();
    let mut characters = Characters { encoding, ..Characters::default() };
    while most.is_none_or(|most| characters.complete < most) {
        if most.is_none()
            && let Err(end) = copy_plain(context, input, delimiter, raw, &mut line)?
        {
            return Ok((line, end.into()));
        }
        let byte = match input.next(context)? {
            Ok(byte) => byte,
            Err(end) => return Ok((line, end.into())),
        };
        if byte == delimiter && !exact {
            return Ok((line, Ending::Complete));
        }
        if byte == b'\\' && !raw {
            match input.next(context)? {
                Ok(b'\n') => {}
                Ok(next) => {
                    line.escaped.push(line.bytes.len());
                    line.bytes.push(next);
                    characters.add(next);
                }
                Err(end) => return Ok((line, end.into())),
            }
        } else if byte != 0 {
            line.bytes.push(byte);
            characters.add(byte);
        }
    }
    Ok((line, Ending::Complete))
}

/// Copies bytes up to the next one that means anything.
fn copy_plain(
    context: &mut Context<'_>,
    input: &mut Input,
    delimiter: u8,
    raw: bool,
    line: &mut Line,
) -> Result<Result<(), End>, Unwind> {
    let escape = if raw { 0 } else { b'\\' };
    loop {
        let bytes = match input.peek(context)? {
            Ok(bytes) => bytes,
            Err(end) => return Ok(Err(end)),
        };
        let found = memchr::memchr3(delimiter, escape, 0, bytes);
        let length = found.unwrap_or(bytes.len());
        line.bytes.extend_from_slice(&bytes[..length]);
        context.session.memory.note_growth(length);
        input.consume(length);
        if found.is_some() {
            return Ok(Ok(()));
        }
    }
}

/// Counts characters as their bytes come.
#[derive(Default)]
struct Characters {
    complete: usize,
    /// How many bytes of the current character are still to come.
    missing: usize,
    encoding: Encoding,
}

impl Characters {
    fn add(&mut self, byte: u8) {
        if self.missing > 0 && byte & 0xC0 == 0x80 {
            self.missing -= 1;
        } else {
            self.missing = match byte {
                _ if self.encoding == Encoding::Bytes => 0,
                0xF0..=0xF7 => 3,
                0xE0..=0xEF => 2,
                0xC0..=0xDF => 1,
                _ => 0,
            };
        }
        self.complete += usize::from(self.missing == 0);
    }
}
