//! Compiled filters.

use std::rc::Rc;

use super::builtin::Native;
use super::syntax::BinaryOperator;
use super::value::Value;

/// The index of a function in a [`Program`].
pub(super) type CodeId = usize;

/// A compiled filter. The first function is the filter itself.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) codes: Vec<Code>,
}

/// A compiled function.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) operations: Vec<Operation>,
    /// The number of its variables.
    pub(super) variables: usize,
}

/// A variable: how many functions further out it is, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) level: usize,
    pub(super) slot: usize,
}

/// A function that a call names, or an argument of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callee {
    /// A function that is defined this many levels further out.
    Function { code: CodeId, level: usize },
    /// A parameter.
    Parameter(Place),
}

/// An operation on the stack of values.
///
/// A filter takes its input from the top of the stack and leaves an output there. Where it may have more outputs, it leaves a fork, to
/// which a later [`Backtrack`](Operation::Backtrack) returns.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// Replaces the top.
    Constant(Value),
    /// Inserts a value below the top.
    PushUnder(Value),
    Duplicate,
    Pop,
    /// Begins a filter whose output is an operand: its input stays.
    OperandBegin,
    /// Ends it: the output goes below the input.
    OperandEnd,
    Load(Place),
    /// Replaces the top by a variable, which becomes null.
    Take(Place),
    Store(Place),
    /// Stores, and resets the variable to null on the way back.
    StoreUntilBacktrack(Place),
    Append(Place),
    /// Adds a member to the object below its name, its value and the top.
    Insert,
    /// Makes the key of a slice from the two values below the top.
    SliceKey,
    Index {
        optional: bool,
    },
    /// `.name`
    Field {
        name: Rc<str>,
        optional: bool,
    },
    Each {
        optional: bool,
    },
    /// `getpath` of the value below the top.
    GetPath,
    Range(Place),
    PathBegin,
    PathEnd,
    Jump(usize),
    JumpIfFalse(usize),
    Fork(usize),
    Backtrack,
    TryBegin(usize),
    TryEnd,
    /// Goes to another pattern if this one fails.
    AlternativePattern(usize),
    /// Sets a variable to a new label.
    NewLabel(Place),
    /// Ends the filter of a label if the error is the label, and raises it again otherwise.
    CatchLabel(Place),
    Raise(Value),
    Binary(BinaryOperator),
    Negate,
    Native {
        native: Native,
        arguments: usize,
    },
    Call {
        callee: Callee,
        arguments: Rc<[Callee]>,
    },
    Return,
}
