//! JSON words: `name=[…]` and `name={…}` in argument position.

use super::{Bytes, SharedSlice, Span, Word, WordPart};

/// An argument `name=[…]` or `name={…}` in which the bracketed text is valid JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonWord {
    /// Source range, from the name to the closing bracket.
    pub span: Span,
    /// The text before the equals sign.
    pub name: Bytes,
    /// The value, for commands that take typed arguments.
    pub value: Json,
    /// The words that bash would see, for all other commands.
    pub words: SharedSlice<Word>,
}

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as spelled in the source.
    Number(Bytes),
    /// A string, decoded to UTF-8.
    String(Bytes),
    /// A string with shell expansions, as in double quotes. Its literal parts are decoded as JSON.
    Template(SharedSlice<WordPart>),
    /// An array.
    Array(SharedSlice<Json>),
    /// An object, in source order.
    Object(SharedSlice<(Json, Json)>),
}
