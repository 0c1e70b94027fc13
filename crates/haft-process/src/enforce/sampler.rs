//! Enforcing limits by sampling the processes of a run every few milliseconds.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::LimitKind;
use crate::proc::{self, ProcessEntry, ProcessLoad};
use crate::scope::Scope;
use crate::scope_kill::signal_process;

/// Minimum time between two samples.
const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(10);
/// The interval is at least this multiple of the duration of a sample, which bounds the cost of sampling.
const INTERVAL_PER_SAMPLE_TIME: u32 = 5;
/// The run is ended after this many consecutive samples with too many processes, because it starts them faster than they can be
/// killed.
const MAX_SAMPLES_OVER_LIMIT: u32 = 20;
/// The run is ended at once if it exceeds twice the limit by this many processes.
const RUNAWAY_MARGIN: u64 = 16;

/// Samples the processes of a scope and kills processes above the limits.
#[derive(Debug)]
pub(crate) struct Sampler {
    memory: Option<u64>,
    processes: Option<u64>,
    due: Instant,
    /// Number of consecutive samples with too many processes.
    over: u32,
}

/// The result of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleVerdict {
    /// The run continues.
    Continue,
    /// The run must end because of this limit.
    End(LimitKind),
}

impl Sampler {
    /// Makes a sampler, or returns `None` if there is no limit.
    pub(crate) fn new(memory: Option<u64>, processes: Option<u64>) -> Option<Sampler> {
        let wanted = memory.is_some() || processes.is_some();
        wanted.then(|| Sampler { memory, processes, due: Instant::now() + MIN_SAMPLE_INTERVAL, over: 0 })
    }

    /// Returns when the next sample is due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Samples all processes of the scope and kills processes above the limits.
    pub(crate) fn sample(&mut self, scope: &Scope) -> SampleVerdict {
        let begun = Instant::now();
        let entries = scope.entries().into_iter().filter(|entry| !entry.zombie);
        let mut members: Vec<(ProcessEntry, ProcessLoad)> =
            entries.filter_map(|entry| Some((entry, proc::load(entry.pid)?))).collect();
        let verdict = self.limit_processes(scope, &mut members);
        self.limit_memory(scope, &members);
        let cheap = MIN_SAMPLE_INTERVAL.max(begun.elapsed() * INTERVAL_PER_SAMPLE_TIME);
        self.due = Instant::now() + if self.over > 0 { MIN_SAMPLE_INTERVAL } else { cheap };
        verdict
    }

    /// Kills the newest processes until the limit is met, and removes them from the list.
    fn limit_processes(
        &mut self,
        scope: &Scope,
        members: &mut Vec<(ProcessEntry, ProcessLoad)>,
    ) -> SampleVerdict {
        let Some(limit) = self.processes else { return SampleVerdict::Continue };
        let mut total: u64 = members.iter().map(|(_, load)| load.threads).sum();
        if total <= limit {
            self.over = 0;
            return SampleVerdict::Continue;
        }
        self.over += 1;
        let runaway = total > limit.saturating_mul(2).saturating_add(RUNAWAY_MARGIN);
        members.sort_unstable_by_key(|(entry, _)| (entry.start, entry.pid));
        while total > limit
            && let Some((entry, load)) = members.pop()
        {
            kill(scope, entry, LimitKind::Processes);
            total -= load.threads;
        }
        if runaway || self.over >= MAX_SAMPLES_OVER_LIMIT {
            SampleVerdict::End(LimitKind::Processes)
        } else {
            SampleVerdict::Continue
        }
    }

    /// Kills the largest processes until the limit is met, as the kernel does.
    fn limit_memory(&self, scope: &Scope, members: &[(ProcessEntry, ProcessLoad)]) {
        let Some(limit) = self.memory else { return };
        let resident: u64 = members.iter().map(|(_, load)| load.resident).sum();
        if resident <= limit {
            return;
        }
        // Counts shared pages once. This is more expensive, so it is done only above the limit.
        let mut shares: Vec<(ProcessEntry, u64)> = members
            .iter()
            .map(|(entry, load)| (*entry, proc::proportional_memory(entry.pid).unwrap_or(load.unshared)))
            .collect();
        shares.sort_unstable_by_key(|(_, share)| *share);
        let mut total: u64 = shares.iter().map(|(_, share)| share).sum();
        while total > limit
            && let Some((entry, share)) = shares.pop()
        {
            kill(scope, entry, LimitKind::Memory);
            total -= share;
        }
    }
}

fn kill(scope: &Scope, entry: ProcessEntry, kind: LimitKind) {
    signal_process(entry, Signal::KILL);
    scope.tracker().note_killed(kind);
}
