//! What this process holds: to be the same before and after.

use std::fs;

use crate::process;

/// Descriptors, threads, and children dead or alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
    /// Children that live, and those that are dead and not reaped.
    pub children: usize,
}

/// Counts them now.
pub fn holdings() -> Holdings {
    let pid = std::process::id() as i32;
    let threads = fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    Holdings { descriptors: process::descriptors(pid), threads, children: process::children(pid).len() }
}
