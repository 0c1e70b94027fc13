//! Arguments of tools, as a shell has them.

use haft_kernel::builtins::Context;
use haft_kernel::{Argument, Bytes};
use haft_tools::Word;

/// The words of a call, with the values of JSON words.
pub(crate) fn of(context: &Context<'_>, arguments: &[Bytes]) -> Vec<Word> {
    context
        .typed(arguments)
        .map(|argument| match argument {
            Argument::Word(word) => Word::Text(String::from_utf8_lossy(word).into_owned()),
            Argument::Value { name, value } => {
                Word::Named(String::from_utf8_lossy(name).into_owned(), value.clone())
            }
        })
        .collect()
}
