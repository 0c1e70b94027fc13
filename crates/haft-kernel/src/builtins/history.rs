//! `history`: a shell that runs a script remembers no lines, so there is nothing to show and nothing to forget.

use super::{Context, options};
use crate::bytes::Bytes;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    match options::parse(context, arguments, "cd:anrwps") {
        Ok(_) => Ok(0),
        Err(end) => end,
    }
}
