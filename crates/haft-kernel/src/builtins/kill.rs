//! `kill`.

use super::Context;
use super::number::argument;
use crate::bytes::Bytes;
use crate::flow::{Flow, Unwind};
use crate::options::SetOption;
use crate::traps::Trap;
use haft_process::Signals;

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

/// The number of a signal, by its name or number; 0 only asks.
fn signal(name: &[u8]) -> Option<i32> {
    match Trap::parse(name)? {
        Trap::Exit => Some(0),
        Trap::Signal(number) => Some(number),
        Trap::Debug | Trap::Error | Trap::Return => None,
    }
}

fn send(context: &mut Context<'_>, target: &Bytes, number: i32) -> Result<bool, Unwind> {
    let _ = context.session.flush();
    context.session.reap_strays();
    if target.starts_with(b"%") {
        context.session.jobs.update();
        return Ok(match context.session.jobs.find(target) {
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
    let Some(pid) = argument(target).and_then(|pid| i32::try_from(pid).ok()) else {
        context.error(format_args!("{target}: arguments must be process or job IDs"));
        return Ok(false);
    };
    if is_own(context, pid) {
        return to_self(context, pid, number).map(|()| true);
    }
    if to_script(context, pid, number) || to_member(context, pid, number) {
        return Ok(true);
    }
    match to_process(pid, number) {
        Ok(()) => Ok(true),
        Err(error) => {
            let message = haft_fs::message(&error);
            context.error(format_args!("({pid}) - {message}"));
            Ok(false)
        }
    }
}

fn is_own(context: &Context<'_>, pid: i32) -> bool {
    pid == context.session.own_pid || (pid == context.session.pid && context.session.subshell == 0)
}

/// A signal to the shell itself: its trap runs before the next command; without a trap it does what it does to any
/// process. A shell that shares its process with others ends alone.
fn to_self(context: &mut Context<'_>, pid: i32, number: i32) -> Result<(), Unwind> {
    let session = &mut *context.session;
    match session.traps.get(Trap::Signal(number)) {
        _ if number == 0 => Ok(()),
        Some(text) if text.is_empty() => Ok(()),
        Some(_) if session.leads => {
            session.signals.iter().for_each(|inbox| inbox.raise(number));
            Ok(())
        }
        Some(_) => session.run_trap(Trap::Signal(number)),
        // The process ignores it, so that what is written to a closed pipe ends only who wrote it.
        None if session.kernel.plain_shell && session.leads && number == Signals::PIPE => {
            Err(Unwind::Signal(number))
        }
        None if session.kernel.plain_shell && session.leads => {
            let _ = to_process(pid, number);
            Ok(())
        }
        None if matches!(number, 17 | 18 | 23 | 28) => Ok(()),
        None => Err(Unwind::Signal(number)),
    }
}

/// A signal from a subshell to the script of the run that it is in, which is not the whole of its process.
fn to_script(context: &Context<'_>, pid: i32, number: i32) -> bool {
    let run = context.session.run.as_ref().filter(|_| pid == context.session.pid);
    run.iter().for_each(|run| run.signal_script(number));
    run.is_some()
}

/// A signal to a stage of a job of this session.
fn to_member(context: &mut Context<'_>, pid: i32, number: i32) -> bool {
    context.session.jobs.update();
    let inherited = context.session.jobs.inherited().flat_map(|job| &job.members);
    if let Some(control) =
        inherited.filter(|member| member.pid == pid).find_map(|member| member.control.as_ref())
    {
        control.signal(number);
        return true;
    }
    let Some(job) = context.session.jobs.of_pid(pid) else { return false };
    let Some(member) = job.members.iter().find(|member| member.pid == pid) else { return false };
    if member.status.is_some() || !member.is_thread() {
        return false;
    }
    member.signal(number);
    true
}

fn to_process(pid: i32, number: i32) -> std::io::Result<()> {
    haft_process::send_signal(pid, number)
}

/// All signals, five in a line.
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
    if names.is_empty() && context.session.options.has(SetOption::Posix) {
        let names: Vec<String> = (1..=64).filter_map(haft_process::signal_name).collect();
        return context.print(format!("{}\n", names.join(" ")).as_bytes());
    }
    if names.is_empty() {
        return context.print(table().as_bytes());
    }
    let mut status = 0;
    for name in names {
        let shown = match argument(name) {
            Some(0) => Some("EXIT".to_owned()),
            Some(number) => {
                let number = if number > 128 { number - 128 } else { number };
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
