//! Options and headers of `head` and `tail`.

use haft_kernel::Bytes;

use super::number::parse_size;
use super::streams::{Stop, TextRun};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::descriptor::{CommandParameter, ParameterKind};

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

/// The value of `-n` or `-c`.
pub(super) struct CountText<'a> {
    pub(super) from_end: bool,
    pub(super) digits: &'a [u8],
    /// The part that an error message shows.
    pub(super) shown: &'a [u8],
}

impl Portion {
    /// Parses `-n` and `-c`; the last one counts. `split` splits a value, and gets whether the previous one was from the other end.
    pub(super) fn parse(
        run: &mut TextRun<'_, '_>,
        arguments: &CommandArguments,
        split: fn(&[u8], bool) -> CountText<'_>,
    ) -> Result<Self, Stop> {
        let end = if arguments.flag("zero-terminated") { 0 } else { b'\n' };
        let mut portion = Self { count: 10, from_end: false, unit: Unit::Lines(end) };
        for (name, value) in arguments.in_order() {
            let (ArgumentValue::Text(text), "bytes" | "lines") = (value, name) else { continue };
            let given = split(text, portion.from_end);
            let Some(count) = parse_size(given.digits) else {
                let shown = run.quote(given.shown);
                return run.fail(format_args!("invalid number of {name}: {shown}"));
            };
            let unit = if name == "bytes" { Unit::Bytes } else { Unit::Lines(end) };
            portion = Self { count, from_end: given.from_end, unit };
        }
        Ok(portion)
    }
}

/// `-q`
pub(super) const QUIET: CommandParameter =
    CommandParameter::new("quiet", ParameterKind::Flag, "Never write headers.").letter('q');
/// `--silent`
pub(super) const SILENT: CommandParameter =
    CommandParameter::new("silent", ParameterKind::Flag, "The same as --quiet.");
/// `-v`
pub(super) const VERBOSE: CommandParameter =
    CommandParameter::new("verbose", ParameterKind::Flag, "Always write headers.").letter('v');
/// `-z`
pub(super) const ZERO_TERMINATED: CommandParameter =
    CommandParameter::new("zero-terminated", ParameterKind::Flag, "Lines end with a NUL byte.").letter('z');

/// The headers `==> NAME <==`.
#[derive(Clone, Copy)]
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
