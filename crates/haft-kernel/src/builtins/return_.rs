//! `return`.

use haft_text::Bytes;

use super::Context;
use crate::flow::{Flow, Unwind};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let status = super::exit::status(context, arguments)?;
    if context.calls().frames().is_empty() {
        context.error("can only `return' from a function or sourced script");
        return context.session().unless_posix(2);
    }
    Err(Unwind::Return(status))
}
