//! Determines which run of this process an orphan belongs to.
//!
//! A subreaper inherits the orphans of all its runs. Most of them can be assigned to a run by descent from a running
//! process, by their control group, or by their marker. Any other orphan belongs to one of the runs that were active when it
//! started. If there was only one such run, the orphan belongs to it; otherwise its owner is unknown.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ladder::ProcessIdentity;
use crate::proc::{self, ProcessEntry};
use crate::survivors::UnknownSurvivors;

static ACTIVE_RUNS: Mutex<Vec<ActiveRun>> = Mutex::new(Vec::new());
/// Released processes. They and their descendants belong to no run.
static RELEASED: Mutex<Vec<ProcessIdentity>> = Mutex::new(Vec::new());

#[derive(Clone, Debug)]
struct ActiveRun {
    key: u64,
    id: String,
    begun: u64,
}

/// The registration of a run among the active runs. Dropping it ends the registration.
#[derive(Debug)]
pub(crate) struct RunRegistration(ActiveRun);

/// Whether an orphan belongs to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrphanOwner {
    /// It belongs to this run.
    This,
    /// It belongs to another run.
    Other,
    /// It may belong to this run.
    Ambiguous(UnknownSurvivors),
}

impl RunRegistration {
    /// Registers a run that begins now.
    pub(crate) fn new(id: &str) -> RunRegistration {
        static NEXT_KEY: AtomicU64 = AtomicU64::new(0);
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        let run = ActiveRun { key, id: id.to_owned(), begun: proc::now() };
        runs().push(run.clone());
        RunRegistration(run)
    }

    /// Whether no other run is active.
    pub(crate) fn is_only(&self) -> bool {
        runs().iter().all(|run| run.key == self.0.key)
    }

    /// Ends the registration: later orphans do not belong to the run.
    pub(crate) fn retire(&self) {
        runs().retain(|run| run.key != self.0.key);
    }

    /// Renews the registration, if it was ended.
    pub(crate) fn resume(&self) {
        let mut runs = runs();
        if !runs.iter().any(|run| run.key == self.0.key) {
            runs.push(self.0.clone());
        }
    }

    /// Determines whether an orphan belongs to this run. `marker` is the orphan's marker. `earlier_children` says that the orphan
    /// may descend from a child that this process had before it became a subreaper.
    pub(crate) fn owner(
        &self,
        orphan: &ProcessEntry,
        marker: Option<&[u8]>,
        earlier_children: bool,
    ) -> OrphanOwner {
        let others: Vec<ActiveRun> = runs().iter().filter(|run| run.key != self.0.key).cloned().collect();
        let groups = if others.is_empty() { String::new() } else { proc::cgroups(orphan.pid) };
        let named = |run: &ActiveRun| {
            marker.is_some_and(|marker| names(marker, &run.id)) || is_in_cgroup_of(&groups, &run.id)
        };
        if others.iter().any(named) {
            return OrphanOwner::Other;
        }
        let could_own = |begun: u64| orphan.start == 0 || begun <= orphan.start;
        if others.iter().any(|run| could_own(run.begun)) {
            let own = could_own(self.0.begun);
            return if own {
                OrphanOwner::Ambiguous(UnknownSurvivors::SharedOrphans)
            } else {
                OrphanOwner::Other
            };
        }
        if earlier_children {
            return OrphanOwner::Ambiguous(UnknownSurvivors::EarlierChildren);
        }
        OrphanOwner::This
    }
}

impl Drop for RunRegistration {
    fn drop(&mut self) {
        self.retire();
    }
}

fn runs() -> MutexGuard<'static, Vec<ActiveRun>> {
    ACTIVE_RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds released processes.
pub(crate) fn add_released(released: &[ProcessEntry]) {
    let mut known = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
    known.extend(released.iter().map(|entry| (entry.pid, entry.start)));
}

/// Returns the released processes.
pub(crate) fn released() -> Vec<ProcessIdentity> {
    RELEASED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether a marker names a scope or a scope within it.
pub(crate) fn names(marker: &[u8], id: &str) -> bool {
    let is_named = |part: &[u8]| {
        part.strip_prefix(id.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
    };
    marker.split(|&byte| byte == b':').any(is_named)
}

/// Whether the control groups in `/proc/PID/cgroup` include that of a scope.
fn is_in_cgroup_of(groups: &str, id: &str) -> bool {
    let name = format!("haft-{id}");
    groups.lines().any(|line| line.split('/').any(|part| part == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orphan(start: u64) -> ProcessEntry {
        // No process has this pid, so `/proc` has no information about it.
        ProcessEntry { pid: i32::MAX, parent: 1, group: 1, session: 1, start, threads: 1, zombie: false }
    }

    #[test]
    fn orphans_belong_to_the_only_run_that_could_have_started_them() {
        let one = RunRegistration::new("attribution-1");
        let late = proc::now() + 1_000;
        assert_eq!(one.owner(&orphan(late), None, false), OrphanOwner::This);
        let two = RunRegistration::new("attribution-2");
        let shared = OrphanOwner::Ambiguous(UnknownSurvivors::SharedOrphans);
        assert_eq!(
            (one.owner(&orphan(late), None, false), two.owner(&orphan(late), None, false)),
            (shared, shared)
        );
        let marker = Some(b"outer:attribution-2.7".as_slice());
        assert_eq!(one.owner(&orphan(late), marker, false), OrphanOwner::Other);
        two.retire();
        assert_eq!(one.owner(&orphan(late), None, false), OrphanOwner::This);
        let earlier = OrphanOwner::Ambiguous(UnknownSurvivors::EarlierChildren);
        assert_eq!(one.owner(&orphan(late), None, true), earlier);
    }

    #[test]
    fn markers_name_a_scope_and_the_scopes_within_it() {
        assert!(names(b"run-1.2", "run-1.2") && names(b"x:run-1.2.1", "run-1.2"));
        assert!(!names(b"run-1.22", "run-1.2"));
    }
}
