//! `ulimit`.

use haft_process::{Resource, ResourceLimit};
use haft_text::Bytes;

use super::{Context, options};
use crate::flow::Flow;

/// A resource limit of `ulimit`.
struct UlimitResource {
    letter: u8,
    name: &'static str,
    unit: &'static str,
    /// How many units of the system make one unit of `ulimit`.
    scale: u64,
    kind: LimitSource,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LimitSource {
    Resource(Resource, rustix::process::Resource),
    /// The buffer size of a pipe, which cannot be changed.
    Pipe,
}

macro_rules! resource {
    ($letter:literal, $name:literal, $unit:literal, $scale:literal, $ours:ident, $system:ident) => {
        UlimitResource {
            letter: $letter,
            name: $name,
            unit: $unit,
            scale: $scale,
            kind: LimitSource::Resource(Resource::$ours, rustix::process::Resource::$system),
        }
    };
}

/// The size of an atomic write to a pipe, `PIPE_BUF`.
const PIPE_BUFFER_BYTES: u64 = 4096;

/// All resources, in the order of `ulimit -a`.
const RESOURCES: &[UlimitResource] = &[
    resource!(b'R', "real-time non-blocking time", "microseconds, ", 1, RealTimeTimeout, Rttime),
    resource!(b'c', "core file size", "blocks, ", 1024, CoreSize, Core),
    resource!(b'd', "data seg size", "kbytes, ", 1024, DataSize, Data),
    resource!(b'e', "scheduling priority", "", 1, Nice, Nice),
    resource!(b'f', "file size", "blocks, ", 1024, FileSize, Fsize),
    resource!(b'i', "pending signals", "", 1, PendingSignals, Sigpending),
    resource!(b'l', "max locked memory", "kbytes, ", 1024, LockedMemory, Memlock),
    resource!(b'm', "max memory size", "kbytes, ", 1024, ResidentSet, Rss),
    resource!(b'n', "open files", "", 1, OpenFiles, Nofile),
    UlimitResource {
        letter: b'p',
        name: "pipe size",
        unit: "512 bytes, ",
        scale: 512,
        kind: LimitSource::Pipe,
    },
    resource!(b'q', "POSIX message queues", "bytes, ", 1, MessageQueues, Msgqueue),
    resource!(b'r', "real-time priority", "", 1, RealTimePriority, Rtprio),
    resource!(b's', "stack size", "kbytes, ", 1024, StackSize, Stack),
    resource!(b't', "cpu time", "seconds, ", 1, CpuTime, Cpu),
    resource!(b'u', "max user processes", "", 1, Processes, Nproc),
    resource!(b'v', "virtual memory", "kbytes, ", 1024, AddressSpace, As),
    resource!(b'x', "file locks", "", 1, FileLocks, Locks),
];

/// Which of the two limits is meant. By default both are set, and the soft limit is shown.
#[derive(Clone, Copy, Default)]
struct LimitSelection {
    soft: bool,
    hard: bool,
}

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "SHacdefilmnpqrstuvxR") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let has = |letter| options::has(&flags, letter);
    let selection = LimitSelection { soft: has(b'S'), hard: has(b'H') };
    if has(b'a') {
        let text: String = RESOURCES.iter().map(|resource| row(context, resource, selection)).collect();
        return context.print(text.as_bytes());
    }
    let mut chosen: Vec<&UlimitResource> = flags
        .iter()
        .filter_map(|flag| RESOURCES.iter().find(|resource| resource.letter == flag.letter))
        .collect();
    if chosen.is_empty() {
        chosen.extend(RESOURCES.iter().find(|resource| resource.letter == b'f'));
    }
    // The value applies to the last resource; the limits of the others are shown.
    let value = operands.first();
    let mut text = String::new();
    for (index, resource) in chosen.iter().enumerate() {
        match value {
            Some(value) if index + 1 == chosen.len() => {
                if let Err(message) = set(context, resource, selection, value) {
                    context.error(message);
                    return Ok(1);
                }
            }
            _ if chosen.len() > 1 => text.push_str(&row(context, resource, selection)),
            _ => text.push_str(&format!("{}\n", shown(resource, current(context, resource, selection)))),
        }
    }
    context.print(text.as_bytes())
}

fn row(context: &Context<'_>, resource: &UlimitResource, selection: LimitSelection) -> String {
    let unit = format!("({}-{})", resource.unit, char::from(resource.letter));
    format!("{:<20}{unit:>20} {}\n", resource.name, shown(resource, current(context, resource, selection)))
}

fn shown(resource: &UlimitResource, value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |value| (value / resource.scale).to_string())
}

/// Returns the limit that a program started now would get.
fn current(context: &Context<'_>, resource: &UlimitResource, selection: LimitSelection) -> Option<u64> {
    let (soft, hard) = both(context, resource);
    if selection.hard && !selection.soft { hard } else { soft }
}

fn both(context: &Context<'_>, resource: &UlimitResource) -> (Option<u64>, Option<u64>) {
    let LimitSource::Resource(ours, system) = resource.kind else {
        return (Some(PIPE_BUFFER_BYTES), Some(PIPE_BUFFER_BYTES));
    };
    let own = context.session().limits.program_limits().iter().rev().find(|limit| limit.resource == ours);
    match own {
        Some(limit) => (limit.soft, limit.hard),
        None => {
            let limit = rustix::process::getrlimit(system);
            (limit.current, limit.maximum)
        }
    }
}

fn set(
    context: &mut Context<'_>,
    resource: &UlimitResource,
    selection: LimitSelection,
    text: &Bytes,
) -> Result<(), String> {
    let LimitSource::Resource(ours, _) = resource.kind else {
        return Err(format!("{}: cannot modify limit: Invalid argument", resource.name));
    };
    let (soft, hard) = both(context, resource);
    let value = match text.as_bytes() {
        b"unlimited" => None,
        b"soft" => soft,
        b"hard" => hard,
        digits if digits.iter().all(u8::is_ascii_digit) && !digits.is_empty() => {
            let number: Option<u64> = text.lossy().parse().ok();
            Some(
                number
                    .and_then(|number| number.checked_mul(resource.scale))
                    .ok_or_else(|| format!("{text}: limit out of range"))?,
            )
        }
        _ => return Err(format!("{text}: invalid number")),
    };
    let neither = !selection.soft && !selection.hard;
    let new_soft = if selection.soft || neither { value } else { soft };
    let new_hard = if selection.hard || neither { value } else { hard };
    let above = |value: Option<u64>, ceiling: Option<u64>| match (value, ceiling) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(value), Some(ceiling)) => value > ceiling,
    };
    if above(new_hard, hard) && !may_raise() {
        return Err(format!("{}: cannot modify limit: Operation not permitted", resource.name));
    }
    if above(new_soft, new_hard) {
        return Err(format!("{}: cannot modify limit: Invalid argument", resource.name));
    }
    let limits = context.session_mut().limits.program_limits_mut();
    limits.retain(|limit| limit.resource != ours);
    limits.push(ResourceLimit { resource: ours, soft: new_soft, hard: new_hard });
    Ok(())
}

/// Tells whether this process may raise hard limits.
fn may_raise() -> bool {
    const CAP_SYS_RESOURCE: u32 = 24;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> CAP_SYS_RESOURCE & 1 == 1)
}
