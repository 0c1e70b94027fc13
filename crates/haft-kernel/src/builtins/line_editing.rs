//! `fc` and `bind`: a shell that runs a script neither remembers nor edits lines, so there is nothing to show or to bind.

use super::{Context, options};
use crate::bytes::Bytes;
use crate::flow::Flow;

pub(super) fn run_fc(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
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

pub(super) fn run_bind(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    if !context.session.interactive {
        context.error("warning: line editing not enabled");
    }
    match options::parse(context, arguments, "lpsvPSVXm:f:q:u:r:x:") {
        Ok(_) => Ok(0),
        Err(end) => end,
    }
}
