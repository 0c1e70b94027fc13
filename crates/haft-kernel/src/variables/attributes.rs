//! The attributes of variables.

/// A set of attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(u16);

impl Attributes {
    /// No attribute.
    pub const NONE: Self = Self(0);
    /// `-x`: handed to programs.
    pub const EXPORT: Self = Self(1);
    /// `-r`: cannot be changed.
    pub const READONLY: Self = Self(1 << 1);
    /// `-i`: values are evaluated as arithmetic.
    pub const INTEGER: Self = Self(1 << 2);
    /// `-l`: values are turned to lower case.
    pub const LOWER: Self = Self(1 << 3);
    /// `-u`: values are turned to upper case.
    pub const UPPER: Self = Self(1 << 4);
    /// `-c`: the first character of values is turned to upper case.
    pub const CAPITAL: Self = Self(1 << 5);
    /// `-n`: the value names the variable that is meant.
    pub const NAMEREF: Self = Self(1 << 6);
    /// `-t`: traced.
    pub const TRACE: Self = Self(1 << 7);
    /// Declared, but without a value: expands as if unset.
    pub const UNSET: Self = Self(1 << 8);
    /// Computed when read, such as `RANDOM`; see [`crate::Session::lookup`].
    pub const DYNAMIC: Self = Self(1 << 9);
    /// Assigned before the name of a function, for one call of it.
    pub const TEMPORARY: Self = Self(1 << 10);
    /// Assigned before the name of a builtin, for as long as that runs.
    pub const LENT: Self = Self(1 << 11);
    /// Assigned for one command, and to stay nevertheless: the command has made it exported, readonly or local.
    pub const LASTING: Self = Self(1 << 12);

    /// Whether all attributes of `other` are in the set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any attribute of `other` is in the set.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The attributes of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The attributes that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The letters that `declare -p` and `${name@a}` show for the scalar attributes, in their order.
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
