//! A scope: all processes of one run, and all their descendants.
//!
//! Every member has the scope's id in its environment, in the variable [`MARKER`]. If a control group can be created, the
//! first process is started in it, and no member can leave it. Scopes nest: the id of an inner scope begins with that of the
//! outer one. A haft process inside a haft run adds its id to the inherited value.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::Signal;

use crate::attribution::{self, RunRegistration};
use crate::cgroup::{self, Cgroup, Hierarchies};
use crate::enforce::{LimitTracker, Limiters, RunLimits};
use crate::environment::Environment;
use crate::host::{Host, ScopeLimits};
use crate::proc::{self, ProcessEntry};
use crate::reaper;
use crate::scope_kill::{has_group, signal_group, signal_process};
use crate::status::{Exit, Usage};
use crate::survivors::Survivors;
use crate::sys::CgroupJoin;
use crate::tree::Seeds;

/// The environment variable that every process of a scope inherits.
pub const MARKER: &str = "HAFT_RUN";

/// A set of processes that are counted and ended together.
#[derive(Clone, Debug)]
pub struct Scope(Arc<ScopeInner>);

#[derive(Debug)]
struct ScopeInner {
    id: String,
    /// The control groups, created for the first process.
    held: OnceLock<ScopeCgroups>,
    /// Control groups of a dead run.
    inherited: Vec<PathBuf>,
    seeds: Mutex<Seeds>,
    /// Number of processes started in the scope.
    started: AtomicUsize,
    /// Number of parts of the scope.
    parts: AtomicUsize,
    tracker: LimitTracker,
    kind: ScopeKind,
    /// Its registration among the runs of this process, from the first process on.
    registration: OnceLock<RunRegistration>,
    /// When its first process was started, in clock ticks since boot.
    begun: OnceLock<u64>,
    /// The scope that it is a part of. Its members are members of that scope too.
    outer: Option<Scope>,
    /// Declared last, so that the host is dropped after everything else.
    containment: Containment,
}

/// How the members of a scope are found.
#[derive(Debug)]
pub(crate) enum ScopeKind {
    /// A run that this process supervises: by everything that connects a process to it.
    Run,
    /// A run of a dead process: by marker and control group.
    Recovered,
    /// All descendants of this process, except the given ones and their descendants.
    Descendants(Vec<i32>),
}

impl ScopeInner {
    fn new(id: String) -> ScopeInner {
        ScopeInner {
            id,
            kind: ScopeKind::Run,
            registration: OnceLock::new(),
            begun: OnceLock::new(),
            containment: Containment::default(),
            held: OnceLock::new(),
            inherited: Vec::new(),
            seeds: Mutex::default(),
            started: AtomicUsize::new(0),
            parts: AtomicUsize::new(0),
            tracker: LimitTracker::default(),
            outer: None,
        }
    }
}

/// The control groups of a scope.
#[derive(Debug, Default)]
struct ScopeCgroups {
    /// The group that contains all members.
    cgroup: Option<Cgroup>,
    limiters: Limiters,
}

/// The resources that a scope is created with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Containment {
    /// The host, whose run directory, watcher and control groups the scope uses.
    pub(crate) host: Option<Host>,
    /// The directories below which control groups are created.
    pub(crate) hierarchies: Hierarchies,
    /// Limits for all members together and for each member.
    pub(crate) limits: ScopeLimits,
}

impl Scope {
    /// Makes a scope without control groups, which finds its members by marker and descent.
    pub fn new(id: impl Into<String>) -> Scope {
        Scope::with(id.into(), Containment::default())
    }

    pub(crate) fn with(id: String, containment: Containment) -> Scope {
        Scope(Arc::new(ScopeInner { containment, ..ScopeInner::new(id) }))
    }

    /// Makes a scope within this one. Its processes are members of both and can be ended separately.
    #[must_use]
    pub fn part(&self) -> Scope {
        let number = self.0.parts.fetch_add(1, Ordering::Relaxed) + 1;
        let outer = Some(self.clone());
        Scope(Arc::new(ScopeInner { outer, ..ScopeInner::new(format!("{}.{number}", self.0.id)) }))
    }

