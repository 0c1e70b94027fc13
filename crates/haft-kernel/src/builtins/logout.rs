//! `logout`. The kernel runs no login shell, so it always fails.

use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, _: &[Bytes]) -> Flow {
    context.error("not login shell: use `exit'");
    Ok(1)
}
