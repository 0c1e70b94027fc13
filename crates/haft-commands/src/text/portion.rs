//! What `head` and `tail` have in common.

use haft_kernel::Bytes;

use super::streams::{Stop, TextRun};
use crate::arguments::CommandArguments;

/// The part of a file to write.
#[derive(Clone, Copy)]
pub(super) struct Portion {
    pub(super) count: u64,
    /// The count is relative to the other end of the file than usual.
    pub(super) from_end: bool,
    pub(super) unit: Unit,
}

#[derive(Clone, Copy)]
pub(super) enum Unit {
    Bytes,
    /// Lines that end with this byte.
    Lines(u8),
}

/// The headers `==> NAME <==`.
pub(super) struct Headers {
    shown: bool,
    first: bool,
}

impl Headers {
    /// Headers are written if there are several files. The last of `-q` and `-v` overrides that.
    pub(super) fn new(arguments: &CommandArguments) -> Self {
        let given = arguments.in_order().rev().find_map(|(name, _)| match name {
            "quiet" | "silent" => Some(false),
            "verbose" => Some(true),
            _ => None,
        });
        Self { shown: given.unwrap_or(arguments.operands.len() > 1), first: true }
    }

    pub(super) fn write(&mut self, run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<(), Stop> {
        if !self.shown {
            return Ok(());
        }
        let shown: &[u8] = if *name == "-" { b"standard input" } else { name };
        let blank: &[u8] = if self.first { b"" } else { b"\n" };
        self.first = false;
        run.write(&[blank, b"==> ", shown, b" <==\n"].concat())
    }
}

/// Replaces a first word such as `-5` or `-20c` by an option of today.
pub(super) fn expand_old_count(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let first = words.first()?.strip_prefix(b"-")?;
    let digits = first.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let (count, letters) = first.split_at(digits);
    let (mut option, mut suffix, mut flags) = ("-n", "", Vec::new());
    for letter in letters {
        match letter {
            b'c' => option = "-c",
            b'b' => (option, suffix) = ("-c", "b"),
            b'k' => (option, suffix) = ("-c", "K"),
            b'm' => (option, suffix) = ("-c", "M"),
            b'l' => option = "-n",
            b'q' | b'v' | b'z' => flags.push(Bytes::from([b"-".as_slice(), &[*letter]].concat())),
            _ => return None,
        }
    }
    let count = Bytes::from([count, suffix.as_bytes()].concat());
    Some([&[Bytes::from(option), count], flags.as_slice(), &words[1..]].concat())
}
