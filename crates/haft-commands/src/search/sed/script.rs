//! Scripts of `sed`.

use std::sync::Arc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::GnuRegex;

/// A compiled script.
#[derive(Debug, Default)]
pub(super) struct SedScript {
    pub(super) commands: Vec<SedCommand>,
    /// Whether the script starts with `#n`.
    pub(super) is_quiet: bool,
    /// The files that the script writes, in the order of their first mention.
    pub(super) outputs: Vec<Bytes>,
    /// The last part of the script, for messages.
    pub(super) place: String,
    /// Whether GNU's `sed` might match something else.
    pub(super) is_inexact: bool,
}

impl SedScript {
    /// Whether the script may end before its input does.
    pub(super) fn can_quit(&self) -> bool {
        self.commands.iter().any(|command| matches!(command.action, SedAction::Quit { .. }))
    }
}

/// How a script is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SedDialect {
    /// Whether regular expressions are extended.
    pub(super) is_extended: bool,
    /// Whether lines end with a NUL byte.
    pub(super) is_null_data: bool,
    pub(super) encoding: Encoding,
}

/// A command with its addresses.
#[derive(Debug)]
pub(super) struct SedCommand {
    pub(super) addresses: Addresses,
    pub(super) action: SedAction,
}

/// The lines that a command applies to.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    pub(super) first: Option<Address>,
    pub(super) second: Option<Address>,
    pub(super) is_negated: bool,
}

#[derive(Debug)]
pub(super) enum Address {
    Line(u64),
    /// `FIRST~STEP`
    Step(u64, u64),
    Last,
    Regex(SedRegex),
    /// `+N`
    Plus(u64),
    /// `~N`
    Multiple(u64),
}

/// A regular expression. `None` is the last one that was used.
pub(super) type SedRegex = Option<Arc<GnuRegex>>;

#[derive(Debug)]
pub(super) enum SedAction {
    /// `{`: goes on after the index if the addresses do not match.
    Block(usize),
    /// `}` and `:`
    Nothing,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// `b`, `t` and `T`: the index of the next command.
    Branch(BranchKind, usize),
    Delete,
    DeleteFirst,
    CopyToHold(CopyMode),
    CopyFromHold(CopyMode),
    Exchange,
    Next,
    NextAppend,
    Print,
    PrintFirst,
    Quit {
        status: i32,
        is_silent: bool,
    },
    List(Option<u64>),
    ReadFile(Bytes),
    ReadLine(Bytes),
    /// `w` and `W`: the index of an output.
    Write {
        output: usize,
        first_line_only: bool,
    },
    LineNumber,
    FileName,
    Clear,
    Substitute(Box<Substitution>),
    Translate(Box<Translation>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BranchKind {
    Always,
    IfReplaced,
    UnlessReplaced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyMode {
    Replace,
    Append,
}

/// The command `s`.
#[derive(Debug)]
pub(super) struct Substitution {
    pub(super) regex: SedRegex,
    pub(super) replacement: Vec<ReplacementPart>,
    pub(super) flags: SubstituteFlags,
}

/// The flags of `s`.
#[derive(Debug, Default)]
pub(super) struct SubstituteFlags {
    pub(super) global: bool,
    pub(super) print: bool,
    /// The number of the first match to replace. 0 if it was not given.
    pub(super) number: u64,
    pub(super) output: Option<usize>,
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplacementPart {
    Text(Vec<u8>),
    Group(usize),
    /// `\U`, `\L`, or `\E`.
    Case(Option<LetterCase>),
    /// `\u` or `\l`.
    NextCase(LetterCase),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterCase {
    Upper,
    Lower,
}

/// The command `y`: pairs of characters.
#[derive(Debug)]
pub(super) struct Translation {
    pub(super) pairs: Vec<(Vec<u8>, Vec<u8>)>,
}
