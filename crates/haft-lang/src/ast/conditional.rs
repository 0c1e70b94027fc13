//! `[[ … ]]`.

use super::{SharedSlice, Span, Word};

/// A conditional expression inside `[[ ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// Source range.
    pub span: Span,
    /// The kind of expression.
    pub kind: ConditionalKind,
}

/// The kind of a [`Conditional`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionalKind {
    /// `a || b || …`: two or more operands, evaluated until one is true.
    Or(SharedSlice<Conditional>),
    /// `a && b && …`: two or more operands, evaluated until one is false.
    And(SharedSlice<Conditional>),
    /// `! a`.
    Not(Box<Conditional>),
    /// `( a )`.
    Group(Box<Conditional>),
    /// `-f word` and the other unary tests.
    Unary {
        /// The test.
        test: UnaryTest,
        /// The operand.
        operand: Word,
    },
    /// `word == pattern` and the other binary tests.
    Binary {
        /// The test.
        test: BinaryTest,
        /// The left operand.
        left: Word,
        /// The right operand: a pattern for `==` and `!=`, a regular expression for `=~`. Quoted parts of a
        /// regular expression match literally.
        right: Word,
    },
    /// A single word: true if it is not empty.
    Word(Word),
}

/// A unary test, identified by the letter after the dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnaryTest(u8);

impl UnaryTest {
    /// All letters that bash knows.
    pub const LETTERS: &'static [u8] = b"abcdefghknoprstuvwxzGLNORS";

    /// Returns the test for a letter.
    #[must_use]
    pub fn from_letter(letter: u8) -> Option<Self> {
        Self::LETTERS.contains(&letter).then_some(Self(letter))
    }

    /// Returns the letter: `f` for `-f`.
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
    /// All tests with their spelling.
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

    /// Returns the test with this spelling.
    #[must_use]
    pub fn from_symbol(symbol: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(written, _)| written.as_bytes() == symbol).map(|(_, test)| *test)
    }

    /// Returns the spelling.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|(_, test)| *test == self).map_or("", |(written, _)| written)
    }
}
