//! A report about this process as JSON.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use crate::sys;

pub(crate) fn print() -> i32 {
    println!("{}", describe());
    0
}

/// Writes the report to a temporary file and renames it, so that the file is always complete.
pub(crate) fn write(path: &str) -> i32 {
    let partial = format!("{path}.partial");
    let written = fs::write(&partial, describe()).and_then(|()| fs::rename(&partial, path));
    i32::from(written.is_err()) * 3
}

/// Prints the size of the terminal, and prints it again whenever it changes.
pub(crate) fn window() -> i32 {
    sys::block([sys::SIGWINCH]);
    loop {
        match sys::window_size() {
            Some((columns, rows)) => println!("{columns}x{rows}"),
            None => return 4,
        }
        sys::wait_signal(sys::SIGWINCH);
    }
}

fn describe() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
    let field = |index: usize| fields.get(index).copied().unwrap_or("0").to_owned();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut json = String::from("{");
    let arguments: Vec<String> = std::env::args_os().map(|argument| quote(argument.as_bytes())).collect();
    let environment: Vec<String> = fs::read("/proc/self/environ")
        .unwrap_or_default()
        .split(|&byte| byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(quote)
        .collect();
    let directory = fs::read_link("/proc/self/cwd").unwrap_or_default();
    let _ = write!(json, "\"argv\":[{}],\"env\":[{}],", arguments.join(","), environment.join(","));
    let _ =
        write!(json, "\"cwd\":{},\"fds\":{{{}}},", quote(directory.as_os_str().as_bytes()), descriptors());
    let _ = write!(json, "\"pid\":{},\"ppid\":{},", std::process::id(), field(1));
    let _ = write!(json, "\"pgid\":{},\"sid\":{},", field(2), field(3));
    let _ = write!(json, "\"tty\":{},\"foreground\":{},\"nice\":{},", field(4), field(5), field(16));
    for (name, line) in [("no_new_privileges", "NoNewPrivs"), ("seccomp", "Seccomp")] {
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        let _ = write!(json, "\"{name}\":{},", value.unwrap_or("0").trim());
    }
    for (name, line) in [("blocked", "SigBlk"), ("ignored", "SigIgn"), ("caught", "SigCgt")] {
        let _ = write!(json, "\"{name}\":{},", signal_set(&status, line));
    }
    let _ = write!(json, "\"limits\":{{{}}}}}", limits());
    json
}

/// Returns the open descriptors with their targets, without the one that lists them.
fn descriptors() -> String {
    let mut found = Vec::new();
    let own = format!("/proc/{}/fd", std::process::id());
    for entry in fs::read_dir(&own).into_iter().flatten().flatten() {
        let Ok(target) = fs::read_link(entry.path()) else { continue };
        if target.as_os_str() != own.as_str() {
            let number = entry.file_name().to_string_lossy().parse::<i32>().unwrap_or(-1);
            found.push((number, format!("\"{number}\":{}", quote(target.as_os_str().as_bytes()))));
        }
    }
    found.sort();
    found.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

/// Returns a set of signals as a list of numbers.
fn signal_set(status: &str, name: &str) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let bits = u64::from_str_radix(line.unwrap_or("0").trim(), 16).unwrap_or(0);
    let numbers: Vec<String> =
        (1..=64).filter(|number| bits & (1 << (number - 1)) != 0).map(|n| n.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

/// Returns the soft limits by their names in `/proc/PID/limits`.
fn limits() -> String {
    let table = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let rows = table.lines().skip(1).filter_map(|line| {
        let (name, rest) = line.split_at_checked(26)?;
        let value = rest.split_ascii_whitespace().next()?;
        Some(format!("\"{}\":\"{value}\"", name.trim()))
    });
    rows.collect::<Vec<_>>().join(",")
}

/// Returns text as a JSON string, with invalid UTF-8 replaced.
fn quote(bytes: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for letter in String::from_utf8_lossy(bytes).chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
