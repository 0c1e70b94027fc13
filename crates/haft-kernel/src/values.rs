//! JSON words as arguments with values.

use haft_text::Bytes;
use serde_json::Value;

/// The values of the JSON words among the arguments of a command, each with the number of arguments after it. Counted from the end, the
/// values stay valid when a command passes the rest of its arguments on to another command.
pub(crate) type JsonValues = [(usize, Value)];

/// An argument of a command that takes JSON values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypedArgument<'a> {
    /// A word.
    Word(&'a Bytes),
    /// A JSON word: `name=[…]` or `name={…}`.
    Value {
        /// The text before the equals sign.
        name: &'a [u8],
        /// The value as JSON, with numbers as they were written.
        text: &'a [u8],
        /// The value, after expansions in its strings.
        value: &'a Value,
    },
}

/// Iterates over the arguments, each with its value if it has one.
pub(crate) fn typed_arguments<'a>(
    words: &'a [Bytes],
    values: &'a JsonValues,
) -> impl Iterator<Item = TypedArgument<'a>> {
    words.iter().enumerate().map(move |(index, word)| {
        let following = words.len() - 1 - index;
        let value = values.iter().find(|(distance, _)| *distance == following).map(|(_, value)| value);
        match value {
            Some(value) => {
                let end = memchr::memchr(b'=', word);
                let name = end.map_or(&word[..0], |end| &word[..end]);
                let text = end.map_or(&word[..], |end| &word[end + 1..]);
                TypedArgument::Value { name, text, value }
            }
            None => TypedArgument::Word(word),
        }
    })
}
