//! Redirections.

use std::sync::{Arc, OnceLock};

use crate::SyntaxError;

use super::{Name, Span, Subscript, Text, Word};

/// One redirection. A command's redirections are kept in the order in which they were written, which is the order
/// in which they take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Where it stands, without the body of a here-document.
    pub span: Span,
    /// The descriptor that is redirected.
    pub descriptor: RedirectDescriptor,
    /// What is done to it.
    pub kind: RedirectKind,
}

/// The descriptor that a redirection is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectDescriptor {
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

/// A here-document. Its body follows the line that it is redirected on, so it becomes known later than the rest of the
/// command; in a tree that the parser has handed out it is always there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// The delimiter, quotes removed.
    pub delimiter: Text,
    /// Whether the delimiter was quoted, so that nothing in the body is expanded.
    pub quoted: bool,
    /// `<<-`: leading tabs are taken off. They are already gone from the body.
    pub strip_tabs: bool,
    pub(crate) content: Arc<OnceLock<HereContent>>,
}

/// What follows the line of a here-document.
#[derive(Clone, Debug)]
pub(crate) struct HereContent {
    pub(crate) body: Word,
    pub(crate) terminated: bool,
    pub(crate) error: Option<Box<SyntaxError>>,
}

impl PartialEq for HereContent {
    /// How the body ended is about the text, not about what it says.
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.error.is_some() == other.error.is_some()
    }
}

impl Eq for HereContent {}

impl HereDocument {
    /// The body, parsed as in double quotes. Its span excludes the delimiter's line.
    #[must_use]
    pub fn body(&self) -> &Word {
        static EMPTY: Word = Word::empty();
        self.content.get().map_or(&EMPTY, |content| &content.body)
    }

    /// What is wrong with an expansion in the body. bash finds that out when it makes the redirection; the body is the bare
    /// text then.
    #[must_use]
    pub fn error(&self) -> Option<&SyntaxError> {
        self.content.get().and_then(|content| content.error.as_deref())
    }

    /// Whether the delimiter was seen; otherwise the end of the input ended the body.
    #[must_use]
    pub fn terminated(&self) -> bool {
        self.content.get().is_some_and(|content| content.terminated)
    }
}
