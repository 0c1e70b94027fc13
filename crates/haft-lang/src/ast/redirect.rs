//! Redirections.

use std::sync::{Arc, OnceLock};

use crate::SyntaxError;

use super::{Bytes, Name, Span, Subscript, Word};

/// A redirection. A command's redirections are stored in source order, which is the order in which they take
/// effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Source range, without the body of a here-document.
    pub span: Span,
    /// The file descriptor to redirect.
    pub descriptor: RedirectDescriptor,
    /// The kind.
    pub kind: RedirectKind,
}

/// The file descriptor on the left of a redirection operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectDescriptor {
    /// Not specified: 0 for input, 1 for output.
    Default,
    /// `2>`.
    Number(u32),
    /// `{name}>`: a new file descriptor, whose number is assigned to the variable.
    Variable {
        /// The variable.
        name: Name,
        /// The array element to assign to.
        subscript: Option<Box<Subscript>>,
    },
}

/// The kind of a [`Redirect`].
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
        /// The file descriptor to duplicate.
        number: u32,
        /// Whether to close it afterwards.
        close: bool,
    },
    /// `&-`.
    Close,
    /// Any other word. Its meaning depends on the result of the expansion. `>&file` is `&>file`.
    Word(Word),
}

/// A here-document. The parser reads its body later than the rest of the command, but a tree that the parser
/// has returned always contains the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// The delimiter, quotes removed.
    pub delimiter: Bytes,
    /// Whether the delimiter was quoted, so the body is not expanded.
    pub quoted: bool,
    /// Whether the operator is `<<-`. Leading tabs are already removed from the body.
    pub strip_tabs: bool,
    pub(crate) content: Arc<OnceLock<HereContent>>,
}

/// The body of a here-document.
#[derive(Clone, Debug)]
pub(crate) struct HereContent {
    pub(crate) body: Word,
    pub(crate) terminated: bool,
    pub(crate) error: Option<Box<SyntaxError>>,
}

impl PartialEq for HereContent {
    /// Ignores `terminated`, which depends on the text and not on its meaning.
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.error.is_some() == other.error.is_some()
    }
}

impl Eq for HereContent {}

impl HereDocument {
    /// Returns the body, parsed as in double quotes. Its span excludes the delimiter line.
    #[must_use]
    pub fn body(&self) -> &Word {
        static EMPTY: Word = Word::empty();
        self.content.get().map_or(&EMPTY, |content| &content.body)
    }

    /// Returns the error if an expansion in the body is invalid. bash reports it only when it performs the
    /// redirection. The body is then a plain literal.
    #[must_use]
    pub fn error(&self) -> Option<&SyntaxError> {
        self.content.get().and_then(|content| content.error.as_deref())
    }

    /// Whether the delimiter was found. Otherwise the end of the input ended the body.
    #[must_use]
    pub fn terminated(&self) -> bool {
        self.content.get().is_some_and(|content| content.terminated)
    }
}
