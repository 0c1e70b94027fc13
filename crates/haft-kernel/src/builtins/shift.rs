//! `shift`.

use haft_text::Bytes;

use super::Context;
use super::integer::parse_integer;
use crate::flow::Flow;
use crate::options::ShellOption;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let arguments = match arguments {
        [first, rest @ ..] if first.as_bytes() == b"--" => rest,
        all => all,
    };
    let count = match arguments {
        [] => 1,
        [only] => match parse_integer(only) {
            Some(count) => count,
            None => {
                context.error(format_args!("{only}: numeric argument required"));
                return Ok(1);
            }
        },
        _ => {
            context.error("too many arguments");
            return Err(context.session().end_line(1));
        }
    };
    let Ok(count) = usize::try_from(count) else {
        context.error(format_args!("{count}: shift count out of range"));
        return Ok(1);
    };
    if count > context.parameters().positional().len() {
        if context.options().shell(ShellOption::ShiftVerbose) {
            context.error(format_args!("{count}: shift count out of range"));
        }
        return Ok(1);
    }
    context.parameters_mut().shift(count);
    Ok(0)
}
