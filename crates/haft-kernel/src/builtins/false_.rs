//! `false`.

use super::Context;
use crate::bytes::Bytes;
use crate::flow::Flow;

pub(super) fn run(_: &mut Context<'_>, _: &[Bytes]) -> Flow {
    Ok(1)
}
