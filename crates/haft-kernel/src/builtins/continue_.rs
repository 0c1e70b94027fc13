//! `continue`.

use haft_text::Bytes;

use super::Context;
use super::break_::leave_loops;
use crate::flow::{Flow, Unwind};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    leave_loops(context, arguments, Unwind::Continue)
}
