//! Which run of this process an orphan belongs to.
//!
//! A subreaper inherits the orphans of all its runs. Descent from a living process, a control group and the marker name
//! the run of most of them. An orphan that has none of these belongs to one of the runs that were alive when it
//! started: if that is one run only, the orphan is its own; otherwise nobody can tell.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ladder::Identity;
use crate::proc::{self, Entry};
use crate::survivors::UnknownSurvivors;

static RUNS: Mutex<Vec<LivingRun>> = Mutex::new(Vec::new());
/// Processes that were let go: no run owns them or their descendants.
static DEPARTED: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

#[derive(Clone, Debug)]
struct LivingRun {
    key: u64,
    id: String,
    begun: u64,
}

/// The place of a run among those whose processes may be alive; it is given up when this value is dropped.
#[derive(Debug)]
pub(crate) struct RunPlace(LivingRun);

/// Whose an orphan is, for the run that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The run's own.
    This,
    /// Not the run's.
    Other,
    /// Perhaps the run's.
    Ambiguous(UnknownSurvivors),
}

impl RunPlace {
    /// A run that begins now.
    pub(crate) fn new(id: &str) -> RunPlace {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let key = NEXT.fetch_add(1, Ordering::Relaxed);
        let run = LivingRun { key, id: id.to_owned(), begun: proc::now() };
        runs().push(run.clone());
        RunPlace(run)
    }

    /// Whether no other run is alive.
    pub(crate) fn is_only(&self) -> bool {
        runs().iter().all(|run| run.key == self.0.key)
    }

    /// The run is over: what is left of it is not its own any more.
    pub(crate) fn retire(&self) {
        runs().retain(|run| run.key != self.0.key);
    }

    /// The run goes on, if it was over.
    pub(crate) fn resume(&self) {
        let mut runs = runs();
        if !runs.iter().any(|run| run.key == self.0.key) {
            runs.push(self.0.clone());
        }
    }

    /// Whose an orphan is that carries this marker, if it does.
    pub(crate) fn owner(&self, orphan: &Entry, marker: Option<&[u8]>, earlier_children: bool) -> Owner {
        let others: Vec<LivingRun> = runs().iter().filter(|run| run.key != self.0.key).cloned().collect();
        let groups = if others.is_empty() { String::new() } else { proc::cgroups(orphan.pid) };
        let named = |run: &LivingRun| {
            marker.is_some_and(|marker| names(marker, &run.id)) || is_in_group_of(&groups, &run.id)
        };
        if others.iter().any(named) {
            return Owner::Other;
        }
        let could_own = |begun: u64| orphan.start == 0 || begun <= orphan.start;
        if others.iter().any(|run| could_own(run.begun)) {
            let own = could_own(self.0.begun);
            return if own { Owner::Ambiguous(UnknownSurvivors::SharedOrphans) } else { Owner::Other };
        }
        if earlier_children {
            return Owner::Ambiguous(UnknownSurvivors::EarlierChildren);
        }
        Owner::This
    }
}

impl Drop for RunPlace {
    fn drop(&mut self) {
        self.retire();
    }
}

fn runs() -> MutexGuard<'static, Vec<LivingRun>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes note of processes that were let go.
pub(crate) fn note_departed(departed: &[Entry]) {
    let mut known = DEPARTED.lock().unwrap_or_else(PoisonError::into_inner);
    known.extend(departed.iter().map(|entry| (entry.pid, entry.start)));
}

/// The processes that were let go.
pub(crate) fn departed() -> Vec<Identity> {
    DEPARTED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether a marker names a scope, or one inside it.
pub(crate) fn names(marker: &[u8], id: &str) -> bool {
    let is_named = |part: &[u8]| {
        part.strip_prefix(id.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
    };
    marker.split(|&byte| byte == b':').any(is_named)
}

/// Whether the control groups of a process, as `/proc/PID/cgroup` lists them, include that of a scope.
fn is_in_group_of(groups: &str, id: &str) -> bool {
    let name = format!("haft-{id}");
    groups.lines().any(|line| line.split('/').any(|part| part == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orphan(start: u64) -> Entry {
        // A number that no process has, so that nothing is read of it.
        Entry { pid: i32::MAX, parent: 1, group: 1, session: 1, start, zombie: false }
    }

    #[test]
    fn an_orphan_belongs_to_the_only_run_that_could_have_started_it() {
        let one = RunPlace::new("attribution-1");
        let late = proc::now() + 1_000;
        assert_eq!(one.owner(&orphan(late), None, false), Owner::This);
        let two = RunPlace::new("attribution-2");
        let shared = Owner::Ambiguous(UnknownSurvivors::SharedOrphans);
        assert_eq!(
            (one.owner(&orphan(late), None, false), two.owner(&orphan(late), None, false)),
            (shared, shared)
        );
        let marker = Some(b"outer:attribution-2.7".as_slice());
        assert_eq!(one.owner(&orphan(late), marker, false), Owner::Other);
        two.retire();
        assert_eq!(one.owner(&orphan(late), None, false), Owner::This);
        let earlier = Owner::Ambiguous(UnknownSurvivors::EarlierChildren);
        assert_eq!(one.owner(&orphan(late), None, true), earlier);
    }

    #[test]
    fn a_marker_names_a_scope_and_those_inside_it() {
        assert!(names(b"run-1.2", "run-1.2") && names(b"x:run-1.2.1", "run-1.2"));
        assert!(!names(b"run-1.22", "run-1.2"));
    }
}
