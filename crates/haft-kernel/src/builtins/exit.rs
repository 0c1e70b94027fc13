//! `exit`.

use haft_text::Bytes;

use super::Context;
use super::integer::parse_integer;
use crate::flow::{Flow, Unwind};
use crate::traps::Trap;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let status = status(context, arguments)?;
    context.session_mut().trap_state.set_exits_in_place(true);
    Err(Unwind::Exit(status))
}

/// Returns the exit status for `exit` and `return`: their argument, or `$?`.
pub(super) fn status(context: &mut Context<'_>, arguments: &[Bytes]) -> Result<i32, Unwind> {
    let arguments = match arguments {
        [first, rest @ ..] if first.as_bytes() == b"--" => rest,
        all => all,
    };
    let Some(first) = arguments.first() else {
        let session = context.session();
        let follows = match session.trap_state.innermost() {
            Some(Trap::Debug) => true,
            Some(Trap::Signal(_)) => context.name == b"exit",
            _ => false,
        };
        let before = session.trap_state.status_before().filter(|_| !follows);
        return Ok(before.unwrap_or(session.parameters.status()));
    };
    let Some(number) = parse_integer(first) else {
        context.error(format_args!("{first}: numeric argument required"));
        return Ok(2);
    };
    if arguments.len() > 1 {
        context.error("too many arguments");
        return Err(context.session().end_line(1));
    }
    Ok(i32::try_from(number & 0xff).unwrap_or(0))
}
