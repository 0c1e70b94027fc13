//! Parameter expansions.

use std::fmt;
use std::sync::Arc;

use super::{Arithmetic, Bytes, Name, Word};

/// A parameter expansion other than plain `$name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterExpansion {
    /// The parameter to expand.
    pub parameter: Parameter,
    /// The subscript in `${name[…]}`.
    pub subscript: Option<Box<Subscript>>,
    /// Whether the expansion is indirect: `${!name…}`.
    pub indirect: bool,
    /// The operation on the value.
    pub operator: ParameterOperator,
}

impl ParameterExpansion {
    /// Returns the number of a positional parameter without an operator, as in `$1`.
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

/// A shell parameter.
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
    /// Returns the character after the dollar sign.
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

/// A subscript of an array: `[…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    /// Source range, without the brackets.
    pub span: super::Span,
    /// The kind.
    pub kind: SubscriptKind,
}

/// The kind of a [`Subscript`].
#[derive(Clone)]
pub enum SubscriptKind {
    /// `[@]`.
    At,
    /// `[*]`.
    Star,
    /// One element.
    Element {
        /// The key of an associative array. It undergoes quote removal like any word.
        key: Arc<Word>,
        /// The index of an indexed array. Its text is the same word as the key: walk only one of them,
        /// because walking both takes time exponential in the nesting depth of subscripts.
        index: Box<Arithmetic>,
    },
}

impl PartialEq for SubscriptKind {
    /// Compares only keys: the index depends on the key.
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

/// The operation of a parameter expansion. `or_empty` marks the form with a colon, which treats an empty
/// value as unset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterOperator {
    /// Nothing.
    Value,
    /// `${#name}`.
    Length,
    /// `${!prefix*}`, or `${!prefix@}` if `fields`: the names of variables with this prefix.
    Names {
        /// Whether each name is a separate field in double quotes.
        fields: bool,
    },
    /// `${!array[*]}`, or `${!array[@]}` if `fields`: the keys of an array.
    Keys {
        /// Whether each key is a separate field in double quotes.
        fields: bool,
    },
    /// `${name:-word}`.
    Default {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// The word used instead.
        word: Word,
    },
    /// `${name:=word}`.
    Assign {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// The word to assign and use instead.
        word: Word,
    },
    /// `${name:?word}`.
    Require {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// The error message.
        word: Word,
    },
    /// `${name:+word}`.
    Alternative {
        /// See [`ParameterOperator`].
        or_empty: bool,
        /// The word used if the parameter is set.
        word: Word,
    },
    /// `${name#pattern}`, `${name##pattern}`.
    RemovePrefix {
        /// Whether to remove the longest match.
        longest: bool,
        /// The pattern to remove.
        pattern: Word,
    },
    /// `${name%pattern}`, `${name%%pattern}`.
    RemoveSuffix {
        /// Whether to remove the longest match.
        longest: bool,
        /// The pattern to remove.
        pattern: Word,
    },
    /// `${name/pattern/replacement}` and its variants.
    Replace {
        /// Which matches to replace.
        scope: ReplaceScope,
        /// The pattern to replace.
        pattern: Word,
        /// The replacement; `None` without a second slash.
        replacement: Option<Word>,
    },
    /// `${name^pattern}` and its variants.
    ChangeCase {
        /// The case to change to.
        change: CaseChange,
        /// Whether to change all matching characters or only the first character.
        all: bool,
        /// The characters to change; `None` means any.
        pattern: Option<Word>,
    },
    /// `${name@Q}` and the other transformations.
    Transform(Transform),
    /// `${name:offset:length}`.
    Substring {
        /// The offset.
        offset: Box<Arithmetic>,
        /// The number of characters or elements.
        length: Option<Box<Arithmetic>>,
    },
    /// An invalid expansion. bash reports "bad substitution" only when it expands it.
    Invalid {
        /// The text between the braces. The `parameter` field is meaningless.
        text: Bytes,
    },
}

/// Which matches `${name/pattern/replacement}` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplaceScope {
    /// `/`: the first.
    First,
    /// `//`: all.
    All,
    /// `/#`: a match at the beginning.
    Prefix,
    /// `/%`: a match at the end.
    Suffix,
}

/// The case modification of `${name^}` and its variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaseChange {
    /// `^`.
    Upper,
    /// `,`.
    Lower,
    /// `~`.
    Toggle,
}

/// The transformations in `${name@…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// `@U`: upper case.
    Upper,
    /// `@u`: upper case for the first character.
    UpperFirst,
    /// `@L`: lower case.
    Lower,
    /// `@Q`: quoted for reuse as input.
    Quote,
    /// `@E`: backslash escapes expanded as in `$'…'`.
    Escapes,
    /// `@P`: expanded as a prompt.
    Prompt,
    /// `@A`: an assignment that recreates the variable.
    Assignment,
    /// `@K`: keys and values, quoted.
    Pairs,
    /// `@a`: the attribute letters.
    Attributes,
    /// `@k`: keys and values, as separate words.
    PairWords,
}

impl Transform {
    /// Returns the letter after the `@`.
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
