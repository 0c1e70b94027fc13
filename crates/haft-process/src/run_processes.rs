//! The processes of runs, from `/proc`.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use serde::Serialize;

use crate::scope::MARKER;

/// A process of this user.
#[derive(Debug)]
struct ListedProcess {
    pid: i32,
    parent: i32,
    /// User and system CPU time, in clock ticks.
    cpu: u64,
    /// Bytes of the resident set.
    resident: u64,
    /// The runs that it belongs to: the value of its marker.
    marker: Vec<u8>,
}

/// All processes whose environment this user may read.
#[derive(Debug)]
pub struct ProcessTable {
    processes: Vec<ListedProcess>,
}

/// The processes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunProcesses {
    /// Their pids.
    pub pids: Vec<i32>,
    /// CPU time of the processes that run now, in seconds.
    pub cpu: f64,
    /// Bytes of their resident sets.
    pub memory: u64,
    /// Whether one of them waits for input from a terminal.
    pub waits_for_input: bool,
}

impl ProcessTable {
    /// Reads all processes.
    pub fn read() -> ProcessTable {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ProcessTable { processes: pids.filter_map(ListedProcess::read).collect() }
    }

    /// The processes that carry the marker of a run, and their descendants.
    pub fn of_run(&self, run: &str) -> RunProcesses {
        let mut members: HashSet<i32> =
            self.processes.iter().filter(|process| process.is_of(run)).map(|process| process.pid).collect();
        loop {
            let is_new = |process: &&ListedProcess| {
                members.contains(&process.parent) && !members.contains(&process.pid)
            };
            let new: Vec<i32> = self.processes.iter().filter(is_new).map(|process| process.pid).collect();
            if new.is_empty() {
                break;
            }
            members.extend(new);
        }
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let mut found = RunProcesses::default();
        for process in self.processes.iter().filter(|process| members.contains(&process.pid)) {
            found.pids.push(process.pid);
            found.cpu += process.cpu as f64 / ticks;
            found.memory += process.resident;
            found.waits_for_input |= reads_terminal(process.pid);
        }
        found.pids.sort_unstable();
        found
    }
}

impl ListedProcess {
    fn read(pid: i32) -> Option<ListedProcess> {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
        let prefix = format!("{MARKER}=");
        let mut variables = environment.split(|byte| *byte == 0);
        let marker = variables.find_map(|variable| variable.strip_prefix(prefix.as_bytes()));
        Some(ListedProcess {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            cpu: number(11)? + number(12)?,
            resident: number(21)? * rustix::param::page_size() as u64,
            marker: marker.unwrap_or_default().to_vec(),
        })
    }

    /// Whether its marker names a run, or a part of it.
    fn is_of(&self, run: &str) -> bool {
        self.marker.split(|byte| *byte == b':').any(|part| {
            part.strip_prefix(run.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
        })
    }
}

/// Whether a process is blocked reading its standard input, and that is a terminal.
fn reads_terminal(pid: i32) -> bool {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    let is_reading = call.starts_with(&format!("{} 0x0 ", libc::SYS_read));
    let is_device =
        || fs::metadata(format!("/proc/{pid}/fd/0")).is_ok_and(|data| data.file_type().is_char_device());
    let is_null =
        || fs::read_link(format!("/proc/{pid}/fd/0")).is_ok_and(|target| target.as_os_str() == "/dev/null");
    is_reading && is_device() && !is_null()
}
