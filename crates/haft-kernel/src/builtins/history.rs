//! `history`: a shell that runs a script remembers no lines, so there is nothing to show and nothing to forget. One that
//! does remember has a command of that name added.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if let Some(command) = context.session().kernel.added(b"history") {
        return command.run(context, arguments);
    }
    match options::parse(context, arguments, "cd:anrwps") {
        Ok(_) => Ok(0),
        Err(end) => end,
    }
}
