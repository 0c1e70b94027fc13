//! Reading one line.

use haft_text::encoding::Encoding;

use crate::builtins::Context;
use crate::builtins::descriptor_reader::{DescriptorReader, ReadEnd};
use crate::flow::Unwind;

/// A line after backslash removal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InputLine {
    pub(super) bytes: Vec<u8>,
    /// The indices of bytes that a backslash quoted, in ascending order. They are not field separators.
    pub(super) escaped: Vec<usize>,
}

/// The maximum length, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadLimit {
    /// `-n`: up to the delimiter.
    AtMost(usize),
    /// `-N`: delimiters are part of the text.
    Exactly(usize),
}

/// Why reading a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnding {
    Complete,
    EndOfFile,
    TimedOut,
    Failed(i32),
}

impl From<ReadEnd> for LineEnding {
    fn from(end: ReadEnd) -> Self {
        match end {
            ReadEnd::EndOfFile => Self::EndOfFile,
            ReadEnd::TimedOut => Self::TimedOut,
            ReadEnd::Failed(errno) => Self::Failed(errno),
        }
    }
}

/// Reads up to the delimiter, the limit or the end of the file. NUL bytes are dropped unless they are the delimiter.
pub(super) fn read(
    context: &mut Context<'_>,
    input: &mut DescriptorReader,
    delimiter: u8,
    limit: Option<ReadLimit>,
    raw: bool,
) -> Result<(InputLine, LineEnding), Unwind> {
    let mut line = InputLine::default();
    let most = limit.map(|(ReadLimit::AtMost(count) | ReadLimit::Exactly(count))| count);
    let exact = matches!(limit, Some(ReadLimit::Exactly(_)));
    let encoding = context.session().encoding();
    let mut characters = CharacterCounter { encoding, ..CharacterCounter::default() };
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
            return Ok((line, LineEnding::Complete));
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
    Ok((line, LineEnding::Complete))
}

/// Copies bytes up to the next one with a special meaning.
fn copy_plain(
    context: &mut Context<'_>,
    input: &mut DescriptorReader,
    delimiter: u8,
    raw: bool,
    line: &mut InputLine,
) -> Result<Result<(), ReadEnd>, Unwind> {
    let escape = if raw { 0 } else { b'\\' };
    loop {
        let bytes = match input.peek(context)? {
            Ok(bytes) => bytes,
            Err(end) => return Ok(Err(end)),
        };
        let found = memchr::memchr3(delimiter, escape, 0, bytes);
        let length = found.unwrap_or(bytes.len());
        line.bytes.extend_from_slice(&bytes[..length]);
        context.session().memory.note_growth(length);
        input.consume(length);
        if found.is_some() {
            return Ok(Ok(()));
        }
    }
}

/// Counts characters while their bytes arrive.
#[derive(Default)]
struct CharacterCounter {
    complete: usize,
    /// How many bytes of the current character are missing.
    missing: usize,
    encoding: Encoding,
}

impl CharacterCounter {
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
