//! What `/proc` tells about processes.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;

use rustix::io::Errno;

use crate::sys;

/// A line of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// When it was started, in the kernel's ticks since boot; with the pid this names a process for ever.
    pub(crate) start: u64,
    /// Whether it has ended and waits to be reaped.
    pub(crate) zombie: bool,
}

/// All processes there are now.
pub(crate) fn table() -> Vec<Entry> {
    survey(|_| Some(())).into_iter().map(|(entry, ())| entry).collect()
}

/// All processes there are now, each with what `look` makes of it in the same moment; `None` says that it has gone.
///
/// One that has gone after it was listed may have started another that was not listed yet, so whoever is new is looked
/// at until nobody has gone. No line of descent gets away like this: the system lists by rising numbers, and a child's
/// number comes after its parent's.
pub(crate) fn survey<T>(look: impl Fn(&Entry) -> Option<T>) -> Vec<(Entry, T)> {
    const ROUNDS: usize = 16;
    let mut listed = HashSet::new();
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let mut new: Vec<i32> = numbers().into_iter().filter(|pid| listed.insert(*pid)).collect();
        // The newest first: they are those who may go next.
        new.sort_unstable_by(|one, other| other.cmp(one));
        let before = found.len();
        found.extend(new.iter().filter_map(|&pid| entry(pid).and_then(|entry| Some((entry, look(&entry)?)))));
        if found.len() - before == new.len() {
            break;
        }
    }
    found
}

/// Whether `/proc` is there and tells of the processes that this one sees, not of another namespace's.
fn is_available() -> bool {
    let own = rustix::process::getpid().as_raw_pid();
    fs::read_link("/proc/self").is_ok_and(|name| name.to_str() == Some(own.to_string().as_str()))
}

fn numbers() -> Vec<i32> {
    if !is_available() {
        return Vec::new();
    }
    let Ok(directory) = fs::read_dir("/proc") else { return Vec::new() };
    directory.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// One process, if it is still there.
pub(crate) fn entry(pid: i32) -> Option<Entry> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// When a process was started, in the kernel's ticks since boot, if it is still there and has not ended. Together with its
/// number this names a process for ever, through all the programs that it becomes.
pub fn process_start(pid: i32) -> Option<u64> {
    entry(pid).filter(|entry| !entry.zombie).map(|entry| entry.start)
}

/// Whether a process runs, is ready to run, or waits for a disk: it will go on by itself, soon.
pub fn is_computing(pid: i32) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/stat")) else { return false };
    let after_name = line.iter().rposition(|&byte| byte == b')').map(|close| close + 2);
    let state = after_name.and_then(|at| line.get(at));
    matches!(state, Some(b'R' | b'D'))
}

/// Whether a process, dead or alive but not reaped, descends from this one.
#[must_use]
pub fn is_descendant(pid: i32) -> bool {
    const MOST_GENERATIONS: usize = 256;
    let own = rustix::process::getpid().as_raw_pid();
    let parent = |pid: &i32| entry(*pid).map(|entry| entry.parent).filter(|parent| *parent > 0);
    let ancestors = std::iter::successors(parent(&pid), parent);
    ancestors.take(MOST_GENERATIONS).any(|ancestor| ancestor == own)
}

/// Reads a `stat` line. The command name in it may hold anything, so fields count from its last parenthesis.
fn parse_stat(line: &[u8]) -> Option<Entry> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    let close = line.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
    let mut fields = std::str::from_utf8(line.get(close + 1..)?).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let mut number = || fields.next()?.parse::<i64>().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let threads = number_at(&mut number, 13)?;
    let start = number_at(&mut number, 1)?;
    Some(Entry {
        pid,
        parent: parent as i32,
        group: group as i32,
        session: session as i32,
        start: start.cast_unsigned(),
        // The first thread may have ended while others go on.
        zombie: matches!(state, "Z" | "X" | "x") && threads <= 1,
    })
}

fn number_at(number: &mut impl FnMut() -> Option<i64>, skip: usize) -> Option<i64> {
    for _ in 0..skip {
        number()?;
    }
    number()
}

/// The time now, in the kernel's ticks since boot, as processes' starts are told.
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ticks = rustix::param::clock_ticks_per_second();
    now.tv_sec.cast_unsigned() * ticks + now.tv_nsec.cast_unsigned() * ticks / 1_000_000_000
}

