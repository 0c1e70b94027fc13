//! `[[ … ]]`.

use super::{Slice, Span, Word};

/// An expression inside `[[ ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// Where it stands.
    pub span: Span,
    /// What it tests.
    pub kind: ConditionalKind,
}

/// The kinds of expressions inside `[[ ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionalKind {
    /// `a || b || …`: two or more, the first true one decides.
    Or(Slice<Conditional>),
    /// `a && b && …`: two or more, the first false one decides.
    And(Slice<Conditional>),
    /// `! a`.
    Not(Box<Conditional>),
    /// `( a )`.
    Group(Box<Conditional>),
    /// `-f word` and its kin.
    Unary {
        /// The test.
        test: UnaryTest,
        /// What is tested.
        operand: Word,
    },
    /// `word == pattern` and its kin.
    Binary {
        /// The test.
        test: BinaryTest,
        /// The left operand.
        left: Word,
        /// The right operand: a pattern for `==` and `!=`; for `=~` a regular expression, in which quoted parts are
        /// literal and everything else is text.
        right: Word,
    },
    /// A word alone: true if it is not empty.
    Word(Word),
}

/// The unary tests: the letter after the dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnaryTest(u8);

impl UnaryTest {
    /// The letters there are.
    pub const LETTERS: &'static [u8] = b"abcdefghknoprstuvwxzGLNORS";

    /// The test of this letter, if there is one.
    #[must_use]
    pub fn from_letter(letter: u8) -> Option<Self> {
        Self::LETTERS.contains(&letter).then_some(Self(letter))
    }

    /// The letter: `f` for `-f`.
    #[must_use]
    pub fn letter(self) -> u8 {
        self.0
    }
}

/// The binary tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryTest {
    /// `=`.
    MatchesSingle,
    /// `==`.
    Matches,
    /// `!=`.
    NotMatches,
    /// `=~`.
    Regex,
    /// `<`.
    Before,
    /// `>`.
    After,
    /// `-eq`.
    Equal,
    /// `-ne`.
    NotEqual,
    /// `-lt`.
    Less,
    /// `-le`.
    LessOrEqual,
    /// `-gt`.
    Greater,
    /// `-ge`.
    GreaterOrEqual,
    /// `-nt`.
    Newer,
    /// `-ot`.
    Older,
    /// `-ef`.
    SameFile,
}

impl BinaryTest {
    /// The tests and how they are written.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("=", Self::MatchesSingle),
        ("==", Self::Matches),
        ("!=", Self::NotMatches),
        ("=~", Self::Regex),
        ("<", Self::Before),
        (">", Self::After),
        ("-eq", Self::Equal),
        ("-ne", Self::NotEqual),
        ("-lt", Self::Less),
        ("-le", Self::LessOrEqual),
        ("-gt", Self::Greater),
        ("-ge", Self::GreaterOrEqual),
        ("-nt", Self::Newer),
        ("-ot", Self::Older),
        ("-ef", Self::SameFile),
    ];

    /// The test that is written so.
    #[must_use]
    pub fn from_symbol(symbol: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(written, _)| written.as_bytes() == symbol).map(|(_, test)| *test)
    }

    /// How it is written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|(_, test)| *test == self).map_or("", |(written, _)| written)
    }
}
