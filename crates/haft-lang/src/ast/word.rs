//! Words and their parts.

use crate::SyntaxError;

use super::{Arithmetic, List, Name, Node, ParameterExpansion, Slice, Span, Text};

/// A word: what becomes zero or more arguments, or a value, or a pattern, when it is expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands, quotes included.
    pub span: Span,
    /// What expanding it has to do.
    pub flags: WordFlags,
    /// What it is made of.
    pub content: WordContent,
}

/// What a word is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordContent {
    /// One unquoted literal, or nothing at all (the value of `a=`).
    Plain(Text),
    /// Quoted, but nothing in it is ever expanded.
    Static {
        /// The text after quote removal.
        text: Text,
        /// How it was written.
        parts: Slice<WordPart>,
    },
    /// Something in it is expanded or matched.
    Parts(Slice<WordPart>),
}

impl Word {
    /// The empty word: no text, no quotes.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            span: Span { start: 0, end: 0 },
            flags: WordFlags::NONE,
            content: WordContent::Plain(Text::new()),
        }
    }

    /// The text of a word that expands to itself, quotes removed; `None` if anything in it is expanded or matched.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => Some(text),
            WordContent::Parts(_) => None,
        }
    }

    /// The same as [`Word::literal`], as the shared text.
    #[must_use]
    pub fn literal_text(&self) -> Option<&Text> {
        match &self.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => Some(text),
            WordContent::Parts(_) => None,
        }
    }

    /// The text of a word written without any quoting or expansion: what can be a reserved word, a number, an alias.
    #[must_use]
    pub fn plain(&self) -> Option<&[u8]> {
        match &self.content {
            WordContent::Plain(text) => Some(text),
            _ => None,
        }
    }

    /// The parts as written; empty for [`WordContent::Plain`].
    #[must_use]
    pub fn parts(&self) -> &[WordPart] {
        match &self.content {
            WordContent::Plain(_) => &[],
            WordContent::Static { parts, .. } | WordContent::Parts(parts) => parts,
        }
    }
}

/// What expanding a word has to do, precomputed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WordFlags(u16);

impl WordFlags {
    /// Nothing: a plain literal.
    pub const NONE: Self = Self(0);
    /// Holds an unquoted expansion, whose result is split into fields and globbed where the place asks for it.
    pub const SPLIT: Self = Self(1);
    /// Holds an unquoted literal glob or extended glob.
    pub const GLOB: Self = Self(1 << 1);
    /// Holds braces to expand.
    pub const BRACES: Self = Self(1 << 2);
    /// Holds a tilde to expand.
    pub const TILDE: Self = Self(1 << 3);
    /// Holds any quoting: an empty result is still an argument.
    pub const QUOTED: Self = Self(1 << 4);
    /// Holds `$@`, `${a[@]}`, `${!prefix@}` or the like, which make several fields even when quoted.
    pub const FIELDS: Self = Self(1 << 5);
    /// Holds a command or process substitution: expanding it runs commands.
    pub const COMMANDS: Self = Self(1 << 6);
    /// Holds any expansion: parameter, command, process, arithmetic.
    pub const EXPANSION: Self = Self(1 << 7);
    /// Looks like `name=value`: `export`, `declare` and the like, reached by way of `command` or a variable, take
    /// it as an assignment and do not split it.
    pub const ASSIGNMENT: Self = Self(1 << 8);

    /// Whether any flag of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPart {
    /// Where it stands, delimiters included.
    pub span: Span,
    /// What it is.
    pub kind: PartKind,
}

/// The kinds of word parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Text as it stands. In patterns it is inert, except that inside a bracket expression which a
    /// [`Glob::Bracket`] left open its `]`, `-`, `!` and `^` act. Inside double quotes it is quoted text.
    Literal(Text),
    /// A byte quoted by a backslash.
    Escaped(u8),
    /// `'…'`.
    SingleQuoted(Text),
    /// `$'…'`, decoded.
    AnsiQuoted(Text),
    /// `"…"`: within it only literals, escapes, parameters, commands and arithmetic occur.
    DoubleQuoted(Slice<WordPart>),
    /// `$"…"`: translated, then as [`PartKind::DoubleQuoted`].
    LocaleQuoted(Slice<WordPart>),
    /// `$name` or `${name}`: a whole variable, with nothing done to it. By far the most frequent expansion.
    Variable(Name),
    /// Any other parameter expansion.
    Parameter(Node<ParameterExpansion>),
    /// `$(…)` or `` `…` ``.
    Command(Node<CommandSubstitution>),
    /// `$((…))` or `$[…]`.
    Arithmetic(Node<Arithmetic>),
    /// `<(…)` or `>(…)`.
    Process(Box<ProcessSubstitution>),
    /// `~`, `~user`, `~+`, `~-`, `~2`: what follows the tilde.
    Tilde(Text),
    /// `{a,b}` or `{1..9}`.
    Braces(Box<Braces>),
    /// `*`, `?`, `[…]`.
    Glob(Glob),
    /// `@(…)` and its kin.
    ExtendedGlob(Box<ExtendedGlob>),
}

/// `$(…)` or `` `…` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSubstitution {
    /// Whether it was written with backquotes.
    pub backquoted: bool,
    /// What it runs.
    pub body: List,
    /// Why the text between backquotes could not be parsed. bash finds that out when it gets there, and goes on with a
    /// substitution that yields nothing; the body is empty then. Never set for `$(…)`, whose errors are the
    /// script's.
    pub error: Option<Box<BackquoteError>>,
}

/// Text between backquotes that could not be parsed.
#[derive(Clone, Debug)]
pub struct BackquoteError {
    /// The text, as written.
    pub text: Text,
    /// What is wrong with it.
    pub error: SyntaxError,
}

impl PartialEq for BackquoteError {
    /// The error follows from the text.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for BackquoteError {}

/// `<(…)` or `>(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSubstitution {
    /// Which end the word names.
    pub direction: SubstitutionDirection,
    /// What it runs.
    pub body: List,
}

/// The direction of a process substitution, seen from the command that gets the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubstitutionDirection {
    /// `<(…)`: the word names what the list writes.
    Read,
    /// `>(…)`: the word names what the list reads.
    Write,
}

/// Braces that are expanded. Never expanded by the parser: a range may be huge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Braces {
    /// `{a,b,c}`: two or more alternatives, each of which may be empty.
    List(Slice<Slice<WordPart>>),
    /// `{first..last..step}`.
    Range(BraceRange),
}

/// A range in braces. It counts from `first` towards `last`, whatever the sign of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BraceRange {
    /// `{1..10}`, `{01..10}`, `{1..10..2}`.
    Numbers {
        /// The first number.
        first: i64,
        /// The last number, reached only if the steps meet it.
        last: i64,
        /// The distance from one number to the next, never 0.
        step: u64,
        /// The width to which numbers are padded with zeros, sign included; 0 for none.
        width: u32,
    },
    /// `{a..z}`.
    Letters {
        /// The first letter.
        first: u8,
        /// The last letter, reached only if the steps meet it.
        last: u8,
        /// The distance from one letter to the next, never 0.
        step: u64,
    },
}

/// An unquoted pattern character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glob {
    /// `*`.
    AnyString,
    /// `?`.
    AnyCharacter,
    /// A bracket expression. Either whole, `[a-z]`; or, if it holds quotes or expansions, only its `[`, and the
    /// parts that follow make up the rest.
    Bracket(Text),
}

/// `@(a|b)` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedGlob {
    /// What is matched of the alternatives.
    pub operator: GlobOperator,
    /// The alternatives, at least one.
    pub alternatives: Slice<Slice<WordPart>>,
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
