//! The builtin functions.

/// A builtin function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltinFunction {
    Atan2,
    Close,
    Cos,
    Exp,
    Fflush,
    Gensub,
    Gsub,
    Index,
    Int,
    Length,
    Log,
    Match,
    Mktime,
    Rand,
    Sin,
    Split,
    Sprintf,
    Sqrt,
    Srand,
    Strftime,
    Strtonum,
    Sub,
    Substr,
    System,
    Systime,
    Tolower,
    Toupper,
    Asort,
    Asorti,
    And,
    Or,
    Xor,
    Lshift,
    Rshift,
    Compl,
}

use BuiltinFunction as F;

/// The names, with the smallest and the largest number of arguments.
const FUNCTIONS: [(&str, BuiltinFunction, usize, usize); 35] = [
    ("and", F::And, 2, 99),
    ("asort", F::Asort, 1, 2),
    ("asorti", F::Asorti, 1, 2),
    ("atan2", F::Atan2, 2, 2),
    ("close", F::Close, 1, 2),
    ("compl", F::Compl, 1, 1),
    ("cos", F::Cos, 1, 1),
    ("exp", F::Exp, 1, 1),
    ("fflush", F::Fflush, 0, 1),
    ("gensub", F::Gensub, 3, 4),
    ("gsub", F::Gsub, 2, 3),
    ("index", F::Index, 2, 2),
    ("int", F::Int, 1, 1),
    ("length", F::Length, 0, 1),
    ("log", F::Log, 1, 1),
    ("lshift", F::Lshift, 2, 2),
    ("match", F::Match, 2, 3),
    ("mktime", F::Mktime, 1, 2),
    ("or", F::Or, 2, 99),
    ("rand", F::Rand, 0, 0),
    ("rshift", F::Rshift, 2, 2),
    ("sin", F::Sin, 1, 1),
    ("split", F::Split, 2, 4),
    ("sprintf", F::Sprintf, 1, usize::MAX),
    ("sqrt", F::Sqrt, 1, 1),
    ("srand", F::Srand, 0, 1),
    ("strftime", F::Strftime, 0, 3),
    ("strtonum", F::Strtonum, 1, 1),
    ("sub", F::Sub, 2, 3),
    ("substr", F::Substr, 2, 3),
    ("system", F::System, 1, 1),
    ("systime", F::Systime, 0, 0),
    ("tolower", F::Tolower, 1, 1),
    ("toupper", F::Toupper, 1, 1),
    ("xor", F::Xor, 2, 99),
];

impl BuiltinFunction {
    /// Finds a function by name.
    pub(super) fn find(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }

    /// The name, and the smallest and the largest number of arguments.
    pub(super) fn signature(self) -> (&'static str, usize, usize) {
        FUNCTIONS
            .iter()
            .find(|entry| entry.1 == self)
            .map_or(("", 0, usize::MAX), |(name, _, least, most)| (name, *least, *most))
    }

    /// The index of an argument that must be an array.
    pub(super) fn array_arguments(self) -> &'static [usize] {
        match self {
            Self::Split => &[1, 3],
            Self::Match => &[2],
            Self::Asort | Self::Asorti => &[0, 1],
            _ => &[],
        }
    }
}
