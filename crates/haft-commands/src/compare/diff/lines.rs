//! The lines of a file, and when two of them are equal.

use std::borrow::Cow;
use std::collections::HashMap;

/// How blanks are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whitespace {
    Significant,
    /// Runs of blanks are equal, and blanks at the end of a line do not count.
    AmountIgnored,
    Ignored,
}

/// Splits a text into lines, with their newlines.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        lines.push(&text[start..=end]);
        start = end + 1;
    }
    if start < text.len() {
        lines.push(&text[start..]);
    }
    lines
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// The part of a line that is compared.
fn key(line: &[u8], whitespace: Whitespace, ignores_case: bool) -> Cow<'_, [u8]> {
    let mut key = match whitespace {
        Whitespace::Significant if !ignores_case => return Cow::Borrowed(line),
        Whitespace::Significant => line.to_vec(),
        Whitespace::Ignored => line.iter().copied().filter(|byte| !is_space(*byte)).collect(),
        Whitespace::AmountIgnored => {
            let mut squeezed = Vec::with_capacity(line.len());
            for byte in line.trim_ascii_end() {
                match is_space(*byte) {
                    true if squeezed.last() == Some(&b' ') => {}
                    true => squeezed.push(b' '),
                    false => squeezed.push(*byte),
                }
            }
            while squeezed.last() == Some(&b' ') {
                squeezed.pop();
            }
            squeezed
        }
    };
    if ignores_case {
        key.make_ascii_lowercase();
    }
    Cow::Owned(key)
}

/// Numbers the lines of both files, so that equal lines have equal numbers. Returns the count of numbers, too.
pub(super) fn classes(
    files: [&[&[u8]]; 2],
    whitespace: Whitespace,
    ignores_case: bool,
) -> ([Vec<usize>; 2], usize) {
    let mut known: HashMap<Cow<'_, [u8]>, usize> = HashMap::new();
    let numbered = files.map(|lines| {
        let number = |line: &&'_ [u8]| {
            let next = known.len();
            *known.entry(Cow::Owned(key(line, whitespace, ignores_case).into_owned())).or_insert(next)
        };
        lines.iter().map(number).collect::<Vec<usize>>()
    });
    (numbered, known.len())
}

/// Whether `-B` ignores a line.
pub(super) fn is_blank(line: &[u8], whitespace: Whitespace) -> bool {
    match whitespace {
        Whitespace::Significant => line == b"\n" || line.is_empty(),
        _ => line.iter().all(|byte| is_space(*byte)),
    }
}
