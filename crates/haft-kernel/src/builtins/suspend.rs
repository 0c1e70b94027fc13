//! `suspend`. It always fails, as in a shell without job control.

use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, _: &[Bytes]) -> Flow {
    context.error("cannot suspend: no job control");
    Ok(1)
}
