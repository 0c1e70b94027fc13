//! `:`.

use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;

pub(super) fn run(_: &mut Context<'_>, _: &[Bytes]) -> Flow {
    Ok(0)
}
