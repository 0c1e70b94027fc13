//! Ending the members of a scope: `SIGTERM`, then `SIGKILL` until none is left.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal, test_kill_process,
    test_kill_process_group,
};

use crate::attribution;
use crate::cgroup;
use crate::child::pid;
use crate::ladder::{KillDeadline, Ladder, LadderTarget, ProcessIdentity};
use crate::proc::{self, ProcessEntry};
use crate::reaper;
use crate::scope::Scope;
use crate::scope_scan::ScopeScan;
use crate::survivors::{Survivors, UnknownSurvivors};
use crate::sys;

impl Scope {
    /// Ends all members with `SIGTERM`, and with `SIGKILL` after the grace period. Returns how many ended, and the survivors.
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

    /// Sends `SIGSTOP` to the members until a scan finds no new ones, so that none can fork while the others are killed. Not
    /// needed with a control group, which kills all members at once.
    fn stop_all(&self, seen: &mut HashSet<ProcessIdentity>, deadline: Instant) -> ScopeScan {
        const MAX_SCANS: usize = 64;
        // A fork bomb must not grow during the first scan. Processes that were released go on.
        if seen.is_empty() && self.cgroup().is_none() && attribution::released().is_empty() {
            self.signal_root_groups(Signal::STOP);
        }
        for _ in 0..MAX_SCANS {
            let scan = self.scan();
            let new = scan.members.iter().filter(|entry| seen.insert((entry.pid, entry.start))).count();
            if new == 0 || self.cgroup().is_some() || Instant::now() >= deadline {
                return scan;
            }
            scan.signal(Signal::STOP);
            // Zombies would make each scan slower.
            reaper::reap_orphans();
        }
        self.scan()
    }

    /// Number of empty scans that prove that no member is left. A scan may miss a process that forks and exits faster than
    /// the scan; a control group misses none.
    fn empty_scans_needed(&self) -> usize {
        if self.cgroup().is_some() || self.is_unused() { 1 } else { 3 }
    }
}

impl LadderTarget for Scope {
    fn terminate(&self) -> HashSet<ProcessIdentity> {
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

    fn kill_all(&self, deadline: KillDeadline) -> (HashSet<ProcessIdentity>, Survivors) {
        const MAX_INTERVAL: Duration = Duration::from_millis(10);
        let mut seen = HashSet::new();
        let mut interval = Duration::from_micros(200);
        let mut empty_scans = 0;
        let mut proof = EmptinessProof::new(self);
        loop {
            let scan = self.stop_all(&mut seen, deadline.last);
            for path in self.cgroup_paths() {
                let _ = cgroup::kill(path);
            }
            scan.signal(Signal::KILL);
            reaper::reap_orphans();
            let left = self.scan();
            let is_empty = left.members.is_empty() && !self.has_orphans();
            empty_scans = if is_empty { empty_scans + 1 } else { 0 };
            let stuck = || !proc::is_available() || left.members.iter().all(|entry| is_stuck(entry.pid));
            if empty_scans >= self.empty_scans_needed() {
                if proof.holds() {
                    return (seen, left.survivors());
                }
                empty_scans = 0;
            }
            if deadline.is_over(Instant::now(), stuck) {
                return (seen, proof.doubt(&left));
            }
            if empty_scans == 0 {
                proof.restart();
            }
            thread::sleep(interval);
            interval = (interval * 2).min(MAX_INTERVAL);
        }
    }
}

/// Whether empty scans prove that a scope is empty.
///
/// Without `/proc` and a control group, scans test one pid after the other. A process that forks and exits again and again
/// can evade all of them, so they prove something only if nothing was forked meanwhile.
struct EmptinessProof {
    /// Whether every scan is complete anyway.
    is_given: bool,
    /// The number of processes that had been started before the first empty scan.
    started: Option<i64>,
}

impl EmptinessProof {
    fn new(scope: &Scope) -> EmptinessProof {
        let is_given = scope.cgroup().is_some() || scope.is_unused() || proc::is_available();
        let mut proof = EmptinessProof { is_given, started: None };
        proof.restart();
        proof
    }

    /// Begins again, before the next scan.
    fn restart(&mut self) {
        if !self.is_given {
            self.started = sys::started_count();
        }
    }

    /// Whether nothing was started since the beginning.
    fn holds(&self) -> bool {
        self.is_given || self.started.is_some() && self.started == sys::started_count()
    }

    /// The survivors of a scan after which more may be left.
    fn doubt(&self, left: &ScopeScan) -> Survivors {
        match left.survivors() {
            Survivors::Known(found) if !self.is_given => {
                Survivors::Unknown { reason: UnknownSurvivors::NoProcessTable, found }
            }
            known => known,
        }
    }
}

/// Whether a process cannot be killed: it belongs to another user, is frozen, or is in uninterruptible sleep.
pub(crate) fn is_stuck(number: i32) -> bool {
    let Some(target) = pid(number) else { return false };
    matches!(test_kill_process(target), Err(rustix::io::Errno::PERM)) || proc::is_uninterruptible(number)
}

/// Whether a process group has processes.
pub(crate) fn has_group(group: i32) -> bool {
    let found = |group| !matches!(test_kill_process_group(group), Err(rustix::io::Errno::SRCH));
    pid(group).is_some_and(found)
}

/// Signals all processes of a group.
pub(crate) fn signal_group(group: i32, signal: Signal) {
    if let Some(group) = pid(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// Signals a process, unless its pid has been reused since the scan.
pub(crate) fn signal_process(entry: ProcessEntry, signal: Signal) {
    let Some(number) = pid(entry.pid) else { return };
    let Ok(pidfd) = pidfd_open(number, PidfdFlags::empty()) else { return };
    let is_same = match entry.start {
        // Found without `/proc`: a child of this process, whose pid is not reused until it is reaped.
        0 => sys::child_state(entry.pid).is_some(),
        start => proc::entry(entry.pid).is_some_and(|now| now.start == start),
    };
    if is_same {
        let _ = pidfd_send_signal(&pidfd, signal);
    }
}
