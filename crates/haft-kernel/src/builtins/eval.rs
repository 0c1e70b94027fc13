//! `eval`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (_, operands) = match options::parse(context, arguments, "") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    if operands.iter().all(|operand| operand.is_empty()) {
        return Ok(0);
    }
    let size = operands.iter().map(|operand| operand.len() + 1).sum();
    context.session().reserve_memory("the text of eval", size)?;
    let text = operands.iter().map(Bytes::as_bytes).collect::<Vec<_>>().join(&b' ');
    context.session_mut().run_text(&text, "eval")
}
