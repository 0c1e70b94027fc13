//! `logout`, which ends a login shell only, and `suspend`, which needs job control.

use super::Context;
use crate::bytes::Bytes;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, _: &[Bytes]) -> Flow {
    context.error("not login shell: use `exit'");
    Ok(1)
}

pub(super) fn run_suspend(context: &mut Context<'_>, _: &[Bytes]) -> Flow {
    context.error("cannot suspend: no job control");
    Ok(1)
}
