//! JSON words: `name=[…]` and `name={…}` in argument position.

use super::{Slice, Span, Text, Word, WordPart};

/// An argument `name=[…]` or `name={…}` whose bracketed text is valid JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonWord {
    /// Where it stands, from the name to the closing bracket.
    pub span: Span,
    /// What stands before the equals sign.
    pub name: Text,
    /// The value, for a command that takes typed arguments.
    pub value: Json,
    /// The words that bash would have made of the text, for any other command.
    pub words: Slice<Word>,
}

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(Text),
    /// A string, decoded to UTF-8.
    String(Text),
    /// A string with shell expansions in it, as in double quotes; the literal parts are decoded as JSON.
    Template(Slice<WordPart>),
    /// An array.
    Array(Slice<Json>),
    /// An object, in the order written.
    Object(Slice<(Json, Json)>),
}
