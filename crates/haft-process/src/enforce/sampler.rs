//! Enforcing limits by looking at the processes of a run every few milliseconds.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::LimitKind;
use crate::proc::{self, Entry, Load};
use crate::scope::Scope;
use crate::sweep::signal_process;

/// The shortest time between two samples.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// A sample may take this share of the time: one part of so many.
const COST_SHARE: u32 = 5;
/// After so many samples in a row with too many processes the whole run is ended: they are started faster than they can
/// be killed one by one.
const PATIENCE: u32 = 20;
/// So does a run that has twice as many processes as it may have, and so many more.
const RUNAWAY: u64 = 16;

/// Samples the processes of a scope and kills what is too much.
#[derive(Debug)]
pub(crate) struct Sampler {
    memory: Option<u64>,
    processes: Option<u64>,
    due: Instant,
    /// How many samples in a row there were too many processes.
    over: u32,
}

/// What a sample asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The run may go on.
    Continue,
    /// The run has to be ended for this limit.
    End(LimitKind),
}

impl Sampler {
    /// A sampler for these limits; `None` if there are none.
    pub(crate) fn new(memory: Option<u64>, processes: Option<u64>) -> Option<Sampler> {
        let wanted = memory.is_some() || processes.is_some();
        wanted.then(|| Sampler { memory, processes, due: Instant::now() + MIN_INTERVAL, over: 0 })
    }

    /// When the next sample is due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Looks at all processes of the scope and kills what is too much.
    pub(crate) fn sample(&mut self, scope: &Scope) -> Verdict {
        let begun = Instant::now();
        let entries = scope.entries().into_iter().filter(|entry| !entry.zombie);
        let mut members: Vec<(Entry, Load)> =
            entries.filter_map(|entry| Some((entry, proc::load(entry.pid)?))).collect();
        let verdict = self.limit_processes(scope, &mut members);
        self.limit_memory(scope, &members);
        let pause = if self.over > 0 { MIN_INTERVAL } else { MIN_INTERVAL.max(begun.elapsed() * COST_SHARE) };
        self.due = Instant::now() + pause;
        verdict
    }

    /// Kills the newest processes while there are too many, and takes them off the list.
    fn limit_processes(&mut self, scope: &Scope, members: &mut Vec<(Entry, Load)>) -> Verdict {
        let Some(limit) = self.processes else { return Verdict::Continue };
        let mut total: u64 = members.iter().map(|(_, load)| load.threads).sum();
        if total <= limit {
            self.over = 0;
            return Verdict::Continue;
        }
        self.over += 1;
        let runaway = total > limit.saturating_mul(2).saturating_add(RUNAWAY);
        members.sort_unstable_by_key(|(entry, _)| (entry.start, entry.pid));
        while total > limit
            && let Some((entry, load)) = members.pop()
        {
            kill(scope, entry, LimitKind::Processes);
            total -= load.threads;
        }
        if runaway || self.over >= PATIENCE { Verdict::End(LimitKind::Processes) } else { Verdict::Continue }
    }

    /// Kills the process that uses most while all together use too much, as the kernel does.
    fn limit_memory(&self, scope: &Scope, members: &[(Entry, Load)]) {
        let Some(limit) = self.memory else { return };
        let resident: u64 = members.iter().map(|(_, load)| load.resident).sum();
        if resident <= limit {
            return;
        }
        // Pages that processes share are counted once for all of them, which costs more to find out.
        let mut shares: Vec<(Entry, u64)> = members
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

fn kill(scope: &Scope, entry: Entry, kind: LimitKind) {
    signal_process(entry, Signal::KILL);
    scope.tracker().note_killed(kind);
}
