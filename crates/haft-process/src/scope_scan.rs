//! Finding the members of a scope.

use std::collections::HashSet;

use rustix::process::Signal;

use crate::attribution::{self, OrphanOwner, RunRegistration};
use crate::capability::with_tracing;
use crate::cgroup;
use crate::proc::{self, ProcessEntry};
use crate::reaper;
use crate::scope::{MARKER, Scope, ScopeKind};
use crate::scope_kill::{signal_group, signal_process};
use crate::survivors::{Survivors, UnknownSurvivors};
use crate::tree::{self, Seeds};

/// The result of a scan for the members of a scope.
#[derive(Default)]
pub(crate) struct ScopeScan {
    pub(crate) members: Vec<ProcessEntry>,
    /// Process groups that contain only members.
    groups: Vec<i32>,
    /// Why there may be more members, if that is unknown.
    pub(crate) unknown: Option<UnknownSurvivors>,
}

impl ScopeScan {
    /// Returns the members as survivors.
    pub(crate) fn survivors(&self) -> Survivors {
        Survivors::new(self.members.iter().map(|entry| entry.pid).collect(), self.unknown)
    }

    /// Signals all members. Process groups are signalled as a whole, which reaches processes that are being forked too.
    pub(crate) fn signal(&self, signal: Signal) {
        self.groups.iter().for_each(|&group| signal_group(group, signal));
        let others = self.members.iter().filter(|entry| !self.groups.contains(&entry.group));
        others.for_each(|&entry| signal_process(entry, signal));
    }
}

/// The marker in the environment of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum EnvironmentMarker {
    /// The environment cannot be read: the process is ending, or access is denied.
    Unreadable,
    /// The value of the marker, or `None` if the process has no marker.
    Value(Option<Vec<u8>>),
}

impl EnvironmentMarker {
    fn of(entry: &ProcessEntry) -> Result<EnvironmentMarker, proc::ProcessGone> {
        let environment = if entry.zombie { Vec::new() } else { proc::environment(entry.pid)? };
        if environment.is_empty() {
            // The environment of a process that has ended since it was listed is empty too.
            let has_ended = !entry.zombie && proc::entry(entry.pid).is_none_or(|now| now.zombie);
            return if has_ended { Err(proc::ProcessGone) } else { Ok(EnvironmentMarker::Unreadable) };
        }
        let marker = environment
            .split(|&byte| byte == 0)
            .find_map(|variable| variable.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"="));
        Ok(EnvironmentMarker::Value(marker.map(<[u8]>::to_vec)))
    }

    fn value(&self) -> Option<&[u8]> {
        match self {
            EnvironmentMarker::Value(Some(marker)) => Some(marker),
            EnvironmentMarker::Value(None) | EnvironmentMarker::Unreadable => None,
        }
    }
}

/// All processes with their markers, and the pids that are known to belong to the scope.
///
/// Markers are read only where they decide something. Reading the environment of a process waits while that process forks, and
/// the processes of a fork bomb do little else.
struct Survey {
    processes: Vec<(ProcessEntry, EnvironmentMarker)>,
    table: Vec<ProcessEntry>,
    seeds: Seeds,
    own: i32,
}

impl Survey {
    fn new(scope: &Scope) -> Survey {
        let mut seeds = scope.seeds().clone();
        seeds.released.extend(attribution::released());
        for path in scope.cgroup_paths() {
            seeds.known.extend(cgroup::members(path));
        }
        let own = rustix::process::getpid().as_raw_pid();
        let inspect = |found: &[_], new| read_markers(scope, &seeds, found, new);
        let processes = all_processes(inspect, &EnvironmentMarker::Unreadable);
        let table = processes.iter().map(|(entry, _)| *entry).collect();
        Survey { processes, table, seeds, own }
    }

    /// Returns the processes whose marker names the scope.
    fn marked(&self, scope: &Scope) -> HashSet<i32> {
        let names_scope = |marker: &EnvironmentMarker| {
            marker.value().is_some_and(|marker| attribution::names(marker, scope.id()))
        };
        let marked = self.processes.iter().filter(|(_, marker)| names_scope(marker));
        marked.map(|(entry, _)| entry.pid).collect()
    }

    fn members(&self, marked: &HashSet<i32>) -> Vec<ProcessEntry> {
        tree::members(&self.table, &self.seeds, self.own, |entry| marked.contains(&entry.pid))
    }

    /// Returns the orphans of this process that neither are members nor were released.
    fn unattributed_orphans(
        &self,
        marked: &HashSet<i32>,
    ) -> impl Iterator<Item = &(ProcessEntry, EnvironmentMarker)> {
        let known: HashSet<i32> = self.members(marked).iter().map(|entry| entry.pid).collect();
        let released = tree::released(&self.table, &self.seeds, self.own);
        self.processes.iter().filter(move |(entry, _)| {
            entry.parent == self.own
                && !entry.zombie
                && reaper::is_orphan(entry.pid)
                && !known.contains(&entry.pid)
                && !released.contains(&entry.pid)
        })
    }

    /// Returns the process groups that contain only members.
    fn groups(&self, members: &[ProcessEntry]) -> Vec<i32> {
        let readable = self.processes.iter().filter(|(_, marker)| *marker != EnvironmentMarker::Unreadable);
        let mut others: HashSet<i32> = readable.map(|(entry, _)| entry.pid).collect();
        others.insert(self.own);
        for member in members {
            others.remove(&member.pid);
        }
        tree::groups(members, self.table.iter().filter(|entry| others.contains(&entry.pid)))
    }
}

