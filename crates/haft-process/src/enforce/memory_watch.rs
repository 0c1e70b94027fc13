//! The memory limit of a run, which holds for the sum of its programs and its in-process work, such as a script.
//!
//! Each side stays within what the other leaves. The work learns what the programs use and checks its own growth. The
//! control group of the programs gets what the work leaves; without a control group, the largest programs are killed. If both
//! grew between two samples and together exceed the limit, the side that grew more loses.

use rustix::process::Signal;

use super::{LimitKind, SampleVerdict};
use crate::job::InProcessWork;
use crate::proc::{self, ProcessEntry};
use crate::scope::Scope;
use crate::scope_kill::signal_process;

/// The limit of the control group is changed in steps of at least this many bytes.
const MIN_CHANGE_BYTES: u64 = 256 << 10;

/// Work that exceeds the limit ends itself, with a message. The run is ended after this many samples if it does not.
const MAX_SAMPLES_OVER_LIMIT: u32 = 20;

/// The smallest limit of the control group.
const MIN_PROGRAM_BYTES: u64 = 64 << 10;

/// Watches the memory of a run.
#[derive(Debug)]
pub(crate) struct MemoryWatch {
    limit: u64,
    has_control_group: bool,
    /// The limit of the control group.
    left_for_programs: u64,
    /// The memory at the last sample within the limit.
    last: MemoryUse,
    /// Number of consecutive samples in which the work should have ended itself.
    over: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct MemoryUse {
    work: u64,
    programs: u64,
}

impl MemoryWatch {
    /// Watches programs that no control group limits.
    pub(crate) fn sampled(limit: u64) -> MemoryWatch {
        MemoryWatch {
            limit,
            has_control_group: false,
            left_for_programs: limit,
            last: MemoryUse::default(),
            over: 0,
        }
    }

    /// Watches in-process work, and programs in a control group with the same limit.
    pub(crate) fn of_control_group(limit: u64) -> MemoryWatch {
        MemoryWatch { has_control_group: true, ..MemoryWatch::sampled(limit) }
    }

    /// Whether the members of the scope must be listed for a sample.
    pub(crate) fn needs_members(&self) -> bool {
        !self.has_control_group
    }

    /// Measures all memory, and kills the largest programs or ends the run if it exceeds the limit.
    pub(crate) fn sample(
        &mut self,
        scope: &Scope,
        members: &[ProcessEntry],
        work: Option<&dyn InProcessWork>,
    ) -> SampleVerdict {
        let mut now = MemoryUse { work: work.map_or(0, InProcessWork::memory), programs: 0 };
        let room = self.limit.saturating_sub(now.work);
        now.programs = self.measure(scope, members, room);
        let work_is_over = now.programs > room && self.work_grew_more(now);
        if work_is_over {
            self.over += 1;
        } else {
            if now.programs > room {
                now.programs = kill_largest(scope, now.programs, room);
            } else if self.has_control_group {
                self.leave_for_programs(scope, room);
            }
            self.over = 0;
            self.last = now;
        }
        work.into_iter().for_each(|work| work.set_program_memory(now.programs));
        match self.over {
            ..=MAX_SAMPLES_OVER_LIMIT => SampleVerdict::Continue,
            _ => SampleVerdict::End(LimitKind::Memory),
        }
    }

    /// Returns the memory of all programs. Counts shared pages once if it is more than `room` otherwise.
    fn measure(&self, scope: &Scope, members: &[ProcessEntry], room: u64) -> u64 {
        if self.has_control_group {
            return scope.limiters().memory_in_use().unwrap_or(0);
        }
        let members = programs(members);
        let resident: u64 =
            members.iter().filter_map(|entry| proc::memory(entry.pid)).map(|m| m.resident).sum();
        if resident <= room { resident } else { shares(&members).iter().map(|(_, share)| share).sum() }
    }

    fn work_grew_more(&self, now: MemoryUse) -> bool {
        let work = now.work.saturating_sub(self.last.work);
        work > now.programs.saturating_sub(self.last.programs)
    }

    /// Sets the limit of the control group, if it changes noticeably.
    fn leave_for_programs(&mut self, scope: &Scope, room: u64) {
        let room = room.max(MIN_PROGRAM_BYTES);
        if room.abs_diff(self.left_for_programs) >= MIN_CHANGE_BYTES {
            scope.limiters().set_memory(room);
            self.left_for_programs = room;
        }
    }
}

/// Returns the running members without those that have not executed their program yet: their memory is that of this process.
fn programs(members: &[ProcessEntry]) -> Vec<ProcessEntry> {
    members.iter().filter(|entry| !entry.zombie && !proc::shares_memory(entry)).copied().collect()
}

/// Returns the processes with their share of memory, the largest last. This is more expensive than the resident memory.
fn shares(members: &[ProcessEntry]) -> Vec<(ProcessEntry, u64)> {
    let share = |entry: &ProcessEntry| {
        let unshared = || proc::memory(entry.pid).map(|memory| memory.unshared);
        proc::proportional_memory(entry.pid).or_else(unshared).unwrap_or(0)
    };
    let mut shares: Vec<(ProcessEntry, u64)> = members.iter().map(|entry| (*entry, share(entry))).collect();
    shares.sort_unstable_by_key(|(_, share)| *share);
    shares
}

/// Kills the largest programs until the others fit into `room`, as the kernel does. Returns the memory of the others.
fn kill_largest(scope: &Scope, total: u64, room: u64) -> u64 {
    let mut shares = shares(&programs(&scope.entries()));
    let mut total = total;
    while total > room
        && let Some((entry, share)) = shares.pop()
    {
        signal_process(entry, Signal::KILL);
        scope.tracker().note_killed(LimitKind::Memory);
        total = total.saturating_sub(share);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_that_grew_more_loses() {
        let watch = MemoryWatch { last: MemoryUse { work: 10, programs: 50 }, ..MemoryWatch::sampled(100) };
        assert!(watch.work_grew_more(MemoryUse { work: 60, programs: 60 }));
        assert!(!watch.work_grew_more(MemoryUse { work: 15, programs: 90 }));
        assert!(!watch.work_grew_more(MemoryUse { work: 5, programs: 96 }));
    }
}
