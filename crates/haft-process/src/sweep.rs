//! Ending the members of a scope: asking, and killing until nobody is left.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal, test_kill_process,
};

use crate::cgroup;
use crate::child::pid;
use crate::ladder::{Identity, Ladder, Patience, Victims};
use crate::look::Look;
use crate::proc::{self, Entry};
use crate::reaper;
use crate::scope::Scope;
use crate::survivors::Survivors;
use crate::sys;

impl Scope {
    /// Kills every member and says how many there were, and which outlived it.
    pub fn end(&self, grace: Duration) -> (usize, Survivors) {
        let mut ladder = Ladder::default();
        ladder.begin(Instant::now(), grace, self);
        loop {
            ladder.advance(Instant::now(), false, self);
            if let Some(result) = ladder.result() {
                return result;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops members until no new ones appear, so that none can start another while the others are killed. A control
    /// group kills them all at once and needs no such care.
    fn freeze(&self, seen: &mut HashSet<Identity>, last: Instant) -> Look {
        const ROUNDS: usize = 64;
        for _ in 0..ROUNDS {
            let look = self.look();
            let new = look.members.iter().filter(|entry| seen.insert((entry.pid, entry.start))).count();
            if new == 0 || self.cgroup().is_some() || Instant::now() >= last {
                return look;
            }
            look.signal(Signal::STOP);
            // The dead would make each look slower than the one before.
            reaper::reap_orphans();
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

    fn kill_all(&self, patience: Patience) -> (HashSet<Identity>, Survivors) {
        let mut seen = HashSet::new();
        let mut pause = Duration::from_micros(200);
        let mut empty_looks = 0;
        loop {
            let look = self.freeze(&mut seen, patience.last);
            for path in self.cgroup_paths() {
                let _ = cgroup::kill(path);
            }
            look.signal(Signal::KILL);
            reaper::reap_orphans();
            let left = self.look();
            let is_empty = left.members.is_empty() && !self.has_orphans();
            empty_looks = if is_empty { empty_looks + 1 } else { 0 };
            let stuck = || left.members.iter().all(|entry| is_stuck(entry.pid));
            if empty_looks >= self.looks_needed() || patience.is_over(Instant::now(), stuck) {
                return (seen, left.survivors());
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Whether a process cannot be killed: it is of another user, frozen, or in an uninterruptible sleep.
pub(crate) fn is_stuck(number: i32) -> bool {
    let Some(target) = pid(number) else { return false };
    matches!(test_kill_process(target), Err(rustix::io::Errno::PERM)) || proc::is_uninterruptible(number)
}

/// Signals all processes of a group.
pub(crate) fn signal_group(group: i32, signal: Signal) {
    if let Some(group) = pid(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// Signals the process that was looked at, and no other that may have got its number since.
pub(crate) fn signal_process(entry: Entry, signal: Signal) {
    let Some(number) = pid(entry.pid) else { return };
    let Ok(pidfd) = pidfd_open(number, PidfdFlags::empty()) else { return };
    let is_same = match entry.start {
        // Seen without `/proc`: a child of this process, whose number is its own until it is reaped.
        0 => sys::child_state(entry.pid).is_some(),
        start => proc::entry(entry.pid).is_some_and(|now| now.start == start),
    };
    if is_same {
        let _ = pidfd_send_signal(&pidfd, signal);
    }
}
