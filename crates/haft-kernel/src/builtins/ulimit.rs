//! `ulimit`.

use haft_process::{Resource, ResourceLimit};
use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

/// A limit as `ulimit` knows it.
struct Known {
    letter: u8,
    name: &'static str,
    unit: &'static str,
    /// How many of the system's units are one of `ulimit`'s.
    scale: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Resource(Resource, rustix::process::Resource),
    /// The size of a pipe's buffer, which cannot be changed.
    Pipe,
}

macro_rules! known {
    ($letter:literal, $name:literal, $unit:literal, $scale:literal, $ours:ident, $system:ident) => {
        Known {
            letter: $letter,
            name: $name,
            unit: $unit,
            scale: $scale,
            kind: Kind::Resource(Resource::$ours, rustix::process::Resource::$system),
        }
    };
}

/// In the order of `ulimit -a`.
const ALL: &[Known] = &[
    known!(b'R', "real-time non-blocking time", "microseconds, ", 1, RealTimeTimeout, Rttime),
    known!(b'c', "core file size", "blocks, ", 1024, CoreSize, Core),
    known!(b'd', "data seg size", "kbytes, ", 1024, DataSize, Data),
    known!(b'e', "scheduling priority", "", 1, Nice, Nice),
    known!(b'f', "file size", "blocks, ", 1024, FileSize, Fsize),
    known!(b'i', "pending signals", "", 1, PendingSignals, Sigpending),
    known!(b'l', "max locked memory", "kbytes, ", 1024, LockedMemory, Memlock),
    known!(b'm', "max memory size", "kbytes, ", 1024, ResidentSet, Rss),
    known!(b'n', "open files", "", 1, OpenFiles, Nofile),
    Known { letter: b'p', name: "pipe size", unit: "512 bytes, ", scale: 512, kind: Kind::Pipe },
    known!(b'q', "POSIX message queues", "bytes, ", 1, MessageQueues, Msgqueue),
    known!(b'r', "real-time priority", "", 1, RealTimePriority, Rtprio),
    known!(b's', "stack size", "kbytes, ", 1024, StackSize, Stack),
    known!(b't', "cpu time", "seconds, ", 1, CpuTime, Cpu),
    known!(b'u', "max user processes", "", 1, Processes, Nproc),
    known!(b'v', "virtual memory", "kbytes, ", 1024, AddressSpace, As),
    known!(b'x', "file locks", "", 1, FileLocks, Locks),
];

/// Which of the two values is meant: both when it is set, the soft one when it is shown, unless an option says so.
#[derive(Clone, Copy, Default)]
struct Which {
    soft: bool,
    hard: bool,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "SHacdefilmnpqrstuvxR") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let which = Which { soft: has(b'S'), hard: has(b'H') };
    if has(b'a') {
        let text: String = ALL.iter().map(|known| row(context, known, which)).collect();
        return context.print(text.as_bytes());
    }
    let mut chosen: Vec<&Known> =
        flags.iter().filter_map(|flag| ALL.iter().find(|known| known.letter == flag.letter)).collect();
    if chosen.is_empty() {
        chosen.extend(ALL.iter().find(|known| known.letter == b'f'));
    }
    // The value belongs to the last limit named; those before it are shown.
    let value = operands.first();
    let mut text = String::new();
    for (index, known) in chosen.iter().enumerate() {
        match value {
            Some(value) if index + 1 == chosen.len() => {
                if let Err(message) = set(context, known, which, value) {
                    context.error(message);
                    return Ok(1);
                }
            }
            _ if chosen.len() > 1 => text.push_str(&row(context, known, which)),
            _ => text.push_str(&format!("{}\n", shown(known, current(context, known, which)))),
        }
    }
    context.print(text.as_bytes())
}

fn row(context: &Context<'_>, known: &Known, which: Which) -> String {
    let unit = format!("({}-{})", known.unit, char::from(known.letter));
    format!("{:<20}{unit:>20} {}\n", known.name, shown(known, current(context, known, which)))
}

fn shown(known: &Known, value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |value| (value / known.scale).to_string())
}

/// The value that programs started now would get.
fn current(context: &Context<'_>, known: &Known, which: Which) -> Option<u64> {
    let (soft, hard) = both(context, known);
    if which.hard && !which.soft { hard } else { soft }
}

fn both(context: &Context<'_>, known: &Known) -> (Option<u64>, Option<u64>) {
    let Kind::Resource(ours, system) = known.kind else { return (Some(4096), Some(4096)) };
    let own = context.session.limits.program_limits().iter().rev().find(|limit| limit.resource == ours);
    match own {
        Some(limit) => (limit.soft, limit.hard),
        None => {
            let limit = rustix::process::getrlimit(system);
            (limit.current, limit.maximum)
        }
    }
}

fn set(context: &mut Context<'_>, known: &Known, which: Which, text: &Bytes) -> Result<(), String> {
    let Kind::Resource(resource, _) = known.kind else {
        return Err(format!("{}: cannot modify limit: Invalid argument", known.name));
    };
    let (soft, hard) = both(context, known);
    let value = match text.as_bytes() {
        b"unlimited" => None,
        b"soft" => soft,
        b"hard" => hard,
        digits if digits.iter().all(u8::is_ascii_digit) && !digits.is_empty() => {
            let number: Option<u64> = text.lossy().parse().ok();
            Some(
                number
                    .and_then(|number| number.checked_mul(known.scale))
                    .ok_or_else(|| format!("{text}: limit out of range"))?,
            )
        }
        _ => return Err(format!("{text}: invalid number")),
    };
    let neither = !which.soft && !which.hard;
    let new_soft = if which.soft || neither { value } else { soft };
    let new_hard = if which.hard || neither { value } else { hard };
    let above = |value: Option<u64>, ceiling: Option<u64>| match (value, ceiling) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(value), Some(ceiling)) => value > ceiling,
    };
    if above(new_hard, hard) && !may_raise() {
        return Err(format!("{}: cannot modify limit: Operation not permitted", known.name));
    }
    if above(new_soft, new_hard) {
        return Err(format!("{}: cannot modify limit: Invalid argument", known.name));
    }
    let limits = context.session.limits.program_limits_mut();
    limits.retain(|limit| limit.resource != resource);
    limits.push(ResourceLimit { resource, soft: new_soft, hard: new_hard });
    Ok(())
}

/// Whether this process may raise hard limits.
fn may_raise() -> bool {
    const SYS_RESOURCE: u32 = 24;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> SYS_RESOURCE & 1 == 1)
}
