//! A parsed program, with variables resolved to slots.

use std::rc::Rc;

use haft_kernel::Bytes;
use haft_text::regex::gnu::GnuRegex;

use super::builtin::BuiltinFunction;

/// A program.
#[derive(Debug, Default)]
pub(super) struct AwkProgram {
    pub(super) begin: Vec<Vec<AwkStatement>>,
    pub(super) end: Vec<Vec<AwkStatement>>,
    pub(super) begin_file: Vec<Vec<AwkStatement>>,
    pub(super) end_file: Vec<Vec<AwkStatement>>,
    pub(super) rules: Vec<AwkRule>,
    pub(super) functions: Vec<AwkFunction>,
    /// The names of the global variables.
    pub(super) globals: Vec<String>,
    /// Whether a global variable is an array.
    pub(super) global_arrays: Vec<bool>,
    /// Whether GNU's `awk` might do something else: it runs commands, or has an order or random numbers of its own.
    pub(super) is_inexact: bool,
    /// Whether it may end before its input does.
    pub(super) can_exit: bool,
}

#[derive(Debug)]
pub(super) struct AwkRule {
    /// The line of the pattern, for messages.
    pub(super) line: usize,
    pub(super) pattern: AwkPattern,
    /// `None` prints the record.
    pub(super) action: Option<Vec<AwkStatement>>,
}

#[derive(Debug)]
pub(super) enum AwkPattern {
    Always,
    Expression(AwkExpression),
    /// The index of its state, and both ends.
    Range(usize, AwkExpression, AwkExpression),
}

#[derive(Debug, Default)]
pub(super) struct AwkFunction {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) array_parameters: Vec<bool>,
    pub(super) body: Vec<AwkStatement>,
    pub(super) is_defined: bool,
}

/// A variable: a slot of the global variables, or of the parameters of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableSlot {
    Global(usize),
    Local(usize),
}

/// A variable that the interpreter itself reads or sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpecialVariable {
    Nf,
    Nr,
    Fnr,
    Fs,
    Rs,
    Ofs,
    Ors,
    Subsep,
    Convfmt,
    Ofmt,
    Rstart,
    Rlength,
    Rt,
    Filename,
    Fpat,
    Fieldwidths,
    Ignorecase,
}

/// A regular expression in a program.
#[derive(Debug)]
pub(super) struct AwkRegex {
    pub(super) pattern: Bytes,
    /// The expression that respects case.
    pub(super) compiled: Rc<GnuRegex>,
}

/// A place that can be assigned to.
#[derive(Debug)]
pub(super) enum AwkPlace {
    Variable(VariableSlot),
    Special(SpecialVariable),
    Field(Box<AwkExpression>),
    Element(VariableSlot, Vec<AwkExpression>),
}

#[derive(Debug)]
pub(super) enum AwkExpression {
    Number(f64),
    Text(Bytes),
    /// A regular expression, which matches the record.
    Regex(Rc<AwkRegex>),
    Place(AwkPlace),
    Assign(Box<AwkPlace>, Box<AwkExpression>),
    Update(Box<AwkPlace>, ArithmeticOperator, Box<AwkExpression>),
    Increment {
        place: Box<AwkPlace>,
        change: f64,
        is_prefix: bool,
    },
    Arithmetic(ArithmeticOperator, Box<AwkExpression>, Box<AwkExpression>),
    Concatenation(Box<AwkExpression>, Box<AwkExpression>),
    Comparison(ComparisonOperator, Box<AwkExpression>, Box<AwkExpression>),
    And(Box<AwkExpression>, Box<AwkExpression>),
    Or(Box<AwkExpression>, Box<AwkExpression>),
    Not(Box<AwkExpression>),
    Negate(Box<AwkExpression>),
    ToNumber(Box<AwkExpression>),
    Conditional(Box<AwkExpression>, Box<AwkExpression>, Box<AwkExpression>),
    Match {
        is_negated: bool,
        text: Box<AwkExpression>,
        regex: Box<AwkExpression>,
    },
    In(Vec<AwkExpression>, VariableSlot),
    Call(usize, Vec<AwkExpression>),
    Builtin(BuiltinFunction, Vec<AwkExpression>),
    Getline {
        place: Option<Box<AwkPlace>>,
        /// `None` is the main input.
        source: Option<GetlineSource>,
    },
    /// A group of expressions, before `in`.
    Group(Vec<AwkExpression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithmeticOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparisonOperator {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

/// The input of `getline`.
#[derive(Debug)]
pub(super) enum GetlineSource {
    File(Box<AwkExpression>),
    Command(Box<AwkExpression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectionKind {
    /// `>`
    Truncate,
    /// `>>`
    Append,
    /// `|`
    Command,
}

/// The destination of `print`.
#[derive(Debug)]
pub(super) struct AwkRedirection {
    pub(super) kind: RedirectionKind,
    pub(super) name: AwkExpression,
}

#[derive(Debug)]
pub(super) enum AwkStatement {
    /// The line of the next statement, in programs of several lines.
    Line(usize),
    Expression(AwkExpression),
    Print(Vec<AwkExpression>, Option<AwkRedirection>),
    Printf(Vec<AwkExpression>, Option<AwkRedirection>),
    If(AwkExpression, Vec<AwkStatement>, Vec<AwkStatement>),
    While(AwkExpression, Vec<AwkStatement>),
    DoWhile(Vec<AwkStatement>, AwkExpression),
    For {
        start: Vec<AwkStatement>,
        condition: Option<AwkExpression>,
        step: Vec<AwkStatement>,
        body: Vec<AwkStatement>,
    },
    ForIn(AwkPlace, VariableSlot, Vec<AwkStatement>),
    Delete(VariableSlot, Option<Vec<AwkExpression>>),
    Next,
    NextFile,
    Break,
    Continue,
    Exit(Option<AwkExpression>),
    Return(Option<AwkExpression>),
}
