use crate::TraceContext;

/// The role of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanKind {
    /// Work within the application.
    #[default]
    Internal,
    /// The answer to a request.
    Server,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A list of texts.
    Texts(Vec<String>),
}

/// An attribute, with the name that a semantic convention gives it.
pub type Attribute = (&'static str, AttributeValue);

/// Work that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its ids.
    pub context: TraceContext,
    /// The id of the span that it is a part of.
    pub parent: Option<u64>,
    /// Its name.
    pub name: String,
    /// Its role.
    pub kind: SpanKind,
    /// Its start, in nanoseconds since 1970.
    pub start: u64,
    /// Its end, in nanoseconds since 1970.
    pub end: u64,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The error that it ended with.
    pub error: Option<String>,
}
