//! Which processes are in a scope at one moment.

use std::collections::HashSet;

use rustix::process::Signal;

use crate::attribution::{self, Owner};
use crate::capability::with_tracing;
use crate::cgroup;
use crate::proc::{self, Entry};
use crate::reaper;
use crate::scope::{Kind, MARKER, Scope};
use crate::survivors::{Survivors, UnknownSurvivors};
use crate::sweep::{signal_group, signal_process};
use crate::tree;

/// The processes of a scope at one moment.
#[derive(Default)]
pub(crate) struct Look {
    pub(crate) members: Vec<Entry>,
    /// The process groups in which nobody else is.
    groups: Vec<i32>,
    /// Why there may be further members, if there may.
    pub(crate) doubt: Option<UnknownSurvivors>,
}

impl Look {
    /// The members as those who outlived an end.
    pub(crate) fn survivors(&self) -> Survivors {
        Survivors::new(self.members.iter().map(|entry| entry.pid).collect(), self.doubt)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.groups.iter().for_each(|&group| signal_group(group, signal));
        self.members.iter().for_each(|&entry| signal_process(entry, signal));
    }
}

/// What the environment of a process tells about where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Marks {
    /// Its environment cannot be read: it has ended, or nearly so, or does not allow it.
    Unreadable,
    /// It was started with this marker, if with any.
    Marker(Option<Vec<u8>>),
}

impl Marks {
    fn of(entry: &Entry) -> Result<Marks, proc::Gone> {
        let environment = if entry.zombie { Vec::new() } else { proc::environment(entry.pid)? };
        if environment.is_empty() {
            return Ok(Marks::Unreadable);
        }
        let marker = environment
            .split(|&byte| byte == 0)
            .find_map(|variable| variable.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"="));
        Ok(Marks::Marker(marker.map(<[u8]>::to_vec)))
    }

    fn marker(&self) -> Option<&[u8]> {
        match self {
            Marks::Marker(Some(marker)) => Some(marker),
            Marks::Marker(None) | Marks::Unreadable => None,
        }
    }
}

impl Scope {
    pub(crate) fn look(&self) -> Look {
        if self.is_unused() {
            return Look::default();
        }
        if let Kind::Descent(spared) = self.kind() {
            return look_at_descent(spared);
        }
        let mut seeds = self.seeds().clone();
        seeds.departed.extend(attribution::departed());
        for path in self.cgroup_paths() {
            seeds.known.extend(cgroup::members(path));
        }
        let own = rustix::process::getpid().as_raw_pid();
        let survey = survey_all(|entry| Marks::of(entry).ok(), Marks::Unreadable);
        let table: Vec<Entry> = survey.iter().map(|(entry, _)| *entry).collect();
        let is_ours =
            |marks: &Marks| marks.marker().is_some_and(|marker| attribution::names(marker, self.id()));
        let mut ours: HashSet<i32> =
            survey.iter().filter(|(_, marks)| is_ours(marks)).map(|(entry, _)| entry.pid).collect();
        let known: HashSet<i32> = tree::members(&table, &seeds, own, |entry| ours.contains(&entry.pid))
            .iter()
            .map(|e| e.pid)
            .collect();
        let outside = tree::departed(&table, &seeds, own);
        let mut doubt = self.blindness();
        for (orphan, marks) in &survey {
            let candidate = orphan.parent == own && !orphan.zombie && reaper::is_orphan(orphan.pid);
            if !candidate || known.contains(&orphan.pid) || outside.contains(&orphan.pid) {
                continue;
            }
            match self.owner_of(orphan, marks.marker()) {
                Owner::This => ours.extend([orphan.pid]),
                Owner::Ambiguous(reason) => doubt = Some(reason),
                Owner::Other => {}
            }
        }
        let members = tree::members(&table, &seeds, own, |entry| ours.contains(&entry.pid));
        let mut others: HashSet<i32> = survey
            .iter()
            .filter(|(_, marks)| *marks != Marks::Unreadable)
            .map(|(entry, _)| entry.pid)
            .collect();
        others.insert(own);
        for member in &members {
            others.remove(&member.pid);
        }
        let groups = tree::groups(&members, table.iter().filter(|entry| others.contains(&entry.pid)));
        Look { members, groups, doubt }
    }

    /// Why orphans of the scope may be out of sight, if they may.
    pub(crate) fn blindness(&self) -> Option<UnknownSurvivors> {
        let sees_all = self.cgroup().is_some() || reaper::is_subreaper();
        (!sees_all && matches!(self.kind(), Kind::Run)).then_some(UnknownSurvivors::OrphansNotInherited)
    }

    /// Whose an orphan of this process is that nothing else connects to the scope.
    fn owner_of(&self, orphan: &Entry, marker: Option<&[u8]>) -> Owner {
        let whole = self.with_outer().last().unwrap_or(self);
        let Some(place) = whole.place() else { return Owner::Other };
        let owner = place.owner(orphan, marker, reaper::had_children());
        match owner {
            // It is a process of the whole; whether it is one of this part, nothing tells.
            Owner::This if self.place().is_none() => {
                let possible = orphan.start == 0 || orphan.start >= self.begun();
                if possible { Owner::Ambiguous(UnknownSurvivors::SharedOrphans) } else { Owner::Other }
            }
            owner => owner,
        }
    }
}

/// All processes there are, each with what `look` makes of it. Where `/proc` does not list them, the children of this
/// process at least, each with `unseen`.
fn survey_all<T: Clone>(look: impl Fn(&Entry) -> Option<T>, unseen: T) -> Vec<(Entry, T)> {
    let mut survey = with_tracing(|| proc::survey(look));
    if reaper::is_subreaper() {
        let listed: HashSet<i32> = survey.iter().map(|(entry, _)| entry.pid).collect();
        let hidden = proc::own_children().into_iter().filter(|pid| !listed.contains(pid));
        survey.extend(hidden.filter_map(|pid| Some((proc::child_entry(pid)?, unseen.clone()))));
    }
    survey
}

/// All descendants of this process, but those that are spared and theirs.
fn look_at_descent(spared: &[i32]) -> Look {
    let own = rustix::process::getpid().as_raw_pid();
    let table: Vec<Entry> = survey_all(|_| Some(()), ()).into_iter().map(|(entry, ())| entry).collect();
    let members = tree::descendants(&table, own, spared);
    let inside: HashSet<i32> = members.iter().map(|entry| entry.pid).collect();
    let others = table.iter().filter(|entry| !inside.contains(&entry.pid) && !entry.zombie);
    let groups = tree::groups(&members, others);
    Look { members, groups, doubt: None }
}
