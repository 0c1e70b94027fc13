//! Arguments that have values: JSON words, for commands that take them.

use haft_text::Bytes;
use serde_json::Value;

/// The values of JSON words among the arguments of a command. Each is found by how many arguments follow it, so that a
/// command which hands the rest of its arguments to another hands their values on as they are.
pub(crate) type Values = [(usize, Value)];

/// An argument as a command that takes values sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A word.
    Word(&'a Bytes),
    /// A JSON word: `name=[…]` or `name={…}`.
    Value {
        /// What stands before the equals sign.
        name: &'a [u8],
        /// The value, the shell's expansions in its strings made.
        value: &'a Value,
    },
}

/// The arguments, each with its value if it has one.
pub(crate) fn typed<'a>(words: &'a [Bytes], values: &'a Values) -> impl Iterator<Item = Argument<'a>> {
    words.iter().enumerate().map(move |(index, word)| {
        let following = words.len() - 1 - index;
        let value = values.iter().find(|(distance, _)| *distance == following).map(|(_, value)| value);
        match value {
            Some(value) => {
                let name = memchr::memchr(b'=', word).map_or(&word[..0], |end| &word[..end]);
                Argument::Value { name, value }
            }
            None => Argument::Word(word),
        }
    })
}
