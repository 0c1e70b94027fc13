//! `compopt`.

use haft_text::Bytes;

use super::Context;
use super::options::OptionParser;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let mut options = OptionParser::with_plus(arguments);
    loop {
        match options.next("o:DEI") {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(bad) => return context.usage(bad),
        }
    }
    match options.rest() {
        [] => context.error("not currently executing completion function"),
        [name, ..] if context.definitions().completions().contains_key(name) => return Ok(0),
        [name, ..] => context.error(format_args!("{name}: no completion specification")),
    }
    Ok(1)
}
