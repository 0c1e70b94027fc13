//! Words and their parts.

use crate::SyntaxError;

use super::{Arithmetic, Bytes, List, Name, ParameterExpansion, SharedNode, SharedSlice, Span};

/// A word. Depending on its context, it expands to zero or more arguments, a value or a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Source range, including quotes.
    pub span: Span,
    /// The steps that an expansion of the word needs.
    pub flags: WordFlags,
    /// The content.
    pub content: WordContent,
}

/// The content of a [`Word`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordContent {
    /// One unquoted literal. Empty for the value of `a=`.
    Plain(Bytes),
    /// Quoted, without expansions.
    Static {
        /// The text after quote removal.
        text: Bytes,
        /// The parts as written in the source.
        parts: SharedSlice<WordPart>,
    },
    /// A word with expansions or patterns.
    Parts(SharedSlice<WordPart>),
}

impl Word {
    /// Creates an empty word: no text, no quotes.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            span: Span { start: 0, end: 0 },
            flags: WordFlags::NONE,
            content: WordContent::Plain(Bytes::new()),
        }
    }

    /// Returns the text after quote removal if the word contains no expansions or patterns.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => Some(text),
            WordContent::Parts(_) => None,
        }
    }

    /// Like [`Word::literal`], but returns the shared [`Bytes`].
    #[must_use]
    pub fn literal_text(&self) -> Option<&Bytes> {
        match &self.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => Some(text),
            WordContent::Parts(_) => None,
        }
    }

    /// Returns the text of a word without quoting and expansions. Only such a word can be a reserved word, a
    /// number or an alias.
    #[must_use]
    pub fn plain(&self) -> Option<&[u8]> {
        match &self.content {
            WordContent::Plain(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the parts; empty for [`WordContent::Plain`].
    #[must_use]
    pub fn parts(&self) -> &[WordPart] {
        match &self.content {
            WordContent::Plain(_) => &[],
            WordContent::Static { parts, .. } | WordContent::Parts(parts) => parts,
        }
    }
}

/// The steps that an expansion of a word needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WordFlags(u16);

impl WordFlags {
    /// No flags: a plain literal.
    pub const NONE: Self = Self(0);
    /// Contains an unquoted expansion. Its result undergoes word splitting and filename expansion where the
    /// context calls for them.
    pub const SPLIT: Self = Self(1);
    /// Contains an unquoted glob or extended glob.
    pub const GLOB: Self = Self(1 << 1);
    /// Contains a brace expansion.
    pub const BRACES: Self = Self(1 << 2);
    /// Contains a tilde expansion.
    pub const TILDE: Self = Self(1 << 3);
    /// Contains quoting: an empty result is still an argument.
    pub const QUOTED: Self = Self(1 << 4);
    /// Contains `$@`, `${a[@]}` or `${!prefix@}`, which can expand to several fields even in double quotes.
    pub const FIELDS: Self = Self(1 << 5);
    /// Contains a command or process substitution, so expanding it runs commands.
    pub const COMMANDS: Self = Self(1 << 6);
    /// Contains a parameter, command, process or arithmetic expansion.
    pub const EXPANSION: Self = Self(1 << 7);
    /// Has the form `name=value`. If `export`, `declare` or a similar builtin is called through `command` or
    /// a variable, it treats the word as an assignment and does not split it.
    pub const ASSIGNMENT: Self = Self(1 << 8);

    /// Whether any flag of `other` is set in `self`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPart {
    /// Source range, including delimiters.
    pub span: Span,
    /// The kind.
    pub kind: PartKind,
}

/// The kind of a [`WordPart`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Literal text. It has no special meaning in patterns, except inside a bracket expression that a
    /// [`Glob::Bracket`] left open: there `]`, `-`, `!` and `^` keep their meaning. Inside double quotes it
    /// is quoted text.
    Literal(Bytes),
    /// A byte escaped with a backslash.
    Escaped(u8),
    /// `'…'`.
    SingleQuoted(Bytes),
    /// `$'…'`, decoded.
    AnsiQuoted(Bytes),
    /// `"…"`: contains only literals, escapes, and parameter, command and arithmetic expansions.
    DoubleQuoted(SharedSlice<WordPart>),
    /// `$"…"`: translated according to the locale, then treated like [`PartKind::DoubleQuoted`].
    LocaleQuoted(SharedSlice<WordPart>),
    /// `$name` or `${name}` without an operator: by far the most frequent expansion.
    Variable(Name),
    /// Any other parameter expansion.
    Parameter(SharedNode<ParameterExpansion>),
    /// `$(…)` or `` `…` ``.
    Command(SharedNode<CommandSubstitution>),
    /// `$((…))` or `$[…]`.
    Arithmetic(SharedNode<Arithmetic>),
    /// `<(…)` or `>(…)`.
    Process(Box<ProcessSubstitution>),
    /// `~`, `~user`, `~+`, `~-`, `~2`: the text after the tilde.
    Tilde(Bytes),
    /// `{a,b}` or `{1..9}`.
    Braces(Box<Braces>),
    /// `*`, `?`, `[…]`.
    Glob(Glob),
    /// An extended glob such as `@(…)`.
    ExtendedGlob(Box<ExtendedGlob>),
}

/// `$(…)` or `` `…` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSubstitution {
    /// Whether it was written with backquotes.
    pub backquoted: bool,
    /// Whether aliases were expanded when it was parsed. bash expands those that exist when it runs.
    pub aliased: bool,
    /// The commands to run.
    pub body: List,
    /// The error if the text between backquotes is invalid. bash reports it only when it expands the
    /// substitution, which then yields nothing, and the body is empty. Always `None` for `$(…)`, because its
    /// errors make the whole script invalid.
    pub error: Option<Box<BackquoteError>>,
}