/// The control groups of a process, one a line; empty if it has gone.
pub(crate) fn cgroups(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default()
}

/// Whether a process does not die although it was killed: it is in an uninterruptible sleep, or frozen.
pub(crate) fn is_uninterruptible(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = line.iter().rposition(|&byte| byte == b')').and_then(|close| line.get(close + 2));
    state == Some(&b'D')
}

/// The children of this process, whichever of its threads started or inherited them.
pub(crate) fn own_children() -> Vec<i32> {
    if !is_available() {
        return sys::find_children();
    }
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return sys::find_children() };
    let mut children = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !thread.path().exists() => {}
            Err(_) => return sys::find_children(),
        }
    }
    children
}

/// What a process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) threads: u64,
    /// Bytes of its resident set.
    pub(crate) resident: u64,
    /// Bytes of its resident set without pages of files and shared memory.
    pub(crate) unshared: u64,
}

/// What a process uses now, if it is still there.
pub(crate) fn load(pid: i32) -> Option<Load> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut pages = statm.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (pages.next()??, pages.next()??);
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(1, Iterator::count) as u64;
    let size = rustix::param::page_size() as u64;
    Some(Load { threads, resident: resident * size, unshared: resident.saturating_sub(shared) * size })
}

/// The resident set of a process in bytes, with shared pages counted in equal parts for those who share them.
pub(crate) fn proportional_memory(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    status_number(&rollup, "Pss:").map(|kibibytes| kibibytes << 10)
}

/// A child of this process that `/proc` does not list. The time of its start is not known, and given as 0.
pub(crate) fn child_entry(pid: i32) -> Option<Entry> {
    let zombie = sys::child_state(pid)? == sys::ChildState::Ended;
    let number = rustix::process::Pid::from_raw(pid);
    let group = rustix::process::getpgid(number).map_or(0, rustix::process::Pid::as_raw_pid);
    let session = rustix::process::getsid(number).map_or(0, rustix::process::Pid::as_raw_pid);
    let parent = rustix::process::getpid().as_raw_pid();
    Some(Entry { pid, parent, group, session, start: 0, zombie })
}

/// How many processes and threads the user of this process has.
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

/// The environment a process was started with, as long as it has not overwritten that memory: `name=value`, each with a
/// NUL byte after it. Of one that has no memory left, or is somebody else's, it is empty; `Err` says that it has gone.
pub(crate) fn environment(pid: i32) -> Result<Vec<u8>, Gone> {
    let mut bytes = Vec::new();
    let read =
        fs::File::open(format!("/proc/{pid}/environ")).and_then(|mut file| file.read_to_end(&mut bytes));
    match read.map_err(|error| Errno::from_io_error(&error)) {
        Err(Some(Errno::NOENT | Errno::SRCH)) if entry(pid).is_none() => Err(Gone),
        Err(_) => Ok(Vec::new()),
        Ok(_) => Ok(bytes),
    }
}

/// Whether a process ignores hang-ups.
pub(crate) fn ignores_hangups(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|set| u64::from_str_radix(set.trim(), 16).is_ok_and(|set| set & 1 != 0))
}

/// A process that was there a moment ago.
#[derive(Debug)]
pub(crate) struct Gone;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_may_hold_parentheses_and_blanks() {
        let line = b"42 (a) b (c)) S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 777 1 2";
        let entry = parse_stat(line).unwrap();
        assert_eq!((entry.pid, entry.parent, entry.group, entry.session), (42, 1, 2, 3));
        assert_eq!(entry.start, 777);
        assert!(!entry.zombie);
    }

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let line = |threads| format!("42 (a) Z 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 {threads} 0 777 1 2");
        assert!(parse_stat(line(1).as_bytes()).unwrap().zombie);
        assert!(!parse_stat(line(2).as_bytes()).unwrap().zombie);
    }

    #[test]
    fn garbage_is_no_entry() {
        assert_eq!(parse_stat(b""), None);
        assert_eq!(parse_stat(b"12 (x"), None);
        assert_eq!(parse_stat(b"12 (x) R 1 2"), None);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let pid = std::process::id() as i32;
        assert!(table().iter().any(|entry| entry.pid == pid && !entry.zombie));
    }
}
