//! The syntax tree of a filter.

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    /// A number as it was written.
    Number(String),
    Text(String),
}

/// A two-sided operator on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A part of a string with interpolations.
#[derive(Clone, Debug)]
pub(super) enum TemplatePart {
    Text(String),
    Filter(Filter),
}

/// A pattern that takes values apart.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Variable(String),
    Array(Vec<Pattern>),
    Object(Vec<MemberPattern>),
}

/// A member of an object pattern.
#[derive(Clone, Debug)]
pub(super) struct MemberPattern {
    pub(super) key: Filter,
    /// The variable of `$name: pattern`.
    pub(super) variable: Option<String>,
    pub(super) pattern: Option<Pattern>,
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    /// Parameters; those that are values start with `$`.
    pub(super) parameters: Vec<String>,
    pub(super) body: Filter,
}

/// A filter: a function from a value to a stream of values.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    Identity,
    Literal(Literal),
    Index {
        target: Box<Filter>,
        key: Box<Filter>,
        optional: bool,
    },
    Slice {
        target: Box<Filter>,
        from: Option<Box<Filter>>,
        to: Option<Box<Filter>>,
        optional: bool,
    },
    Iterate {
        target: Box<Filter>,
        optional: bool,
    },
    Format(String),
    Template {
        format: String,
        parts: Vec<TemplatePart>,
    },
    Array(Option<Box<Filter>>),
    Object(Vec<(Filter, Filter)>),
    Variable {
        name: String,
        at: usize,
    },
    /// Reads a variable and sets it to null, so that its value has no other owner. Only in the library.
    TakeVariable(String),
    /// `$__loc__`, with the line.
    Location(usize),
    Call {
        name: String,
        arguments: Vec<Filter>,
        at: usize,
    },
    Break {
        label: String,
        at: usize,
    },
    Pipe(Box<Filter>, Box<Filter>),
    Comma(Box<Filter>, Box<Filter>),
    Negate(Box<Filter>),
    Binary(BinaryOperator, Box<Filter>, Box<Filter>),
    And(Box<Filter>, Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    Alternative(Box<Filter>, Box<Filter>),
    Assign(Box<Filter>, Box<Filter>),
    Update(Box<Filter>, Box<Filter>),
    UpdateWith(BinaryOperator, Box<Filter>, Box<Filter>),
    UpdateAlternative(Box<Filter>, Box<Filter>),
    Bind {
        source: Box<Filter>,
        patterns: Vec<Pattern>,
        body: Box<Filter>,
    },
    Reduce {
        source: Box<Filter>,
        patterns: Vec<Pattern>,
        initial: Box<Filter>,
        update: Box<Filter>,
    },
    Foreach {
        source: Box<Filter>,
        patterns: Vec<Pattern>,
        initial: Box<Filter>,
        update: Box<Filter>,
        extract: Option<Box<Filter>>,
    },
    If {
        condition: Box<Filter>,
        then: Box<Filter>,
        otherwise: Option<Box<Filter>>,
    },
    Try {
        body: Box<Filter>,
        catch: Option<Box<Filter>>,
    },
    Label {
        name: String,
        body: Box<Filter>,
    },
    Define {
        definition: Box<Definition>,
        body: Box<Filter>,
    },
}

impl Filter {
    pub(super) fn text(text: &str) -> Self {
        Self::Literal(Literal::Text(text.to_owned()))
    }

    pub(super) fn call(name: &str, arguments: Vec<Self>) -> Self {
        Self::Call { name: name.to_owned(), arguments, at: 0 }
    }

    /// The constant that the filter is.
    pub(super) fn as_literal(&self) -> Option<&Literal> {
        match self {
            Self::Literal(literal) => Some(literal),
            _ => None,
        }
    }
}

/// An error in a filter.
#[derive(Clone, Debug)]
pub(super) struct FilterError {
    pub(super) message: String,
    /// Where it is, in bytes.
    pub(super) at: usize,
}
