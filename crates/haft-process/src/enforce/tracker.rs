//! What is known of the limits of a scope, besides what its control groups know.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{EnforcedBy, LimitKind, LimitState, Limiters, RunLimits};
use crate::host::ScopeLimits;
use crate::limit::cpu_seconds;
use crate::status::{Exit, Usage};

/// The status a shell shows for a program that `SIGXCPU` has killed.
const KILLED_BY_XCPU: i32 = 128 + libc::SIGXCPU;

/// Counts what haft itself refuses and kills for limits, and what is seen when processes end.
#[derive(Debug, Default)]
pub(crate) struct LimitTracker {
    refused: AtomicU64,
    killed_for_memory: AtomicU64,
    killed_for_processes: AtomicU64,
    killed_for_cpu: AtomicU64,
    /// A process that has ended had used more memory than all were allowed together.
    exceeded_memory: AtomicBool,
    ended_by: OnceLock<LimitKind>,
}

impl LimitTracker {
    /// A process was refused.
    pub(crate) fn note_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// A process was killed for a limit.
    pub(crate) fn note_killed(&self, kind: LimitKind) {
        let counter = match kind {
            LimitKind::Memory => &self.killed_for_memory,
            LimitKind::Processes => &self.killed_for_processes,
            LimitKind::Cpu => &self.killed_for_cpu,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The whole run is ended for a limit.
    pub(crate) fn note_ended(&self, kind: LimitKind) {
        let _ = self.ended_by.set(kind);
    }

    /// A process has ended.
    pub(crate) fn note_exit(&self, limits: &ScopeLimits, exit: Exit, usage: Usage) {
        if let Some(seconds) = limits.cpu.map(cpu_seconds) {
            let used = (usage.user + usage.system).as_secs() >= seconds;
            let killed = match exit {
                Exit::Signal(signal) => signal == libc::SIGXCPU || signal == libc::SIGKILL && used,
                Exit::Code(code) => code == KILLED_BY_XCPU,
            };
            if killed {
                self.note_killed(LimitKind::Cpu);
            }
        }
        if limits.memory.is_some_and(|memory| usage.max_rss > memory) {
            self.exceeded_memory.store(true, Ordering::Relaxed);
        }
    }

    /// The limits as they stand.
    pub(crate) fn report(&self, limits: &ScopeLimits, limiters: &Limiters) -> RunLimits {
        let sampled = if can_sample() { EnforcedBy::Sampling } else { EnforcedBy::None };
        let by = |cgroup: bool| if cgroup { EnforcedBy::Cgroup } else { sampled };
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let refused = count(&self.refused) + limiters.refused();
        let state = |asked, enforced_by, refused: u64, killed| LimitState {
            asked,
            enforced_by,
            hit: refused + killed > 0,
            killed,
        };
        let starved = count(&self.killed_for_memory) + limiters.killed();
        let exceeded = self.exceeded_memory.load(Ordering::Relaxed) && !limiters.has_memory();
        RunLimits {
            memory: limits
                .memory
                .map(|asked| state(asked, by(limiters.has_memory()), u64::from(exceeded), starved)),
            processes: limits.processes.map(|asked| {
                state(asked, by(limiters.has_processes()), refused, count(&self.killed_for_processes))
            }),
            cpu: limits
                .cpu
                .map(|asked| state(cpu_seconds(asked), EnforcedBy::Rlimit, 0, count(&self.killed_for_cpu))),
            ended_by: self.ended_by.get().copied(),
        }
    }
}

/// Whether the processes of a run can be looked at.
fn can_sample() -> bool {
    crate::proc::entry(rustix::process::getpid().as_raw_pid()).is_some()
}
