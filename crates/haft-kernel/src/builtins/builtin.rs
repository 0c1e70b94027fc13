//! `builtin`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (_, operands) = match options::parse(context, arguments, "") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let Some(name) = operands.first() else { return Ok(0) };
    match context.session().find_builtin(name) {
        Some(builtin) => context.run_builtin(builtin, operands),
        None => {
            context.error(format_args!("{name}: not a shell builtin"));
            Ok(1)
        }
    }
}