    /// Makes the scope of a dead run, with its control groups.
    pub(crate) fn recovered(id: &str, inherited: Vec<PathBuf>) -> Scope {
        let held = OnceLock::from(ScopeCgroups::default());
        let kind = ScopeKind::Recovered;
        Scope(Arc::new(ScopeInner { kind, held, inherited, ..ScopeInner::new(id.to_owned()) }))
    }

    /// Makes a scope of all descendants of this process, except the given ones and their descendants.
    pub(crate) fn descendants(spared: Vec<i32>) -> Scope {
        let held = OnceLock::from(ScopeCgroups::default());
        let kind = ScopeKind::Descendants(spared);
        Scope(Arc::new(ScopeInner { kind, held, ..ScopeInner::new(String::new()) }))
    }

    /// Returns the id, which is part of the marker.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the number of processes that were started in the scope, without their descendants.
    pub fn started(&self) -> usize {
        self.0.started.load(Ordering::Relaxed)
    }

    /// Whether a control group contains the members, so that none can leave the scope.
    pub fn is_sealed(&self) -> bool {
        self.held().cgroup.is_some()
    }

    /// Returns the limits that were asked for.
    pub(crate) fn asked_limits(&self) -> &ScopeLimits {
        &self.0.containment.limits
    }

    /// Returns the limits, what enforces them, and whether they were reached.
    pub(crate) fn limits(&self) -> RunLimits {
        let limits = &self.0.containment.limits;
        if *limits == ScopeLimits::default() {
            return RunLimits::default();
        }
        self.0.tracker.report(limits, &self.held().limiters)
    }

    /// Returns the control groups that enforce the limits.
    pub(crate) fn limiters(&self) -> &Limiters {
        &self.held().limiters
    }

    /// Returns the counters of processes that were refused or killed because of a limit.
    pub(crate) fn tracker(&self) -> &LimitTracker {
        &self.0.tracker
    }

    /// Records the exit of a member, which may be due to a limit.
    pub(crate) fn note_exit(&self, exit: Exit, usage: Usage) {
        crate::enforce::attribute_usage(usage);
        for scope in self.with_outer() {
            scope.0.tracker.note_exit(&scope.0.containment.limits, exit, usage);
        }
    }

    /// Whether the process limit is reached. A control group refuses forks of its members, but not a process that joins it.
    pub(crate) fn is_full(&self) -> bool {
        self.with_outer().any(|scope| {
            let Some(maximum) = scope.0.containment.limits.processes else { return false };
            let counted = scope.held().groups().find_map(Cgroup::processes);
            let is_full = counted.unwrap_or_else(|| scope.members().len() as u64) >= maximum;
            if is_full {
                scope.0.tracker.note_refused();
            }
            is_full
        })
    }

    /// Returns a descriptor that polls as urgent when the last member ends, if there is a control group.
    pub(crate) fn emptied(&self) -> Option<OwnedFd> {
        self.cgroup()?.events().ok()
    }

    /// Whether members are left. Avoids a scan of all processes where possible.
    pub(crate) fn has_strays(&self) -> bool {
        match self.cgroup() {
            Some(cgroup) => cgroup::is_populated(cgroup.path()),
            None if self.is_unused() => false,
            None => {
                let possible = !self.seeds().roots.is_empty() || !reaper::orphans().is_empty();
                possible && !self.is_empty()
            }
        }
    }

    /// Returns the control groups that a new member joins.
    pub(crate) fn cgroup_join(&self) -> CgroupJoin {
        let innermost = self.with_outer().find_map(|scope| scope.held().cgroup.as_ref());
        let limiters = self.with_outer().flat_map(|scope| scope.held().limiters.files());
        CgroupJoin {
            directory: innermost.map(|cgroup| cgroup.directory().as_raw_fd()),
            files: limiters.collect(),
        }
    }

