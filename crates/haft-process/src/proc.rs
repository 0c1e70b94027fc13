//! What `/proc` tells about processes.

use std::fs;
use std::io::Read as _;

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
    let Ok(directory) = fs::read_dir("/proc") else { return Vec::new() };
    directory
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(entry)
        .collect()
}

/// One process, if it is still there.
pub(crate) fn entry(pid: i32) -> Option<Entry> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
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
    let start = number_at(&mut number, 15)?;
    Some(Entry {
        pid,
        parent: parent as i32,
        group: group as i32,
        session: session as i32,
        start: start.cast_unsigned(),
        zombie: matches!(state, "Z" | "X" | "x"),
    })
}

fn number_at(number: &mut impl FnMut() -> Option<i64>, skip: usize) -> Option<i64> {
    for _ in 0..skip {
        number()?;
    }
    number()
}

/// The children of this process, whichever of its threads started or inherited them.
pub(crate) fn own_children() -> Vec<i32> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let mut children = Vec::new();
    for thread in threads.flatten() {
        let Ok(list) = fs::read_to_string(thread.path().join("children")) else { continue };
        children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    children
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

/// The value of an environment variable a process was started with, as long as it has not overwritten that memory.
pub(crate) fn environment_variable(pid: i32, name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(format!("/proc/{pid}/environ")).ok()?.read_to_end(&mut bytes).ok()?;
    bytes
        .split(|&byte| byte == 0)
        .find_map(|variable| Some(variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec()))
}

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
