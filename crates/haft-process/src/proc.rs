//! Information about processes from `/proc`.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;
use std::time::Duration;

use rustix::io::Errno;

use crate::sys;

/// One process, as read from `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Start time in clock ticks since boot. Pid and start time together are never reused.
    pub(crate) start: u64,
    /// Number of threads.
    pub(crate) threads: u64,
    /// Whether it has ended and is not reaped yet.
    pub(crate) zombie: bool,
}

/// Returns all processes.
pub(crate) fn table() -> Vec<ProcessEntry> {
    scan(without_details).into_iter().map(|(entry, ())| entry).collect()
}

/// Adds nothing to processes, for [`scan`].
pub(crate) fn without_details(_: &[(ProcessEntry, ())], new: Vec<ProcessEntry>) -> Vec<(ProcessEntry, ())> {
    new.into_iter().map(|entry| (entry, ())).collect()
}

/// Returns all processes, each with what `inspect` adds to it. `inspect` gets the processes found so far and new ones, and leaves
/// out those that have ended meanwhile.
///
/// A process that ends after it was listed may have started a child that was not listed yet. New processes are therefore
/// listed until none has ended in between. No descendant is missed, because the kernel lists pids in ascending order and a
/// child's pid follows its parent's.
pub(crate) fn scan<T>(
    inspect: impl Fn(&[(ProcessEntry, T)], Vec<ProcessEntry>) -> Vec<(ProcessEntry, T)>,
) -> Vec<(ProcessEntry, T)> {
    const MAX_PASSES: usize = 16;
    let mut listed = HashSet::new();
    let mut found = Vec::new();
    for _ in 0..MAX_PASSES {
        let mut new: Vec<i32> = pids().into_iter().filter(|pid| listed.insert(*pid)).collect();
        // Newest first, because they are the most likely to end soon.
        new.sort_unstable_by(|one, other| other.cmp(one));
        let inspected = inspect(&found, new.iter().filter_map(|&pid| entry(pid)).collect());
        let is_complete = inspected.len() == new.len();
        found.extend(inspected);
        if is_complete {
            break;
        }
    }
    found
}

/// Whether `/proc` is mounted and shows the PID namespace of this process.
pub(crate) fn is_available() -> bool {
    let own = rustix::process::getpid().as_raw_pid();
    fs::read_link("/proc/self").is_ok_and(|name| name.to_str() == Some(own.to_string().as_str()))
}

fn pids() -> Vec<i32> {
    if !is_available() {
        return Vec::new();
    }
    let Ok(directory) = fs::read_dir("/proc") else { return Vec::new() };
    directory.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns a process, if it exists.
pub(crate) fn entry(pid: i32) -> Option<ProcessEntry> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the start time of a running process, in clock ticks since boot. Pid and start time together are never reused, and
/// do not change when the process executes another program.
pub fn process_start(pid: i32) -> Option<u64> {
    entry(pid).filter(|entry| !entry.zombie).map(|entry| entry.start)
}

/// Whether a process is running, ready to run, or waiting for a disk.
pub fn is_computing(pid: i32) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/stat")) else { return false };
    let after_name = line.iter().rposition(|&byte| byte == b')').map(|close| close + 2);
    let state = after_name.and_then(|at| line.get(at));
    matches!(state, Some(b'R' | b'D'))
}

/// Whether a process is a descendant of this process. A process that was reaped is none.
pub(crate) fn descends_from_self(pid: i32) -> bool {
    const MAX_GENERATIONS: usize = 256;
    let own = rustix::process::getpid().as_raw_pid();
    let parent = |pid: &i32| entry(*pid).map(|entry| entry.parent).filter(|parent| *parent > 0);
    let ancestors = std::iter::successors(parent(&pid), parent);
    ancestors.take(MAX_GENERATIONS).any(|ancestor| ancestor == own)
}

/// Parses a `stat` line. The command name may contain any character, so fields are counted from the last parenthesis.
fn parse_stat(line: &[u8]) -> Option<ProcessEntry> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    let close = line.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
    let mut fields = std::str::from_utf8(line.get(close + 1..)?).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let mut number = || fields.next()?.parse::<i64>().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let threads = number_at(&mut number, 13)?;
    let start = number_at(&mut number, 1)?;
    Some(ProcessEntry {
        pid,
        parent: parent as i32,
        group: group as i32,
        session: session as i32,
        start: start.cast_unsigned(),
        threads: threads.max(1).cast_unsigned(),
        // The main thread may have ended while other threads run.
        zombie: matches!(state, "Z" | "X" | "x") && threads <= 1,
    })
}

fn number_at(number: &mut impl FnMut() -> Option<i64>, skip: usize) -> Option<i64> {
    for _ in 0..skip {
        number()?;
    }
    number()
}

/// Returns the current time in clock ticks since boot, the unit of start times.
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ticks = rustix::param::clock_ticks_per_second();
    now.tv_sec.cast_unsigned() * ticks + now.tv_nsec.cast_unsigned() * ticks / 1_000_000_000
}

/// Returns the control groups of a process, one per line; empty if the process has ended.
pub(crate) fn cgroups(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default()
}

/// Whether a process is in uninterruptible sleep or frozen, so that `SIGKILL` does not end it.
pub(crate) fn is_uninterruptible(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = line.iter().rposition(|&byte| byte == b')').and_then(|close| line.get(close + 2));
    state == Some(&b'D')
}

/// Returns the children of this process, of all its threads.
pub(crate) fn own_children() -> Vec<i32> {
    if !is_available() {
        return sys::find_children();
    }
    let own = rustix::process::getpid().as_raw_pid();
    children(own).unwrap_or_else(|_| sys::find_children())
}

