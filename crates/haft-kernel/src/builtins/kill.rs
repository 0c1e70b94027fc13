//! `kill`.

use haft_text::Bytes;

use super::Context;
use super::integer::parse_integer;
use super::kill_target::signal_number;
use crate::flow::{Flow, SIGNAL_BASE, Unwind};
use crate::options::SetOption;
use crate::traps::Trap;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let Some(first) = arguments.first() else { return context.synopsis() };
    let (name, targets) = match first.as_bytes() {
        b"-l" | b"-L" => return list(context, &arguments[1..]),
        b"-s" | b"-n" => match arguments.get(1) {
            Some(name) => (name.clone(), &arguments[2..]),
            None => {
                context.error(format_args!("{first}: option requires an argument"));
                return Ok(1);
            }
        },
        b"--" => ("TERM".into(), &arguments[1..]),
        [b'-', b's' | b'n', name @ ..] if signal(&first[1..]).is_none() && !name.is_empty() => {
            (Bytes::from(name), &arguments[1..])
        }
        [b'-', name @ ..] if !name.is_empty() => (Bytes::from(name), &arguments[1..]),
        _ => ("TERM".into(), arguments),
    };
    let Some(number) = signal(&name) else {
        context.error(format_args!("{name}: invalid signal specification"));
        return Ok(1);
    };
    let targets = match targets {
        [first, rest @ ..] if first.as_bytes() == b"--" => rest,
        all => all,
    };
    if targets.is_empty() {
        return context.synopsis();
    }
    let mut sent = false;
    for target in targets {
        sent |= send(context, target, number)?;
    }
    Ok(i32::from(!sent))
}

/// Parses a signal name or number. Signal 0 only checks whether the process exists.
fn signal(name: &[u8]) -> Option<i32> {
    match Trap::parse(name)? {
        Trap::Exit => Some(0),
        Trap::Signal(number) => Some(number),
        Trap::Debug | Trap::Error | Trap::Return => None,
    }
}

fn send(context: &mut Context<'_>, target: &Bytes, number: i32) -> Result<bool, Unwind> {
    context.flush();
    context.session_mut().reap_strays();
    if target.starts_with(b"%") {
        context.jobs_mut().update();
        return Ok(match context.jobs().find(target) {
            Ok(job) => {
                job.signal(number);
                true
            }
            Err(missing) => {
                context.error(missing.message(target));
                false
            }
        });
    }
    let Some(pid) = parse_integer(target).and_then(|pid| i32::try_from(pid).ok()) else {
        match target.is_empty() {
            true => context.error("`': not a pid or valid job spec"),
            false => context.error(format_args!("{target}: arguments must be process or job IDs")),
        }
        return Ok(false);
    };
    match signal_number(context, pid, number)? {
        Ok(()) => Ok(true),
        Err(error) => {
            let message = haft_fs::message(&error);
            context.error(format_args!("({pid}) - {message}"));
            Ok(false)
        }
    }
}

/// Returns the table of all signals, five per line.
pub(super) fn table() -> String {
    let mut text = String::new();
    let mut column = 0;
    for number in 1..=64 {
        let Some(name) = haft_process::signal_name(number) else { continue };
        text.push_str(&format!("{number:2}) SIG{name}"));
        column += 1;
        text.push(if column % 5 == 0 { '\n' } else { '\t' });
    }
    if column % 5 != 0 {
        text.push('\n');
    }
    text
}

fn list(context: &mut Context<'_>, names: &[Bytes]) -> Flow {
    if names.is_empty() && context.options().has(SetOption::Posix) {
        let names: Vec<String> = (1..=64).filter_map(haft_process::signal_name).collect();
        return context.print(format!("{}\n", names.join(" ")).as_bytes());
    }
    if names.is_empty() {
        return context.print(table().as_bytes());
    }
    let mut status = 0;
    for name in names {
        let shown = match parse_integer(name) {
            Some(0) => Some("EXIT".to_owned()),
            Some(number) => {
                let base = i64::from(SIGNAL_BASE);
                let number = if number > base { number - base } else { number };
                i32::try_from(number).ok().and_then(haft_process::signal_name)
            }
            None => signal(name).map(|number| number.to_string()),
        };
        match shown {
            Some(text) => {
                context.print(format!("{text}\n").as_bytes())?;
            }
            None => {
                context.error(format_args!("{name}: invalid signal specification"));
                status = 1;
            }
        }
    }
    Ok(status)
}
