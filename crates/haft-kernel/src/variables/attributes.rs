//! The attributes of variables.

/// A set of attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(u16);

impl Attributes {
    /// No attribute.
    pub const NONE: Self = Self(0);
    /// `-x`: exported to programs.
    pub const EXPORT: Self = Self(1);
    /// `-r`: read-only.
    pub const READONLY: Self = Self(1 << 1);
    /// `-i`: values are evaluated as arithmetic.
    pub const INTEGER: Self = Self(1 << 2);
    /// `-l`: values are converted to lower case.
    pub const LOWER: Self = Self(1 << 3);
    /// `-u`: values are converted to upper case.
    pub const UPPER: Self = Self(1 << 4);
    /// `-c`: values are capitalized.
    pub const CAPITAL: Self = Self(1 << 5);
    /// `-n`: a nameref; the value is the name of another variable.
    pub const NAMEREF: Self = Self(1 << 6);
    /// `-t`: the trace attribute.
    pub const TRACE: Self = Self(1 << 7);
    /// Declared, but without a value: expands as if unset.
    pub const UNSET: Self = Self(1 << 8);
    /// Computed when read, such as `RANDOM`; see [`crate::Session::lookup`].
    pub const DYNAMIC: Self = Self(1 << 9);
    /// Assigned for one call of a function: `name=value function`.
    pub const TEMPORARY: Self = Self(1 << 10);
    /// Assigned for one builtin: `name=value builtin`.
    pub const LENT: Self = Self(1 << 11);
    /// Assigned for one command, but permanent because the command made the variable exported, read-only or local.
    pub const LASTING: Self = Self(1 << 12);

    /// The attributes of variables whose value must be computed or found elsewhere.
    pub(crate) const INDIRECT: Self = Self::NAMEREF.union(Self::DYNAMIC).union(Self::UNSET);

    /// Tells whether the set contains all attributes of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Tells whether the set contains any attribute of `other`.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the attributes of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the attributes that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the letters that `declare -p` and `${name@a}` show, without those of arrays.
    #[must_use]
    pub fn letters(self) -> String {
        const LETTERS: [(Attributes, char); 8] = [
            (Attributes::INTEGER, 'i'),
            (Attributes::NAMEREF, 'n'),
            (Attributes::READONLY, 'r'),
            (Attributes::TRACE, 't'),
            (Attributes::EXPORT, 'x'),
            (Attributes::CAPITAL, 'c'),
            (Attributes::LOWER, 'l'),
            (Attributes::UPPER, 'u'),
        ];
        LETTERS.iter().filter(|(attribute, _)| self.contains(*attribute)).map(|(_, letter)| letter).collect()
    }
}
