//! Parameter expansions.

use std::fmt;
use std::sync::Arc;

use super::{Arithmetic, Name, Text, Word};

/// A parameter expansion other than plain `$name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterExpansion {
    /// What is expanded.
    pub parameter: Parameter,
    /// `[…]` after the name.
    pub subscript: Option<Box<Subscript>>,
    /// `${!name…}`: the value names the parameter that is meant.
    pub indirect: bool,
    /// What is done to the value.
    pub operator: ParameterOperator,
}

impl ParameterExpansion {
    /// The number of a positional parameter to whose value nothing is done: `$1`.
    #[must_use]
    #[inline]
    pub fn plain_position(&self) -> Option<u32> {
        match (&self.parameter, &self.operator) {
            (Parameter::Positional(number), ParameterOperator::Value)
                if !self.indirect && self.subscript.is_none() =>
            {
                Some(*number)
            }
            _ => None,
        }
    }
}

/// What a parameter expansion expands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A variable.
    Variable(Name),
    /// `$0`, `$1`, …
    Positional(u32),
    /// `$@`, `$?`, …
    Special(SpecialParameter),
}

/// The special parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialParameter {
    /// `$@`.
    At,
    /// `$*`.
    Star,
    /// `$#`.
    Count,
    /// `$?`.
    Status,
    /// `$-`.
    Flags,
    /// `$$`.
    Process,
    /// `$!`.
    Background,
}

impl SpecialParameter {
    /// The character after the dollar sign.
    #[must_use]
    pub fn symbol(self) -> u8 {
        match self {
            Self::At => b'@',
            Self::Star => b'*',
            Self::Count => b'#',
            Self::Status => b'?',
            Self::Flags => b'-',
            Self::Process => b'$',
            Self::Background => b'!',
        }
    }
}

/// `[…]` after the name of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    /// Where it stands, without the brackets.
    pub span: super::Span,
    /// What it selects.
    pub kind: SubscriptKind,
}

/// What a subscript selects.
#[derive(Clone)]
pub enum SubscriptKind {
    /// `[@]`.
    At,
    /// `[*]`.
    Star,
    /// One element.
    Element {
        /// The key, if the array is associative; its quotes are removed as in any word.
        key: Arc<Word>,
        /// The index, if it is not. Its text is the very same word as the key: walk one of them only, or nested
        /// subscripts take time exponential in their depth.
        index: Box<Arithmetic>,
    },
}

impl PartialEq for SubscriptKind {
    /// The index follows from the key.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::At, Self::At) | (Self::Star, Self::Star) => true,
            (Self::Element { key, .. }, Self::Element { key: other, .. }) => key == other,
            _ => false,
        }
    }
}

impl Eq for SubscriptKind {}

impl fmt::Debug for SubscriptKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At => formatter.write_str("At"),
            Self::Star => formatter.write_str("Star"),
            Self::Element { key, index } => {
                formatter.debug_struct("Element").field("key", key).field("index", &index.form).finish()
            }
        }
    }
}

/// What is done to the value of a parameter. `or_empty` tells the form with a colon, which treats an empty value like
/// an unset one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterOperator {
    /// Nothing.
    Value,
    /// `${#name}`.
    Length,
    /// `${!prefix*}`, or `${!prefix@}` if `fields`: the names that begin so.
    Names {
        /// Whether each name is a field of its own in double quotes.
        fields: bool,
    },
    /// `${!array[*]}`, or `${!array[@]}` if `fields`: the keys of an array.
    Keys {
        /// Whether each key is a field of its own in double quotes.
        fields: bool,
    },
    /// `${name:-word}`.
    Default {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// What is used instead.
        word: Word,
    },
    /// `${name:=word}`.
    Assign {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// What is assigned and used instead.
        word: Word,
    },
    /// `${name:?word}`.
    Require {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// The message.
        word: Word,
    },
    /// `${name:+word}`.
    Alternative {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// What is used if the parameter is set.
        word: Word,
    },
    /// `${name#pattern}`, `${name##pattern}`.
    RemovePrefix {
        /// Whether the longest match goes.
        longest: bool,
        /// What to remove.
        pattern: Word,
    },
    /// `${name%pattern}`, `${name%%pattern}`.
    RemoveSuffix {
        /// Whether the longest match goes.
        longest: bool,
        /// What to remove.
        pattern: Word,
    },
    /// `${name/pattern/replacement}` and its kin.
    Replace {
        /// Which matches are replaced.
        scope: ReplaceScope,
        /// What to replace.
        pattern: Word,
        /// What to put there; absent if there was no second slash.
        replacement: Option<Word>,
    },
    /// `${name^pattern}` and its kin.
    ChangeCase {
        /// What happens to the letters.
        change: CaseChange,
        /// Whether all characters are considered, or the first alone.
        all: bool,
        /// Which characters are changed; absent means any.
        pattern: Option<Word>,
    },
    /// `${name@Q}` and its kin.
    Transform(Transform),
    /// `${name:offset:length}`.
    Substring {
        /// Where to begin.
        offset: Box<Arithmetic>,
        /// How many characters or elements.
        length: Option<Box<Arithmetic>>,
    },
    /// Not an expansion that bash knows: it says "bad substitution" when it gets there, not before.
    Invalid {
        /// The text between the braces; the parameter says nothing.
        text: Text,
    },
}

/// Which matches `${name/pattern/replacement}` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplaceScope {
    /// `/`: the first.
    First,
    /// `//`: all.
    All,
    /// `/#`: one at the beginning.
    Prefix,
    /// `/%`: one at the end.
    Suffix,
}

/// What `${name^}` and its kin do to letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaseChange {
    /// `^`.
    Upper,
    /// `,`.
    Lower,
    /// `~`.
    Toggle,
}

/// `${name@…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// `@U`: to upper case.
    Upper,
    /// `@u`: the first character to upper case.
    UpperFirst,
    /// `@L`: to lower case.
    Lower,
    /// `@Q`: quoted for reuse as input.
    Quote,
    /// `@E`: backslash escapes expanded as in `$'…'`.
    Escapes,
    /// `@P`: expanded as a prompt.
    Prompt,
    /// `@A`: as an assignment that would recreate it.
    Assignment,
    /// `@K`: keys and values, quoted.
    Pairs,
    /// `@a`: the attribute letters.
    Attributes,
    /// `@k`: keys and values, as separate words.
    PairWords,
}

impl Transform {
    /// The letter after the `@`.
    #[must_use]
    pub fn letter(self) -> u8 {
        match self {
            Self::Upper => b'U',
            Self::UpperFirst => b'u',
            Self::Lower => b'L',
            Self::Quote => b'Q',
            Self::Escapes => b'E',
            Self::Prompt => b'P',
            Self::Assignment => b'A',
            Self::Pairs => b'K',
            Self::Attributes => b'a',
            Self::PairWords => b'k',
        }
    }
}
