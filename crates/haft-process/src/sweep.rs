//! Ending the members of a scope: asking, and killing until nobody is left.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::cgroup;
use crate::child::pid;
use crate::ladder::{Identity, Ladder, Victims};
use crate::proc::{self, Entry};
use crate::reaper;
use crate::scope::Scope;

impl Scope {
    /// Kills every member and says how many there were, and how many outlived it.
    pub fn end(&self, grace: Duration) -> (usize, usize) {
        let mut ladder = Ladder::default();
        ladder.begin(Instant::now(), grace, self);
        loop {
            ladder.advance(Instant::now(), false, self);
            if ladder.is_down() {
                return ladder.count();
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops members until no new ones appear, so that none can start another while the others are killed. A control
    /// group kills them all at once and needs no such care.
    fn freeze(&self, seen: &mut HashSet<Identity>) -> Look {
        const ROUNDS: usize = 64;
        for _ in 0..ROUNDS {
            let look = self.look();
            let new = look.members.iter().filter(|entry| seen.insert((entry.pid, entry.start))).count();
            if new == 0 || self.cgroup().is_some() {
                return look;
            }
            look.signal(Signal::STOP);
        }
        self.look()
    }

    /// How often nobody must be seen before nobody is there. A control group knows; a look may miss somebody who
    /// starts another and ends, faster than all processes can be looked at.
    fn looks_needed(&self) -> usize {
        if self.cgroup().is_some() || self.is_unused() { 1 } else { 3 }
    }
}

impl Victims for Scope {
    fn terminate(&self) -> HashSet<Identity> {
        let members = self.entries();
        let roots = self.seeds().roots.clone();
        for &root in &roots {
            signal_group(root, Signal::TERM);
            signal_group(root, Signal::CONT);
        }
        for entry in members.iter().filter(|entry| !roots.contains(&entry.group)) {
            signal_process(*entry, Signal::TERM);
            signal_process(*entry, Signal::CONT);
        }
        members.iter().map(|entry| (entry.pid, entry.start)).collect()
    }

    fn is_empty(&self) -> bool {
        Scope::is_empty(self)
    }

    fn kill_all(&self, patience: Duration) -> (HashSet<Identity>, usize) {
        let end = Instant::now() + patience;
        let mut seen = HashSet::new();
        let mut pause = Duration::from_micros(200);
        let mut empty_looks = 0;
        loop {
            let look = self.freeze(&mut seen);
            for path in self.cgroup_paths() {
                let _ = cgroup::kill(path);
            }
            look.signal(Signal::KILL);
            reaper::reap_orphans();
            let left = self.members().len();
            empty_looks = if left == 0 && !self.has_orphans() { empty_looks + 1 } else { 0 };
            if empty_looks >= self.looks_needed() || Instant::now() >= end {
                return (seen, left);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Who was there in one moment.
#[derive(Default)]
pub(crate) struct Look {
    pub(crate) members: Vec<Entry>,
    /// The process groups in which nobody else is.
    pub(crate) groups: Vec<i32>,
}

impl Look {
    fn signal(&self, signal: Signal) {
        self.groups.iter().for_each(|&group| signal_group(group, signal));
        self.members.iter().for_each(|&entry| signal_process(entry, signal));
    }
}

fn signal_group(group: i32, signal: Signal) {
    if let Some(group) = pid(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// Signals the process that was looked at, and no other that may have got its number since.
pub(crate) fn signal_process(entry: Entry, signal: Signal) {
    let Some(number) = pid(entry.pid) else { return };
    let Ok(pidfd) = pidfd_open(number, PidfdFlags::empty()) else { return };
    if proc::entry(entry.pid).is_some_and(|now| now.start == entry.start) {
        let _ = pidfd_send_signal(&pidfd, signal);
    }
}
