//! `break`.

use haft_text::Bytes;

use super::Context;
use super::integer::parse_integer;
use crate::flow::{Flow, Unwind};
use crate::options::SetOption;

/// The status of a shell that exits because an operand is not a number.
const INVALID_OPERAND: i32 = 128;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    leave_loops(context, arguments, Unwind::Break)
}

/// Unwinds as many loops as the argument says, or one without an argument. `unwind` decides between `break` and `continue`.
pub(super) fn leave_loops(context: &mut Context<'_>, arguments: &[Bytes], unwind: fn(u32) -> Unwind) -> Flow {
    let loops = context.calls().loops();
    if loops == 0 && context.options().has(SetOption::Posix) {
        return Ok(0);
    }
    if loops == 0 {
        context.error("only meaningful in a `for', `while', or `until' loop");
        return Ok(0);
    }
    let arguments = match arguments {
        [first, rest @ ..] if first.as_bytes() == b"--" => rest,
        all => all,
    };
    context.parameters_mut().set_status(0);
    context.parameters_mut().set_pipe_status(0);
    let Some(first) = arguments.first() else { return Err(unwind(1)) };
    let Some(count) = parse_integer(first) else {
        context.error(format_args!("{first}: numeric argument required"));
        return Err(Unwind::Exit(INVALID_OPERAND));
    };
    if arguments.len() > 1 {
        context.error("too many arguments");
        return Err(context.session().end_line(1));
    }
    if count <= 0 {
        context.error(format_args!("{first}: loop count out of range"));
        context.parameters_mut().set_status(1);
        return Err(Unwind::Break(loops));
    }
    Err(unwind(u32::try_from(count).unwrap_or(u32::MAX).min(loops)))
}
