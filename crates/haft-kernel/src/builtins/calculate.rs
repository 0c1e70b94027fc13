//! `let`.

use super::Context;
use crate::bytes::Bytes;
use crate::flow::Flow;

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
        match context.session.evaluate_text(expression) {
            Ok(result) => value = result,
            Err(message) => {
                context.error(message);
                return Ok(1);
            }
        }
    }
    Ok(i32::from(value == 0))
}
