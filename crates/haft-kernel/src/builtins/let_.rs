//! `let`.

use haft_text::Bytes;

use super::Context;
use crate::flow::{Flow, Unwind};

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let expressions = match arguments {
        [first, rest @ ..] if first.as_bytes() == b"--" => rest,
        all => all,
    };
    if expressions.is_empty() {
        context.error("expression expected");
        return Ok(1);
    }
    let mut value = 0;
    for expression in expressions {
        match context.session_mut().evaluate_text_for("let: ", expression) {
            Ok(result) => value = result,
            Err(Unwind::Abort(_)) => return Ok(1),
            Err(unwind) => return Err(unwind),
        }
    }
    Ok(i32::from(value == 0))
}
