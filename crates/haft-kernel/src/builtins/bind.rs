//! `bind`. A shell that runs a script has no line editor, so no key is bound.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if !context.session().is_interactive() {
        context.error("warning: line editing not enabled");
    }
    match options::parse(context, arguments, "lpsvPSVXm:f:q:u:r:x:") {
        Ok(_) => Ok(0),
        Err(end) => end,
    }
}
