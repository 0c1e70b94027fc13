//! Enforcing limits by sampling a run every few milliseconds.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{DiskWatch, LimitKind, MemoryWatch, ProcessEstimate, ProcessWatch, RaisedPriority, UsageWatch};
use crate::host::ScopeLimits;
use crate::job::InProcessWork;
use crate::proc::ProcessEntry;
use crate::scope::Scope;

/// Minimum time between two samples.
const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(10);
/// The interval is at least this multiple of the duration of a sample, which bounds the cost of sampling.
const INTERVAL_PER_SAMPLE_TIME: u32 = 5;
/// How much rarer samples are if only processes are limited. A bomb would grow during a sample that finds nothing, and the number
/// of threads of the machine shows when a sample is needed.
const PROCESS_INTERVAL_FACTOR: u32 = 10;
/// Time between two checks whether a sample is needed early, because many processes were started.
const EARLY_CHECK_INTERVAL: Duration = Duration::from_millis(2);
/// An early sample follows at least this multiple of the duration of the last one.
const EARLY_INTERVAL_PER_SAMPLE_TIME: u32 = 2;

/// Samples the processes and the memory of a run, and enforces its limits.
#[derive(Debug)]
pub(crate) struct Sampler {
    memory: Option<MemoryWatch>,
    processes: Option<ProcessWatch>,
    disk: Option<DiskWatch>,
    usage: Option<UsageWatch>,
    /// Whether the run ends when a limit is reached.
    ends_run: bool,
    /// When the next sample is due at the latest.
    sample_at: Instant,
    /// When the next sample is due if the run may exceed its process limit.
    early_at: Instant,
    /// When the next sample is due if the run exceeds its process limit.
    alarm_at: Instant,
    /// When to check the next time.
    due: Instant,
    /// Keeps this thread running although the run keeps all processors busy.
    priority: Option<RaisedPriority>,
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
    pub(crate) fn new(
        memory: Option<MemoryWatch>,
        processes: Option<u64>,
        disk: Option<DiskWatch>,
        limits: &ScopeLimits,
    ) -> Option<Sampler> {
        let (usage, ends_run) = (UsageWatch::new(limits), limits.ends_run);
        let is_frequent = memory.is_some() || disk.is_some() || usage.is_some() || ends_run;
        let now = Instant::now();
        (is_frequent || processes.is_some()).then(|| Sampler {
            sample_at: now + MIN_SAMPLE_INTERVAL * interval_factor(is_frequent),
            memory,
            processes: processes.map(ProcessWatch::new),
            disk,
            usage,
            ends_run,
            early_at: now,
            alarm_at: now,
            due: now + EARLY_CHECK_INTERVAL,
            priority: None,
        })
    }

    /// Prepares for use by another thread than before. Called on the old thread.
    pub(crate) fn for_other_thread(mut self) -> Sampler {
        self.priority = None;
        self
    }

    /// Returns when the sampler is due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Takes a sample if it is needed, and enforces the limits: kills processes or demands the end of the run.
    pub(crate) fn sample(&mut self, scope: &Scope, work: Option<&dyn InProcessWork>) -> SampleVerdict {
        let begun = Instant::now();
        let estimate = self.processes.as_ref().map_or(ProcessEstimate::WithinLimit, ProcessWatch::estimate);
        self.priority.get_or_insert_with(RaisedPriority::new);
        let is_needed = match estimate {
            ProcessEstimate::WithinLimit => begun >= self.sample_at,
            ProcessEstimate::MayExceed => begun >= self.sample_at.min(self.early_at),
            ProcessEstimate::Exceeds => begun >= self.sample_at.min(self.alarm_at),
        };
        if !is_needed {
            self.due = self.sample_at.min(begun + EARLY_CHECK_INTERVAL);
            return SampleVerdict::Continue;
        }
        self.set_urgent(self.processes.is_some());
        // A fork bomb must not grow while its processes are listed.
        let pauses = estimate == ProcessEstimate::Exceeds;
        if pauses {
            scope.signal_root_groups(Signal::STOP);
        }
        if let Some(kind) = self.limit_reached(scope) {
            return SampleVerdict::End(kind);
        }
        let mut members = self.members(scope);
        let mut verdict = SampleVerdict::Continue;
        if let Some(processes) = &mut self.processes {
            scope.forget_empty_groups(&members);
            verdict = processes.sample(scope, &mut members, self.ends_run);
        }
        if pauses && verdict == SampleVerdict::Continue {
            scope.signal_root_groups(Signal::CONT);
        }
        if let (SampleVerdict::Continue, Some(memory)) = (verdict, &mut self.memory) {
            verdict = memory.sample(scope, &members, work);
        }
        if let (SampleVerdict::Continue, Some(usage)) = (verdict, &self.usage) {
            verdict = usage.exceeded(scope, &members).map_or(verdict, SampleVerdict::End);
        }
        self.schedule(begun, pauses);
        self.set_urgent(verdict != SampleVerdict::Continue && self.processes.is_some());
        verdict
    }

    /// Lets this thread run before all others during a sample, and until the run has ended if the sample ends it.
    fn set_urgent(&mut self, is_urgent: bool) {
        self.priority.iter_mut().for_each(|priority| priority.set_urgent(is_urgent));
    }

    /// Returns a limit that was reached before this sample and ends the run.
    fn limit_reached(&self, scope: &Scope) -> Option<LimitKind> {
        if self.disk.as_ref().is_some_and(DiskWatch::is_over) {
            return Some(LimitKind::Disk);
        }
        scope.tracker().reached(scope.limiters()).filter(|_| self.ends_run)
    }

    /// Lists the running members of the scope, if a limit needs them.
    fn members(&self, scope: &Scope) -> Vec<ProcessEntry> {
        let needs_members =
            self.usage.is_some() || self.memory.as_ref().is_some_and(MemoryWatch::needs_members);
        if self.processes.is_none() && !needs_members {
            return Vec::new();
        }
        scope.entries().into_iter().filter(|entry| !entry.zombie).collect()
    }

    /// Whether something is limited that can grow fast and is not counted by the system.
    fn is_frequent(&self) -> bool {
        self.memory.is_some() || self.disk.is_some() || self.usage.is_some() || self.ends_run
    }

    /// Sets when the next sample is due. Processes of other runs can cause a false alarm, which must not repeat at once.
    fn schedule(&mut self, begun: Instant, paused: bool) {
        let (now, took) = (Instant::now(), begun.elapsed());
        let is_over = self.processes.as_ref().is_some_and(ProcessWatch::is_over);
        let interval = MIN_SAMPLE_INTERVAL.max(took * INTERVAL_PER_SAMPLE_TIME);
        let interval = interval * interval_factor(self.is_frequent());
        self.sample_at = now + if is_over { MIN_SAMPLE_INTERVAL } else { interval };
        self.early_at = now + took * EARLY_INTERVAL_PER_SAMPLE_TIME;
        self.alarm_at = if paused && !is_over { self.early_at } else { now };
        self.due = match &self.processes {
            Some(_) => self.sample_at.min(now + EARLY_CHECK_INTERVAL),
            None => self.sample_at,
        };
    }
}

fn interval_factor(is_frequent: bool) -> u32 {
    if is_frequent { 1 } else { PROCESS_INTERVAL_FACTOR }
}
