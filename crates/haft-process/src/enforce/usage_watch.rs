//! Watching what a run uses up over its whole life: CPU time and bytes written to files.
//!
//! The kernel adds the usage of a process to its parent when the parent waits for it. So the sum over the living members, the
//! members that this process waited for, and this process itself is complete, except for children of programs that ignore
//! `SIGCHLD`. What this process used itself is not attributed to a run: it counts for each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::LimitKind;
use crate::host::ScopeLimits;
use crate::proc::{self, ProcessEntry};
use crate::scope::Scope;
use crate::status::Usage;
use crate::sys;

/// CPU time and bytes written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsedUp {
    pub(crate) cpu: Duration,
    pub(crate) written: u64,
}

/// Watches the use of CPU time and disk of a run.
#[derive(Debug)]
pub(crate) struct UsageWatch {
    cpu: Option<Duration>,
    written: Option<u64>,
    /// Usage of this process and its earlier children when the run began.
    before: UsedUp,
}

impl UsageWatch {
    /// Watches the limits of a run that begins now; `None` if it has none of these.
    pub(crate) fn new(limits: &ScopeLimits) -> Option<UsageWatch> {
        let (cpu, written) = (limits.total_cpu, limits.written);
        (cpu.is_some() || written.is_some()).then(|| UsageWatch { cpu, written, before: own() })
    }

    /// Returns the limit that the run exceeds.
    pub(crate) fn exceeded(&self, scope: &Scope, members: &[ProcessEntry]) -> Option<LimitKind> {
        let (ended_cpu, ended_written) = scope.tracker().ended_usage();
        let own = own();
        let mut used = UsedUp {
            cpu: ended_cpu + own.cpu.saturating_sub(self.before.cpu),
            written: ended_written + own.written.saturating_sub(self.before.written),
        };
        for member in members {
            used.cpu += if self.cpu.is_some() { proc::cpu_time(member.pid) } else { Duration::ZERO };
            used.written += if self.written.is_some() { proc::written(member.pid) } else { 0 };
        }
        if self.cpu.is_some_and(|limit| used.cpu > limit) {
            return Some(LimitKind::Cpu);
        }
        self.written.is_some_and(|limit| used.written > limit).then_some(LimitKind::Disk)
    }
}

/// Returns what this process used itself, without members of runs that it has waited for.
fn own() -> UsedUp {
    let cpu = Duration::from_micros(ATTRIBUTED_CPU.load(Ordering::Relaxed));
    let written = ATTRIBUTED_WRITTEN.load(Ordering::Relaxed);
    UsedUp {
        cpu: sys::whole_cpu_time().saturating_sub(cpu),
        written: proc::written(rustix::process::getpid().as_raw_pid()).saturating_sub(written),
    }
}

/// CPU time of all members of runs that this process has waited for, in microseconds.
static ATTRIBUTED_CPU: AtomicU64 = AtomicU64::new(0);
/// Bytes that these members wrote.
static ATTRIBUTED_WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Records the usage of a member that this process has waited for. The kernel has added it to that of this process.
pub(crate) fn attribute_usage(usage: Usage) {
    let cpu = u64::try_from((usage.user + usage.system).as_micros()).unwrap_or(u64::MAX);
    ATTRIBUTED_CPU.fetch_add(cpu, Ordering::Relaxed);
    ATTRIBUTED_WRITTEN.fetch_add(usage.written, Ordering::Relaxed);
}
