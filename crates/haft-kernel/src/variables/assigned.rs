//! Assignments whose words are expanded.

use haft_text::Bytes;

/// An assignment after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The variable.
    pub name: Bytes,
    /// The expanded subscript: a key, or an arithmetic expression.
    pub subscript: Option<Bytes>,
    /// Whether it is `+=`.
    pub append: bool,
    /// The right side.
    pub value: AssignedValue,
}

/// The right side of an assignment after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue {
    /// A string.
    Scalar(Bytes),
    /// A compound value: `(…)`.
    List(Vec<AssignedElement>),
}

/// An element of a compound value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedElement {
    /// The expanded subscript, if one is given.
    pub subscript: Option<Bytes>,
    /// Whether it is `[subscript]+=`.
    pub append: bool,
    /// The value.
    pub value: Bytes,
}