/// Returns the children of a process, of all its threads.
fn children(pid: i32) -> std::io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !thread.path().exists() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(children)
}

/// Counts the descendants of this process, but not many more than `most`. Much faster than a scan of all processes. Returns `None` if
/// the kernel does not list children.
pub(crate) fn count_descendants(most: u64) -> Option<u64> {
    let mut pending = children(rustix::process::getpid().as_raw_pid()).ok()?;
    let mut count = pending.len() as u64;
    while count <= most
        && let Some(pid) = pending.pop()
    {
        // A process that has ended meanwhile has no children.
        let found = children(pid).unwrap_or_default();
        count += found.len() as u64;
        pending.extend(found);
    }
    Some(count)
}

/// Returns the number of threads of the whole system. The kernel reports only 16 bits of it.
pub(crate) fn system_threads() -> u16 {
    rustix::system::sysinfo().procs
}

/// The memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMemory {
    /// Bytes of the resident set.
    pub(crate) resident: u64,
    /// Bytes of the resident set without file mappings and shared memory.
    pub(crate) unshared: u64,
}

/// Returns the memory of a process, if it exists.
pub(crate) fn memory(pid: i32) -> Option<ProcessMemory> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut pages = statm.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    let size = rustix::param::page_size() as u64;
    Some(ProcessMemory { resident: resident * size, unshared: resident.saturating_sub(shared) * size })
}

/// Returns the number of bytes that a process and the children it waited for have written to files; 0 if it is unknown.
pub(crate) fn written(pid: i32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Returns the CPU time of a process and the children it waited for; 0 if it is unknown.
pub(crate) fn cpu_time(pid: i32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program, in parentheses, may contain anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks.saturating_mul(1000) / rustix::param::clock_ticks_per_second())
}

/// Whether a child still has the memory of this process, because it has not executed its program yet.
pub(crate) fn shares_memory(child: &ProcessEntry) -> bool {
    let size = |process: &str| {
        let statm = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
        statm.split_ascii_whitespace().next().map(ToOwned::to_owned)
    };
    let is_child = child.parent == rustix::process::getpid().as_raw_pid();
    is_child && size(&child.pid.to_string()).is_some_and(|child| Some(child) == size("self"))
}

/// Returns the proportional set size in bytes: each shared page counts in equal parts for the processes that share it.
pub(crate) fn proportional_memory(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    status_number(&rollup, "Pss:").map(|kibibytes| kibibytes << 10)
}

/// Returns a child of this process that `/proc` does not list. Its start time is unknown and set to 0.
pub(crate) fn child_entry(pid: i32) -> Option<ProcessEntry> {
    let zombie = sys::child_state(pid)? == sys::ChildState::Ended;
    let (group, session) = (sys::group_of(pid), sys::session_of(pid));
    let parent = rustix::process::getpid().as_raw_pid();
    Some(ProcessEntry { pid, parent, group, session, start: 0, threads: 1, zombie })
}

/// Returns the number of threads of all processes of this user.
pub(crate) fn count_of_user() -> u64 {
    let own = rustix::process::getuid().as_raw();
    let statuses = table()
        .into_iter()
        .filter_map(|entry| fs::read_to_string(format!("/proc/{}/status", entry.pid)).ok());
    statuses
        .filter(|status| status_number(status, "Uid:") == Some(u64::from(own)))
        .filter_map(|status| status_number(&status, "Threads:"))
        .sum()
}

fn status_number(status: &str, field: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(field))?.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the initial environment of a process, as NUL-terminated `name=value` strings. It is empty if the process has no
/// memory any more or belongs to another user.
///
/// # Errors
/// Fails if the process does not exist any more.
pub(crate) fn environment(pid: i32) -> Result<Vec<u8>, ProcessGone> {
    let mut bytes = Vec::new();
    let read =
        fs::File::open(format!("/proc/{pid}/environ")).and_then(|mut file| file.read_to_end(&mut bytes));
    match read.map_err(|error| Errno::from_io_error(&error)) {
        Err(Some(Errno::NOENT | Errno::SRCH)) if entry(pid).is_none() => Err(ProcessGone),
        Err(_) => Ok(Vec::new()),
        Ok(_) => Ok(bytes),
    }
}

/// Whether a process ignores `SIGHUP`.
pub(crate) fn ignores_sighup(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|set| u64::from_str_radix(set.trim(), 16).is_ok_and(|set| set & 1 != 0))
}

/// The process does not exist any more.
#[derive(Debug)]
pub(crate) struct ProcessGone;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_names_may_contain_parentheses_and_spaces() {
        let line = b"42 (a) b (c)) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 777 1 2";
        let entry = parse_stat(line).unwrap();
        assert_eq!((entry.pid, entry.parent, entry.group, entry.session), (42, 1, 2, 3));
        assert_eq!(entry.start, 777);
        assert!(!entry.zombie);
    }

    #[test]
    fn a_process_is_a_zombie_only_after_its_last_thread_ended() {
        let line = |threads| format!("42 (a) Z 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 {threads} 0 777 1 2");
        assert!(parse_stat(line(1).as_bytes()).unwrap().zombie);
        assert!(!parse_stat(line(2).as_bytes()).unwrap().zombie);
    }

    #[test]
    fn malformed_lines_are_rejected() {
        assert_eq!(parse_stat(b""), None);
        assert_eq!(parse_stat(b"12 (x"), None);
        assert_eq!(parse_stat(b"12 (x) R 1 2"), None);
    }

    #[test]
    fn the_process_table_lists_this_process() {
        let pid = std::process::id() as i32;
        assert!(table().iter().any(|entry| entry.pid == pid && !entry.zombie));
    }
}