/// Invalid text between backquotes.
#[derive(Clone, Debug)]
pub struct BackquoteError {
    /// The text between the backquotes.
    pub text: Bytes,
    /// The syntax error.
    pub error: SyntaxError,
}

impl PartialEq for BackquoteError {
    /// Compares only texts: the error depends on the text.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for BackquoteError {}

/// `<(…)` or `>(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSubstitution {
    /// The direction.
    pub direction: SubstitutionDirection,
    /// Whether aliases were expanded when it was parsed. bash expands those that exist when it runs.
    pub aliased: bool,
    /// The commands to run.
    pub body: List,
}

/// The direction of a process substitution, seen from the command that gets the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubstitutionDirection {
    /// `<(…)`: the word names a file to read the output of the commands from.
    Read,
    /// `>(…)`: the word names a file to write the input of the commands to.
    Write,
}

/// A brace expansion. The parser does not expand it, because a range may be huge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Braces {
    /// `{a,b,c}`: two or more alternatives, each of which may be empty.
    List(SharedSlice<SharedSlice<WordPart>>),
    /// `{first..last..step}`.
    Range(BraceRange),
}

/// A sequence expression. It counts from `first` towards `last`, whatever the sign of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BraceRange {
    /// `{1..10}`, `{01..10}`, `{1..10..2}`.
    Numbers {
        /// The first number.
        first: i64,
        /// The last number. The sequence may skip it.
        last: i64,
        /// The increment, never 0.
        step: u64,
        /// The width to which numbers are padded with zeros, including the sign; 0 for no padding.
        width: u32,
    },
    /// `{a..z}`.
    Letters {
        /// The first letter.
        first: u8,
        /// The last letter. The sequence may skip it.
        last: u8,
        /// The increment, never 0.
        step: u64,
    },
}

/// An unquoted glob pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glob {
    /// `*`.
    AnyString,
    /// `?`.
    AnyCharacter,
    /// A bracket expression. The text is the whole expression, `[a-z]`, or only its `[` if it contains quotes
    /// or expansions. In that case the following parts make up the rest.
    Bracket(Bytes),
}

/// An extended glob such as `@(a|b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedGlob {
    /// How often the alternatives match.
    pub operator: GlobOperator,
    /// The alternatives, at least one.
    pub alternatives: SharedSlice<SharedSlice<WordPart>>,
}

/// The operators of extended globs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GlobOperator {
    /// `?(…)`.
    ZeroOrOne,
    /// `*(…)`.
    ZeroOrMore,
    /// `+(…)`.
    OneOrMore,
    /// `@(…)`.
    One,
    /// `!(…)`.
    Not,
}
