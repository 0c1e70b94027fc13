//! `suspend`. It always fails, as in a shell without job control.

use super::Context;
use crate::bytes::Bytes;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, _: &[Bytes]) -> Flow {
    context.error("cannot suspend: no job control");
    Ok(1)
}
