//! `break` and `continue`.

use super::Context;
use super::number::argument;
use crate::bytes::Bytes;
use crate::flow::{Flow, Unwind};
use crate::options::SetOption;

pub(super) fn run_break(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    leave(context, arguments, Unwind::Break)
}

pub(super) fn run_continue(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    leave(context, arguments, Unwind::Continue)
}

fn leave(context: &mut Context<'_>, arguments: &[Bytes], how: fn(u32) -> Unwind) -> Flow {
    let loops = context.session.moment.loops;
    if loops == 0 && context.session.options.has(SetOption::Posix) {
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
    context.session.status = 0;
    context.session.set_pipe_status(0);
    let Some(first) = arguments.first() else { return Err(how(1)) };
    let Some(count) = argument(first) else {
        context.error(format_args!("{first}: numeric argument required"));
        return Err(Unwind::Exit(128));
    };
    if arguments.len() > 1 {
        context.error("too many arguments");
        return Err(context.session.end_line(1));
    }
    if count <= 0 {
        context.error(format_args!("{first}: loop count out of range"));
        context.session.status = 1;
        return Err(Unwind::Break(loops));
    }
    Err(how(u32::try_from(count).unwrap_or(u32::MAX).min(loops)))
}
