//! Reading one line.

use crate::builtins::Context;
use crate::builtins::input::{Input, Next};
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
    let mut characters = Characters::default();
    while most.is_none_or(|most| characters.complete < most) {
        let byte = match input.next(context)? {
            Next::Byte(byte) => byte,
            Next::End => return Ok((line, Ending::EndOfFile)),
            Next::TimedOut => return Ok((line, Ending::TimedOut)),
            Next::Failed(errno) => return Ok((line, Ending::Failed(errno))),
        };
        if byte == delimiter && !exact {
            return Ok((line, Ending::Complete));
        }
        if byte == b'\\' && !raw {
            match input.next(context)? {
                Next::Byte(b'\n') => {}
                Next::Byte(next) => {
                    line.escaped.push(line.bytes.len());
                    line.bytes.push(next);
                    characters.add(next);
                }
                Next::End => return Ok((line, Ending::EndOfFile)),
                Next::TimedOut => return Ok((line, Ending::TimedOut)),
                Next::Failed(errno) => return Ok((line, Ending::Failed(errno))),
            }
            continue;
        }
        if byte != 0 {
            line.bytes.push(byte);
            characters.add(byte);
        }
    }
    Ok((line, Ending::Complete))
}

/// Counts characters as their bytes come.
#[derive(Default)]
struct Characters {
    complete: usize,
    /// How many bytes of the current character are still to come.
    missing: usize,
}

impl Characters {
    fn add(&mut self, byte: u8) {
        if self.missing > 0 && byte & 0xC0 == 0x80 {
            self.missing -= 1;
        } else {
            self.missing = match byte {
                0xF0..=0xF7 => 3,
                0xE0..=0xEF => 2,
                0xC0..=0xDF => 1,
                _ => 0,
            };
        }
        self.complete += usize::from(self.missing == 0);
    }
}
