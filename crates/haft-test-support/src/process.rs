//! Information about processes from `/proc`.

use std::fs;
use std::time::Duration;

/// Returns all pids.
pub fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the state of a process as one letter, such as `R`, `S`, `T` or `Z`, or `None` if it does not exist.
pub fn state(pid: i32) -> Option<char> {
    stat_field(pid, 0)?.chars().next()
}

/// Returns the parent of a process.
pub fn parent(pid: i32) -> Option<i32> {
    stat_field(pid, 1)?.parse().ok()
}

/// Returns the foreground process group of a process's terminal.
pub fn foreground(pid: i32) -> Option<i32> {
    stat_field(pid, 5)?.parse().ok().filter(|group| *group > 0)
}

/// Returns the children of a process, including zombies.
pub fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Returns the number of zombie children of a process.
pub fn zombies(pid: i32) -> usize {
    children(pid).into_iter().filter(|&child| state(child) == Some('Z')).count()
}

/// Returns the CPU time of a process.
pub fn cpu_time(pid: i32) -> Duration {
    let ticks = |index| stat_field(pid, index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// Returns a number of bytes from `/proc/PID/status`, such as `VmHWM`, the peak resident set size.
pub fn memory(pid: i32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Returns the number of open descriptors of a process.
pub fn descriptors(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Returns a field of the `stat` line, counted from the field after the name.
fn stat_field(pid: i32, index: usize) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    line.rsplit(')').next()?.split_ascii_whitespace().nth(index).map(str::to_owned)
}
