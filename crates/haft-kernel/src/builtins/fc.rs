//! `fc`. A shell that runs a script keeps no history, so there is no line to show or to repeat.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, _) = match options::parse(context, arguments, "e:lnrs") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if options::has(&flags, b's') {
        context.error("no command found");
        return Ok(1);
    }
    Ok(0)
}
