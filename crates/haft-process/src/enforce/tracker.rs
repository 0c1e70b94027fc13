//! Counters of limits that haft enforces itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::{EnforcedBy, LimitKind, LimitState, Limiters, RunLimits};
use crate::host::ScopeLimits;
use crate::limit::cpu_seconds;
use crate::status::{Exit, SIGNAL_STATUS_BASE, Usage};

/// The status that a shell returns for a program killed by `SIGXCPU`.
const SIGXCPU_STATUS: i32 = SIGNAL_STATUS_BASE + libc::SIGXCPU;

/// Counts processes that haft refused or killed because of limits, and exits that were caused by limits.
#[derive(Debug, Default)]
pub(crate) struct LimitTracker {
    refused: AtomicU64,
    killed_for_memory: AtomicU64,
    killed_for_processes: AtomicU64,
    killed_for_cpu: AtomicU64,
    killed_for_disk: AtomicU64,
    /// CPU time of members that this process has waited for, in microseconds.
    ended_cpu: AtomicU64,
    /// Bytes that members wrote which this process has waited for.
    ended_written: AtomicU64,
    /// Whether a process alone had used more memory than the limit when it ended.
    exceeded_memory: AtomicBool,
    ended_by: OnceLock<LimitKind>,
}

impl LimitTracker {
    /// Records that a process was refused.
    pub(crate) fn note_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a process was killed because of a limit.
    pub(crate) fn note_killed(&self, kind: LimitKind) {
        let counter = match kind {
            LimitKind::Memory => &self.killed_for_memory,
            LimitKind::Processes => &self.killed_for_processes,
            LimitKind::Cpu => &self.killed_for_cpu,
            LimitKind::Disk => &self.killed_for_disk,
            // The whole run ends.
            LimitKind::Output => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that the whole run is ended because of a limit.
    pub(crate) fn note_ended(&self, kind: LimitKind) {
        let _ = self.ended_by.set(kind);
    }

    /// Records the exit of a process, which may be due to a limit.
    pub(crate) fn note_exit(&self, limits: &ScopeLimits, exit: Exit, usage: Usage) {
        let cpu = u64::try_from((usage.user + usage.system).as_micros()).unwrap_or(u64::MAX);
        self.ended_cpu.fetch_add(cpu, Ordering::Relaxed);
        self.ended_written.fetch_add(usage.written, Ordering::Relaxed);
        if limits.written.is_some() && exit == Exit::Signal(libc::SIGXFSZ) {
            self.note_killed(LimitKind::Disk);
        }
        if let Some(seconds) = limits.cpu.map(cpu_seconds) {
            let used = (usage.user + usage.system).as_secs() >= seconds;
            let killed = match exit {
                Exit::Signal(signal) => signal == libc::SIGXCPU || signal == libc::SIGKILL && used,
                Exit::Code(code) => code == SIGXCPU_STATUS,
            };
            if killed {
                self.note_killed(LimitKind::Cpu);
            }
        }
        if limits.memory.is_some_and(|memory| usage.max_rss > memory) {
            self.exceeded_memory.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the CPU time and the written bytes of members that have ended.
    pub(crate) fn ended_usage(&self) -> (Duration, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (Duration::from_micros(count(&self.ended_cpu)), count(&self.ended_written))
    }

    /// Returns a limit because of which a process was refused or killed.
    pub(crate) fn reached(&self, limiters: &Limiters) -> Option<LimitKind> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let reached = [
            (LimitKind::Memory, count(&self.killed_for_memory) + limiters.killed()),
            (
                LimitKind::Processes,
                count(&self.refused) + count(&self.killed_for_processes) + limiters.refused(),
            ),
            (LimitKind::Cpu, count(&self.killed_for_cpu)),
            (LimitKind::Disk, count(&self.killed_for_disk)),
        ];
        reached.into_iter().find(|(_, times)| *times > 0).map(|(kind, _)| kind)
    }

    /// Returns the current state of the limits.
    pub(crate) fn report(&self, limits: &ScopeLimits, limiters: &Limiters) -> RunLimits {
        let sampled = if can_sample() { EnforcedBy::Sampling } else { EnforcedBy::None };
        let by = |cgroup: bool| if cgroup { EnforcedBy::Cgroup } else { sampled };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let refused = count(&self.refused) + limiters.refused();
        // A run may end by itself before the next sample.
        let reached = || self.reached(limiters).filter(|_| limits.ends_run);
        let ended_by = self.ended_by.get().copied().or_else(reached);
        let state = |kind, asked, enforced_by, refused: u64, killed| LimitState {
            asked,
            enforced_by,
            hit: refused + killed > 0 || ended_by == Some(kind),
            killed,
        };
        let killed_for_memory = count(&self.killed_for_memory) + limiters.killed();
        let exceeded = self.exceeded_memory.load(Ordering::Relaxed) && !limiters.has_memory();
        RunLimits {
            memory: limits.memory.map(|asked| {
                let by = by(limiters.has_memory());
                state(LimitKind::Memory, asked, by, u64::from(exceeded), killed_for_memory)
            }),
            processes: limits.processes.map(|asked| {
                let killed = count(&self.killed_for_processes);
                state(LimitKind::Processes, asked, by(limiters.has_processes()), refused, killed)
            }),
            cpu: limits.cpu.map(|asked| {
                let killed = count(&self.killed_for_cpu);
                state(LimitKind::Cpu, cpu_seconds(asked), EnforcedBy::Rlimit, 0, killed)
            }),
            disk: limits.disk.or(limits.written).map(|asked| {
                let killed = count(&self.killed_for_disk);
                state(LimitKind::Disk, asked, EnforcedBy::Sampling, 0, killed)
            }),
            output: limits.output.map(|asked| state(LimitKind::Output, asked, EnforcedBy::Sampling, 0, 0)),
            ended_by,
        }
    }
}

/// Whether processes can be sampled: `/proc` is available.
fn can_sample() -> bool {
    crate::proc::entry(rustix::process::getpid().as_raw_pid()).is_some()
}
