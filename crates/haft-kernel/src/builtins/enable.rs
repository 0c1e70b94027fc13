//! `enable`.

use haft_text::Bytes;

use super::{ALL, Context, options};
use crate::flow::Flow;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "adnpsf:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    if has(b'f') || has(b'd') {
        context.error("dynamic loading not available");
        return Ok(1);
    }
    if operands.is_empty() {
        return list(context, has(b'a'), has(b'n'), has(b's'));
    }
    let mut status = 0;
    for name in operands {
        let stand_in = || context.session().kernel.stand_ins.listed(name);
        let Some(found) = super::find(name).map(|builtin| builtin.name).or_else(stand_in) else {
            context.error(format_args!("{name}: not a shell builtin"));
            status = 1;
            continue;
        };
        let disabled = context.definitions_mut().disabled_builtins_mut();
        disabled.retain(|known| *known != found);
        if has(b'n') {
            disabled.push(found);
        }
    }
    Ok(status)
}

fn list(context: &mut Context<'_>, all: bool, disabled: bool, special: bool) -> Flow {
    let mut text = String::new();
    for builtin in ALL {
        let off = context.definitions().disabled_builtins().contains(&builtin.name);
        if (all || off == disabled) && (!special || builtin.special) {
            text.push_str(if off { "enable -n " } else { "enable " });
            text.push_str(builtin.name);
            text.push('\n');
        }
    }
    context.print(text.as_bytes())
}
