//! Errors of GNU regular expressions.

use std::fmt;

/// Why a regular expression is invalid. Displays GNU's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GnuRegexError {
    /// `[` or `[^` at the end.
    InvalidExpression,
    /// A collating symbol or an equivalence class of several characters.
    InvalidCollation,
    /// An unknown name in `[[:name:]]`.
    InvalidClass,
    /// `[:name:]` without the outer brackets.
    ClassOutsideBrackets,
    /// A backslash at the end.
    TrailingBackslash,
    /// A reference to a group that is not complete.
    InvalidBackReference,
    /// A bracket expression that is not closed.
    UnmatchedBracket,
    /// A group that is not closed.
    UnmatchedOpen,
    /// An interval that is not closed.
    UnmatchedBrace,
    /// An interval that is not `{N}`, `{N,}`, `{,M}` or `{N,M}`.
    InvalidInterval,
    /// A range whose end is before its start.
    InvalidRange,
    /// An expression or a count above a limit.
    TooBig,
    /// A repetition of nothing.
    InvalidRepetition,
    /// A `)` without its `(`.
    UnmatchedClose,
}

impl fmt::Display for GnuRegexError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InvalidExpression => "Invalid regular expression",
            Self::InvalidCollation => "Invalid collation character",
            Self::InvalidClass => "Invalid character class name",
            Self::ClassOutsideBrackets => "character class syntax is [[:space:]], not [:space:]",
            Self::TrailingBackslash => "Trailing backslash",
            Self::InvalidBackReference => "Invalid back reference",
            Self::UnmatchedBracket => "Unmatched [, [^, [:, [., or [=",
            Self::UnmatchedOpen => "Unmatched ( or \\(",
            Self::UnmatchedBrace => "Unmatched \\{",
            Self::InvalidInterval => "Invalid content of \\{\\}",
            Self::InvalidRange => "Invalid range end",
            Self::TooBig => "Regular expression too big",
            Self::InvalidRepetition => "Invalid preceding regular expression",
            Self::UnmatchedClose => "Unmatched ) or \\)",
        })
    }
}

impl std::error::Error for GnuRegexError {}

/// A search that was given up: it needs too many steps or too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GnuSearchError;

impl fmt::Display for GnuSearchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("regular expression search needs too many steps")
    }
}

impl std::error::Error for GnuSearchError {}