impl Scope {
    /// Scans all processes for the members of the scope.
    pub(crate) fn scan(&self) -> ScopeScan {
        if self.is_unused() {
            return ScopeScan::default();
        }
        if let ScopeKind::Descendants(spared) = self.kind() {
            return scan_descendants(spared);
        }
        let survey = Survey::new(self);
        let mut marked = survey.marked(self);
        let mut unknown = self.unseen_orphans();
        let mut own_orphans = Vec::new();
        for (orphan, marker) in survey.unattributed_orphans(&marked) {
            match self.owner_of(orphan, marker.value()) {
                OrphanOwner::This => own_orphans.push(orphan.pid),
                OrphanOwner::Ambiguous(reason) => unknown = Some(reason),
                OrphanOwner::Other => {}
            }
        }
        marked.extend(own_orphans);
        let members = survey.members(&marked);
        let groups = survey.groups(&members);
        if !members.is_empty() && self.cgroup().is_none() && !proc::is_available() {
            unknown = Some(UnknownSurvivors::NoProcessTable);
        }
        ScopeScan { members, groups, unknown }
    }

    /// Returns a reason if orphans of the scope may have become children of another process.
    pub(crate) fn unseen_orphans(&self) -> Option<UnknownSurvivors> {
        let sees_all = self.cgroup().is_some() || reaper::is_subreaper();
        (!sees_all && matches!(self.kind(), ScopeKind::Run)).then_some(UnknownSurvivors::OrphansNotInherited)
    }

    /// Whether every orphan of this process belongs to the scope, whatever its marker is.
    fn owns_all_orphans(&self) -> bool {
        let is_only = self.registration().is_some_and(RunRegistration::is_only);
        is_only && matches!(self.kind(), ScopeKind::Run) && !reaper::had_children()
    }

    /// Whether a process was started before the first one of the scope, so that it has not inherited the marker.
    fn is_older(&self, entry: &ProcessEntry) -> bool {
        matches!(self.kind(), ScopeKind::Run) && entry.start < self.begun()
    }

    /// Determines whether an orphan belongs to the scope although nothing else connects it to the scope.
    fn owner_of(&self, orphan: &ProcessEntry, marker: Option<&[u8]>) -> OrphanOwner {
        let whole = self.with_outer().last().unwrap_or(self);
        let Some(registration) = whole.registration() else { return OrphanOwner::Other };
        match registration.owner(orphan, marker, reaper::had_children()) {
            // The orphan belongs to the outer scope. Whether it belongs to this part is unknown.
            OrphanOwner::This if self.registration().is_none() => {
                let is_possible = orphan.start == 0 || orphan.start >= self.begun();
                match is_possible {
                    true => OrphanOwner::Ambiguous(UnknownSurvivors::SharedOrphans),
                    false => OrphanOwner::Other,
                }
            }
            owner => owner,
        }
    }
}

/// Reads the markers of new processes. Leaves out those that have ended.
fn read_markers(
    scope: &Scope,
    seeds: &Seeds,
    found: &[(ProcessEntry, EnvironmentMarker)],
    new: Vec<ProcessEntry>,
) -> Vec<(ProcessEntry, EnvironmentMarker)> {
    let own = rustix::process::getpid().as_raw_pid();
    let table: Vec<ProcessEntry> = found.iter().map(|(entry, _)| *entry).chain(new.iter().copied()).collect();
    let known = match scope.owns_all_orphans() {
        true => tree::unreleased(&table, seeds, own),
        false => tree::members(&table, seeds, own, |_| false),
    };
    let known: HashSet<i32> = known.iter().map(|entry| entry.pid).collect();
    let marker = |entry: ProcessEntry| {
        let marker = if known.contains(&entry.pid) {
            EnvironmentMarker::Unreadable
        } else if entry.parent != own && scope.is_older(&entry) {
            EnvironmentMarker::Value(None)
        } else {
            EnvironmentMarker::of(&entry).ok()?
        };
        Some((entry, marker))
    };
    new.into_iter().filter_map(marker).collect()
}

/// Returns all processes, as [`proc::scan`] does. Children of this process that `/proc` does not list are added with `unseen`.
fn all_processes<T: Clone>(
    inspect: impl Fn(&[(ProcessEntry, T)], Vec<ProcessEntry>) -> Vec<(ProcessEntry, T)>,
    unseen: &T,
) -> Vec<(ProcessEntry, T)> {
    let mut processes = with_tracing(|| proc::scan(inspect));
    if reaper::is_subreaper() {
        let listed: HashSet<i32> = processes.iter().map(|(entry, _)| entry.pid).collect();
        let hidden = proc::own_children().into_iter().filter(|pid| !listed.contains(pid));
        processes.extend(hidden.filter_map(|pid| Some((proc::child_entry(pid)?, unseen.clone()))));
    }
    processes
}

/// Finds all descendants of this process, except those in `spared` and their descendants.
fn scan_descendants(spared: &[i32]) -> ScopeScan {
    let own = rustix::process::getpid().as_raw_pid();
    let table: Vec<ProcessEntry> =
        all_processes(proc::without_details, &()).into_iter().map(|(entry, ())| entry).collect();
    let members = tree::descendants(&table, own, spared);
    let inside: HashSet<i32> = members.iter().map(|entry| entry.pid).collect();
    let others = table.iter().filter(|entry| !inside.contains(&entry.pid) && !entry.zombie);
    let groups = tree::groups(&members, others);
    ScopeScan { members, groups, unknown: None }
}