    /// Returns the marker as an environment entry, appended to the markers of outer runs.
    pub(crate) fn marker(&self, environment: &Environment) -> CString {
        let outer = environment.get(MARKER).map(OsStr::as_bytes).filter(|outer| !outer.is_empty());
        let mut entry = format!("{MARKER}=").into_bytes();
        if let Some(outer) = outer {
            entry.extend_from_slice(outer);
            entry.push(b':');
        }
        entry.extend_from_slice(self.0.id.as_bytes());
        CString::new(entry).unwrap_or_default()
    }

    /// Adds a process that was started in the scope.
    pub(crate) fn add(&self, pid: i32) {
        for scope in self.with_outer() {
            scope.held();
            scope.registration().into_iter().for_each(RunRegistration::resume);
            scope.0.started.fetch_add(1, Ordering::Relaxed);
            scope.seeds().roots.push(pid);
        }
    }

    /// Removes a process that was reaped, because its pid may be reused. The number of its group is not while the group has
    /// processes.
    pub(crate) fn forget(&self, pid: i32) {
        for scope in self.with_outer() {
            let leaves_group = scope.0.containment.limits.processes.is_some() && has_group(pid);
            let mut seeds = scope.seeds();
            seeds.roots.retain(|&root| root != pid);
            if leaves_group {
                seeds.groups.push(pid);
            }
        }
    }

    /// Forgets groups without members, because their numbers may be reused.
    pub(crate) fn forget_empty_groups(&self, members: &[ProcessEntry]) {
        self.seeds().groups.retain(|group| members.iter().any(|member| member.group == *group));
    }

