//! `test` and `[`.
//!
//! With up to four arguments, their number decides their meaning, as POSIX says; more arguments are an expression with `-o`, `-a`, `!` and
//! parentheses.

mod parse;
mod primary;

use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;

pub(super) fn run_test(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    conclude(context, arguments)
}

pub(super) fn run_bracket(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    match arguments.split_last() {
        Some((last, rest)) if last.as_bytes() == b"]" => conclude(context, rest),
        _ => {
            context.error("missing `]'");
            Ok(2)
        }
    }
}

fn conclude(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    match parse::evaluate(context.session_mut(), arguments) {
        Ok(truth) => Ok(i32::from(!truth)),
        Err(problem) => {
            // The closing bracket is the argument that `[` found instead.
            let found = if context.name == b"[" && problem == "`)' expected" { ", found ]" } else { "" };
            context.error(format_args!("{problem}{found}"));
            Ok(2)
        }
    }
}
