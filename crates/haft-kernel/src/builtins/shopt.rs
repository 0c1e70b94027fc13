//! `shopt`.

use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;
use crate::options::{SetOption, ShellOption};

/// The options that are meant, and how they are printed.
#[derive(Clone, Copy)]
struct ShoptMode {
    /// `-o`: the options of `set`.
    set: bool,
    /// `-p`: printed as commands.
    commands: bool,
    /// `-q`: not printed.
    quiet: bool,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "psuqo") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let mode = ShoptMode { set: has(b'o'), commands: has(b'p'), quiet: has(b'q') };
    let change = match (has(b's'), has(b'u')) {
        (true, true) => {
            context.error("cannot set and unset shell options simultaneously");
            return Ok(1);
        }
        (true, false) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    match (operands.is_empty(), change) {
        (true, wanted) => list(context, mode, wanted),
        (false, None) => show(context, mode, operands),
        (false, Some(on)) => put(context, mode, operands, on),
    }
}

/// Returns the value of an option by its name.
fn value(context: &Context<'_>, mode: ShoptMode, name: &[u8]) -> Option<bool> {
    let options = context.options();
    if mode.set {
        SetOption::from_name(name).map(|option| options.has(option))
    } else {
        ShellOption::from_name(name).map(|option| options.shell(option))
    }
}

fn line(mode: ShoptMode, name: &str, on: bool) -> String {
    match (mode.set, mode.commands) {
        (true, true) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
        (false, true) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
        (_, false) => super::set::option_line(name, on),
    }
}

fn list(context: &mut Context<'_>, mode: ShoptMode, wanted: Option<bool>) -> Flow {
    let names: Vec<&str> = if mode.set {
        SetOption::ALL.iter().map(|(_, name, _)| *name).collect()
    } else {
        ShellOption::ALL.iter().map(|(_, name)| *name).collect()
    };
    let mut text = String::new();
    for name in names {
        let on = value(context, mode, name.as_bytes()).unwrap_or(false);
        if !mode.quiet && wanted.is_none_or(|wanted| wanted == on) {
            text.push_str(&line(mode, name, on));
        }
    }
    context.print(text.as_bytes())
}

fn show(context: &mut Context<'_>, mode: ShoptMode, names: &[Bytes]) -> Flow {
    let mut status = 0;
    let mut text = String::new();
    for name in names {
        match value(context, mode, name) {
            None => {
                unknown(context, mode, name);
                status = 1;
            }
            Some(on) => {
                status |= i32::from(!on);
                if !mode.quiet {
                    text.push_str(&line(mode, &name.lossy(), on));
                }
            }
        }
    }
    context.print(text.as_bytes())?;
    Ok(status)
}

fn put(context: &mut Context<'_>, mode: ShoptMode, names: &[Bytes], on: bool) -> Flow {
    let mut status = 0;
    for name in names {
        let known = if mode.set {
            SetOption::from_name(name).map(|option| context.session_mut().set_option(option, on))
        } else {
            ShellOption::from_name(name).map(|option| context.session_mut().set_shell_option(option, on))
        };
        if known.is_none() {
            unknown(context, mode, name);
            status = 1;
        }
    }
    Ok(status)
}

fn unknown(context: &mut Context<'_>, mode: ShoptMode, name: &Bytes) {
    let kind = if mode.set { "option name" } else { "shell option name" };
    context.error(format_args!("{name}: invalid {kind}"));
}
