//! Redirections.

use super::{Name, Span, Subscript, Text, Word};

/// One redirection. A command's redirections are kept in the order in which they were written, which is the order
/// in which they take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Where it stands, without the body of a here-document.
    pub span: Span,
    /// The descriptor that is redirected.
    pub descriptor: Descriptor,
    /// What is done to it.
    pub kind: RedirectKind,
}

/// The descriptor that a redirection is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// None given: 0 for input, 1 for output.
    Default,
    /// `2>`.
    Number(u32),
    /// `{name}>`: a fresh one, whose number goes to the variable.
    Variable {
        /// The variable.
        name: Name,
        /// The element of it, for an array.
        subscript: Option<Box<Subscript>>,
    },
}

/// What a redirection does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read(Word),
    /// `>`.
    Write(Word),
    /// `>|`.
    Clobber(Word),
    /// `>>`.
    Append(Word),
    /// `<>`.
    ReadWrite(Word),
    /// `&>`.
    WriteBoth(Word),
    /// `&>>`.
    AppendBoth(Word),
    /// `<<<`.
    HereString(Word),
    /// `<<` and `<<-`.
    HereDocument(Box<HereDocument>),
    /// `<&`.
    DuplicateInput(Duplicate),
    /// `>&`.
    DuplicateOutput(Duplicate),
}

/// The right side of `<&` and `>&`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duplicate {
    /// `&1`, or `&1-` if `close`.
    Descriptor {
        /// The descriptor to copy.
        number: u32,
        /// Whether it is closed afterwards.
        close: bool,
    },
    /// `&-`.
    Close,
    /// Anything else: what it means shows when it is expanded. `>&file` is `&>file`.
    Word(Word),
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// The delimiter, quotes removed.
    pub delimiter: Text,
    /// Whether the delimiter was quoted, so that nothing in the body is expanded.
    pub quoted: bool,
    /// `<<-`: leading tabs are taken off. They are already gone from the body.
    pub strip_tabs: bool,
    /// Whether the delimiter was seen; otherwise the end of the input ended the body.
    pub terminated: bool,
    /// The body, parsed as in double quotes. Its span excludes the delimiter's line.
    pub body: Word,
}