    /// Returns this scope and the scopes that it is a part of, innermost first.
    pub(crate) fn with_outer(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.0.outer.as_ref())
    }

    /// Records the members before their parent is reaped, because afterwards nothing else may connect them to the scope.
    pub(crate) fn record_members(&self) {
        let found: Vec<_> = self.entries().iter().map(|entry| (entry.pid, entry.start)).collect();
        self.seeds().strays = found;
    }

    /// Returns the pids of the running members.
    pub fn members(&self) -> Vec<i32> {
        self.entries().iter().map(|entry| entry.pid).collect()
    }

    /// Whether no member is running. Does not scan all processes if there is a control group.
    pub fn is_empty(&self) -> bool {
        match self.cgroup() {
            Some(cgroup) if cgroup::is_populated(cgroup.path()) => self.members().is_empty(),
            Some(_) => true,
            None if self.is_unused() => true,
            None => self.members().is_empty(),
        }
    }

    /// Signals the members of a process group. Returns their number.
    pub(crate) fn signal_group(&self, group: i32, signal: Signal) -> usize {
        let members = self.entries();
        let addressed = members.iter().filter(|entry| entry.group == group);
        addressed.map(|entry| signal_process(*entry, signal)).count()
    }

    /// Signals the process groups of the processes that were started in the scope, each with one system call.
    pub(crate) fn signal_root_groups(&self, signal: Signal) {
        let groups = {
            let seeds = self.seeds();
            [seeds.roots.as_slice(), &seeds.groups].concat()
        };
        groups.into_iter().for_each(|group| signal_group(group, signal));
    }

    /// Signals all members. Returns their number.
    pub(crate) fn signal_all(&self, signal: Signal) -> usize {
        self.entries().iter().map(|entry| signal_process(*entry, signal)).count()
    }

    /// Signals all members. Ignores invalid signal numbers.
    pub fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            self.signal_all(signal);
        }
    }

    pub(crate) fn entries(&self) -> Vec<ProcessEntry> {
        self.scan().members
    }

    /// Whether there are orphans, running or not reaped, that can belong only to this scope.
    pub(crate) fn has_orphans(&self) -> bool {
        if !self.registration().is_some_and(RunRegistration::is_only) {
            return false;
        }
        let released: HashSet<i32> = attribution::released().into_iter().map(|(pid, _)| pid).collect();
        reaper::orphans().iter().any(|pid| !released.contains(pid))
    }

    /// Ends the run: later orphans do not belong to it.
    pub(crate) fn retire(&self) {
        self.registration().into_iter().for_each(RunRegistration::retire);
    }

    /// Reports members that could not be killed to the watcher.
    pub(crate) fn report_survivors(&self, left: &[ProcessEntry]) {
        let host = self.with_outer().find_map(|scope| scope.0.containment.host.as_ref());
        host.into_iter().for_each(|host| host.report_survivors(left));
    }

    /// Returns the processes that remain after a run ended by itself. Avoids a scan of all processes if there is a control
    /// group or this process has no orphans.
    pub(crate) fn remaining(&self) -> Survivors {
        if self.is_unused() || self.cgroup().is_some() {
            return Survivors::NONE;
        }
        if reaper::is_subreaper() && reaper::orphans().is_empty() {
            return Survivors::NONE;
        }
        // If this process does not inherit orphans, a scan cannot find them.
        let unknown = self.unseen_orphans().or_else(|| self.scan().unknown);
        Survivors::new(Vec::new(), unknown)
    }

    pub(crate) fn kind(&self) -> &ScopeKind {
        &self.0.kind
    }

    /// Returns its registration among the runs of this process. Parts and recovered scopes have none.
    pub(crate) fn registration(&self) -> Option<&RunRegistration> {
        self.0.registration.get()
    }

    /// Returns when its first process was started, in clock ticks since boot.
    pub(crate) fn begun(&self) -> u64 {
        self.0.begun.get().copied().unwrap_or_default()
    }

    /// Returns the path of its control group, if it has one.
    pub(crate) fn cgroup_path(&self) -> Option<&Path> {
        self.cgroup().map(Cgroup::path)
    }

    pub(crate) fn cgroup_paths(&self) -> impl Iterator<Item = &Path> {
        self.cgroup().map(Cgroup::path).into_iter().chain(self.0.inherited.iter().map(PathBuf::as_path))
    }

    /// Returns the control groups. Creates them on the first call.
    fn held(&self) -> &ScopeCgroups {
        self.0.held.get_or_init(|| {
            self.0.begun.get_or_init(proc::now);
            match &self.0.outer {
                Some(outer) => ScopeCgroups::within(outer, &self.0.id),
                None => {
                    self.0.registration.get_or_init(|| RunRegistration::new(&self.0.id));
                    ScopeCgroups::new(&self.0.containment, &format!("haft-{}", self.0.id))
                }
            }
        })
    }

    /// Whether no process was ever started in the scope.
    pub(crate) fn is_unused(&self) -> bool {
        self.0.held.get().is_none()
    }

    /// Returns the control group, if one was created.
    pub(crate) fn cgroup(&self) -> Option<&Cgroup> {
        self.0.held.get()?.cgroup.as_ref()
    }

    pub(crate) fn seeds(&self) -> MutexGuard<'_, Seeds> {
        self.0.seeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScopeCgroups {
    /// Returns all control groups.
    fn groups(&self) -> impl Iterator<Item = &Cgroup> {
        self.cgroup.iter().chain(self.limiters.groups())
    }

    /// Creates the control groups that can be created.
    fn new(containment: &Containment, name: &str) -> ScopeCgroups {
        let parent = containment.hierarchies.unified.as_deref();
        let cgroup = parent.and_then(|parent| Cgroup::create(parent, name).ok());
        let limiters = Limiters::new(containment, cgroup.as_ref(), name);
        ScopeCgroups { cgroup, limiters }
    }

    /// Creates the control group of a part, within that of the outer scope.
    fn within(outer: &Scope, id: &str) -> ScopeCgroups {
        let name = format!("part-{}", id.rsplit('.').next().unwrap_or_default());
        let parent = outer.held().cgroup.as_ref();
        let cgroup = parent.and_then(|parent| Cgroup::create(parent.path(), &name).ok());
        ScopeCgroups { cgroup, limiters: Limiters::default() }
    }
}

/// Whether an environment entry is the marker.
pub(crate) fn is_marker(entry: &CStr) -> bool {
    entry.to_bytes().strip_prefix(MARKER.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
}
