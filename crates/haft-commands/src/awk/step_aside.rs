//! Decides whether GNU's `awk` must run.

use haft_kernel::Session;

use super::parse;
use crate::arguments::{ArgumentValue, CommandArguments};

/// Whether GNU's program might do something else: the program runs commands, depends on an order, on random numbers or the time zone,
/// or has an error.
pub(super) fn steps_aside(session: &Session, arguments: &CommandArguments) -> bool {
    let Some((program, operands)) = arguments.operands.split_first() else { return true };
    let values = arguments.in_order().filter_map(|(_, value)| match value {
        ArgumentValue::Text(text) => Some(text),
        _ => None,
    });
    // Escapes in assignments can lead to warnings.
    let has_escape = values.chain(operands).any(|word| word.contains(&b'\\') && **word != *b"\\t");
    if arguments.text("file").is_some() || has_escape {
        return true;
    }
    let mut has_warning = false;
    let parsed = parse::parse(program, &[], session.encoding(), &mut |_, _| has_warning = true);
    has_warning || parsed.map_or(true, |program| program.is_inexact)
}
