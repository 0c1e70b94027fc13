//! The process limit of a run, where no control group enforces it.

use rustix::process::Signal;

use super::{LimitKind, SampleVerdict};
use crate::proc::{self, ProcessEntry};
use crate::scope::Scope;
use crate::scope_kill::signal_process;

/// The run is ended after this many consecutive samples with too many processes, because it starts them faster than they can be
/// killed.
const MAX_SAMPLES_OVER_LIMIT: u32 = 20;
/// The run is ended at once if it exceeds twice the limit by this many processes.
const RUNAWAY_MARGIN: u64 = 16;

/// Watches the number of processes of a run.
#[derive(Debug)]
pub(crate) struct ProcessWatch {
    limit: u64,
    /// Number of consecutive samples with too many processes.
    over: u32,
    /// Threads of the run at the last sample.
    members: u64,
    /// Threads of the whole system at the last sample.
    system: u16,
}

/// An estimate of the number of processes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessEstimate {
    /// It is within the limit.
    WithinLimit,
    /// It may be over the limit.
    MayExceed,
    /// It is most likely over the limit.
    Exceeds,
}

impl ProcessWatch {
    pub(crate) fn new(limit: u64) -> ProcessWatch {
        ProcessWatch { limit, over: 0, members: 0, system: proc::system_threads() }
    }

    /// Returns an estimate, judged by the number of threads of the whole system, which takes one system call, and if there are
    /// many more, by the descendants of this process.
    pub(crate) fn estimate(&self) -> ProcessEstimate {
        let growth = proc::system_threads().wrapping_sub(self.system).cast_signed();
        let most = self.members.saturating_add_signed(i64::from(growth.max(0)));
        if most <= self.limit {
            return ProcessEstimate::WithinLimit;
        }
        match proc::count_descendants(self.limit) {
            Some(count) if count > self.limit => ProcessEstimate::Exceeds,
            None if most > self.runaway_limit() => ProcessEstimate::Exceeds,
            _ => ProcessEstimate::MayExceed,
        }
    }

    fn runaway_limit(&self) -> u64 {
        self.limit.saturating_mul(2).saturating_add(RUNAWAY_MARGIN)
    }

    /// Whether the last sample found too many processes.
    pub(crate) fn is_over(&self) -> bool {
        self.over > 0
    }

    /// Kills the newest processes until the limit is met, and removes them from the list. Ends the run instead if the limit ends
    /// it, or if there are far too many: a fork bomb grows while its processes are killed one by one.
    pub(crate) fn sample(
        &mut self,
        scope: &Scope,
        members: &mut Vec<ProcessEntry>,
        ends_run: bool,
    ) -> SampleVerdict {
        self.system = proc::system_threads();
        self.members = members.iter().map(|entry| entry.threads).sum();
        if self.members <= self.limit {
            self.over = 0;
            return SampleVerdict::Continue;
        }
        self.over += 1;
        if ends_run || self.members > self.runaway_limit() || self.over >= MAX_SAMPLES_OVER_LIMIT {
            return SampleVerdict::End(LimitKind::Processes);
        }
        self.kill_newest(scope, members);
        SampleVerdict::Continue
    }

    fn kill_newest(&mut self, scope: &Scope, members: &mut Vec<ProcessEntry>) {
        members.sort_unstable_by_key(|entry| (entry.start, entry.pid));
        while self.members > self.limit
            && let Some(entry) = members.pop()
        {
            signal_process(entry, Signal::KILL);
            scope.tracker().note_killed(LimitKind::Processes);
            self.members -= entry.threads;
        }
    }
}
