//! The dialects of GNU regular expressions.

use crate::encoding::Encoding;

/// How a regular expression is read and matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GnuRegexOptions {
    /// The dialect.
    pub syntax: GnuSyntax,
    /// Whether letters match in either case.
    pub ignore_case: bool,
    /// Whether `^` and `$` also match at newlines, which `.` and `[^…]` then do not match. This is the flag `M` of `sed`.
    pub multi_line: bool,
    /// The character encoding.
    pub encoding: Encoding,
}

impl GnuRegexOptions {
    /// A dialect in an encoding, without further options.
    #[must_use]
    pub const fn new(syntax: GnuSyntax, encoding: Encoding) -> Self {
        Self { syntax, ignore_case: false, multi_line: false, encoding }
    }
}

/// The dialect of one of GNU's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GnuSyntax {
    /// `sed`: basic.
    SedBasic,
    /// `sed -E`: extended.
    SedExtended,
    /// `grep`: basic.
    GrepBasic,
    /// `grep -E`: extended.
    GrepExtended,
    /// `gawk`: extended, with the escapes of string constants, `\y` for `\b`, and no back-references.
    Awk,
}

/// How a repetition operator is read that has nothing to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeadingOperator {
    Literal,
    Skipped,
    Invalid,
}

impl GnuSyntax {
    /// Whether the operators `( ) { } | + ?` are written with a backslash.
    pub(super) const fn is_basic(self) -> bool {
        matches!(self, Self::SedBasic | Self::GrepBasic)
    }

    pub(super) const fn leading_operator(self) -> LeadingOperator {
        match self {
            Self::SedBasic | Self::GrepBasic | Self::Awk => LeadingOperator::Literal,
            Self::GrepExtended => LeadingOperator::Skipped,
            Self::SedExtended => LeadingOperator::Invalid,
        }
    }

    /// Whether a repetition of a repetition, and an interval that repeats nothing, are errors.
    pub(super) const fn refuses_double_repetition(self) -> bool {
        matches!(self, Self::SedBasic)
    }

    /// Whether `)` without `(` matches itself.
    pub(super) const fn allows_unmatched_close(self) -> bool {
        matches!(self, Self::GrepExtended | Self::Awk)
    }

    /// Whether an interval that is not complete matches itself.
    pub(super) const fn allows_invalid_interval(self) -> bool {
        matches!(self, Self::GrepExtended | Self::Awk)
    }

    /// Whether repetitions of assertions such as `\<`, and intervals that repeat nothing, are refused, because the results of GNU's
    /// `grep` depend on the locale and on the rest of the expression.
    pub(super) const fn is_grep(self) -> bool {
        matches!(self, Self::GrepBasic | Self::GrepExtended)
    }

    pub(super) const fn has_back_references(self) -> bool {
        !matches!(self, Self::Awk)
    }
}
