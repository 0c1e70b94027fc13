//! A scope: all the processes that one run started, and all that those started, wherever they went.
//!
//! Every member carries the scope's id in its environment, under [`MARKER`]. Where a control group can be made, the
//! first process is born into it and nobody leaves it. Scopes nest: the id of one inside another begins with the
//! other's, and a haft inside a haft adds its own to those it was born with.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::Signal;

use crate::attribution::{self, RunPlace};
use crate::cgroup::{self, Cgroup, Hierarchies};
use crate::enforce::{LimitTracker, Limiters, RunLimits};
use crate::environment::Environment;
use crate::host::{Host, ScopeLimits};
use crate::proc::{self, Entry};
use crate::reaper;
use crate::status::{Exit, Usage};
use crate::survivors::Survivors;
use crate::sweep::signal_process;
use crate::tree::Seeds;

/// The environment variable that every process started in a scope carries.
pub const MARKER: &str = "HAFT_RUN";

/// A set of processes that can be counted and ended as one.
#[derive(Clone, Debug)]
pub struct Scope(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    /// What holds the members, made for the first: before that, nobody is there.
    held: OnceLock<Held>,
    /// Control groups that somebody else has made, now dead.
    inherited: Vec<PathBuf>,
    seeds: Mutex<Seeds>,
    /// How many processes were started in it.
    started: AtomicUsize,
    /// How many parts were made of it.
    parts: AtomicUsize,
    tracker: LimitTracker,
    kind: Kind,
    /// Its place among the runs of this process, from the first process on.
    place: OnceLock<RunPlace>,
    /// When its first process was started.
    begun: OnceLock<u64>,
    /// What it is a part of: its members are members of that as well.
    outer: Option<Scope>,
    /// What shall hold the members. It goes last, with the host.
    containment: Containment,
}

/// How the members of a scope are known.
#[derive(Debug)]
pub(crate) enum Kind {
    /// By all that connects them to the run that this process supervises.
    Run,
    /// By marker and control group, since another process has started them.
    Recovered,
    /// As descendants of this process, all but these and theirs.
    Descent(Vec<i32>),
}

impl Inner {
    fn new(id: String) -> Inner {
        Inner {
            id,
            kind: Kind::Run,
            place: OnceLock::new(),
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

/// What holds the members of a scope together.
#[derive(Debug, Default)]
struct Held {
    cgroup: Option<Cgroup>,
    limiters: Limiters,
}

/// What a scope shall be made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Containment {
    /// Whom it belongs to: whose directory and watcher the members need, and below whose control groups theirs are.
    pub(crate) host: Option<Host>,
    /// Where control groups can be made.
    pub(crate) hierarchies: Hierarchies,
    /// What all members together, and each of them, may use.
    pub(crate) limits: ScopeLimits,
}

/// What a child needs in order to be born into a scope.
#[derive(Debug, Default)]
pub(crate) struct Join {
    pub(crate) directory: Option<RawFd>,
    pub(crate) files: Vec<RawFd>,
}

impl Scope {
    /// A scope that knows its members by marker and descent only.
    pub fn new(id: impl Into<String>) -> Scope {
        Scope::with(id.into(), Containment::default())
    }

    pub(crate) fn with(id: String, containment: Containment) -> Scope {
        Scope(Arc::new(Inner { containment, ..Inner::new(id) }))
    }

    /// A scope within this one: who is born into it belongs to both, and can be ended without the others.
    #[must_use]
    pub fn part(&self) -> Scope {
        let number = self.0.parts.fetch_add(1, Ordering::Relaxed) + 1;
        let outer = Some(self.clone());
        Scope(Arc::new(Inner { outer, ..Inner::new(format!("{}.{number}", self.0.id)) }))
    }

    /// The scope of a dead run, with the control groups it had.
    pub(crate) fn recovered(id: &str, inherited: Vec<PathBuf>) -> Scope {
        let held = OnceLock::from(Held::default());
        Scope(Arc::new(Inner { kind: Kind::Recovered, held, inherited, ..Inner::new(id.to_owned()) }))
    }

    /// All descendants of this process, but these and theirs.
    pub(crate) fn descendants(spared: Vec<i32>) -> Scope {
        let held = OnceLock::from(Held::default());
        Scope(Arc::new(Inner { kind: Kind::Descent(spared), held, ..Inner::new(String::new()) }))
    }

    /// The id, as it stands in the marker.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// How many processes were started in it, not counting those that they have started.
    pub fn started(&self) -> usize {
        self.0.started.load(Ordering::Relaxed)
    }

    /// Whether a control group of the system holds the members, so that none can get away.
    pub fn is_sealed(&self) -> bool {
        self.held().cgroup.is_some()
    }

    /// The limits of the scope: who enforces them, and whether they were reached.
    pub(crate) fn limits(&self) -> RunLimits {
        let limits = &self.0.containment.limits;
        if *limits == ScopeLimits::default() {
            return RunLimits::default();
        }
        self.0.tracker.report(limits, &self.held().limiters)
    }

    /// Counts what is refused and killed for limits.
    pub(crate) fn tracker(&self) -> &LimitTracker {
        &self.0.tracker
    }

    /// Takes note of how a member has ended.
    pub(crate) fn note_exit(&self, exit: Exit, usage: Usage) {
        for scope in self.with_outer() {
            scope.0.tracker.note_exit(&scope.0.containment.limits, exit, usage);
        }
    }

    /// Whether as many processes run as may. A control group refuses those that its members start, but not one that joins it.
    pub(crate) fn is_full(&self) -> bool {
        self.with_outer().any(|scope| {
            let Some(most) = scope.0.containment.limits.processes else { return false };
            let counted = scope.held().groups().find_map(Cgroup::processes);
            let is_full = counted.unwrap_or_else(|| scope.members().len() as u64) >= most;
            if is_full {
                scope.0.tracker.note_refused();
            }
            is_full
        })
    }

    /// A descriptor that polls as urgent when the last member has gone, where the system offers one.
    pub(crate) fn emptied(&self) -> Option<OwnedFd> {
        self.cgroup()?.events().ok()
    }

    /// Whether anybody is left, as far as that can be told without a walk through all processes.
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

    pub(crate) fn join(&self) -> Join {
        let innermost = self.with_outer().find_map(|scope| scope.held().cgroup.as_ref());
        let limiters = self.with_outer().flat_map(|scope| scope.held().limiters.files());
        Join { directory: innermost.map(|cgroup| cgroup.directory().as_raw_fd()), files: limiters.collect() }
    }

    /// The marker as an environment entry, added to what outer runs have set.
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

    /// Takes note of a process that was started in the scope.
    pub(crate) fn add(&self, pid: i32) {
        for scope in self.with_outer() {
            scope.held();
            scope.place().into_iter().for_each(RunPlace::resume);
            scope.0.started.fetch_add(1, Ordering::Relaxed);
            scope.seeds().roots.push(pid);
        }
    }

    /// Forgets a process that was reaped: its number may come back as somebody else.
    pub(crate) fn forget(&self, pid: i32) {
        for scope in self.with_outer() {
            scope.seeds().roots.retain(|&root| root != pid);
        }
    }

    /// This one and those that it is a part of, outwards.
    pub(crate) fn with_outer(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.0.outer.as_ref())
    }

    /// Looks who is there while the processes that were started are not reaped yet, so that those who stay behind are
    /// recognised later even if nothing else tells.
    pub(crate) fn remember(&self) {
        let found: Vec<_> = self.entries().iter().map(|entry| (entry.pid, entry.start)).collect();
        self.seeds().strays = found;
    }

    /// The processes that are alive.
    pub fn members(&self) -> Vec<i32> {
        self.entries().iter().map(|entry| entry.pid).collect()
    }

    /// Whether nobody is left. Cheap where a control group answers.
    pub fn is_empty(&self) -> bool {
        match self.cgroup() {
            Some(cgroup) if cgroup::is_populated(cgroup.path()) => self.members().is_empty(),
            Some(_) => true,
            None if self.is_unused() => true,
            None => self.members().is_empty(),
        }
    }

    /// Signals the members that are in a group, and says how many there were.
    pub(crate) fn signal_group(&self, group: i32, signal: Signal) -> usize {
        let members = self.entries();
        let addressed = members.iter().filter(|entry| entry.group == group);
        addressed.map(|entry| signal_process(*entry, signal)).count()
    }

    /// Signals all members, and says how many there were.
    pub(crate) fn signal_all(&self, signal: Signal) -> usize {
        self.entries().iter().map(|entry| signal_process(*entry, signal)).count()
    }

    /// Sends a signal to all members, if there is one of this number.
    pub fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            self.signal_all(signal);
        }
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.look().members
    }

    /// Whether there are orphans, dead or alive, that can only be this scope's.
    pub(crate) fn has_orphans(&self) -> bool {
        if !self.place().is_some_and(RunPlace::is_only) {
            return false;
        }
        let departed: HashSet<i32> = attribution::departed().into_iter().map(|(pid, _)| pid).collect();
        reaper::orphans().iter().any(|pid| !departed.contains(pid))
    }

    /// Says that the run is over: orphans that turn up from now on are not its own.
    pub(crate) fn retire(&self) {
        self.place().into_iter().for_each(RunPlace::retire);
    }

    /// Tells the watcher of members that could not be ended.
    pub(crate) fn note_survivors(&self, left: &[Entry]) {
        let host = self.with_outer().find_map(|scope| scope.0.containment.host.as_ref());
        host.into_iter().for_each(|host| host.note_survivors(left));
    }

    /// Which processes are left of a run that has ended by itself, as far as that can be told. Cheap where a control group holds
    /// them, or this process has no orphans.
    pub(crate) fn remains(&self) -> Survivors {
        if self.is_unused() || self.cgroup().is_some() {
            return Survivors::NONE;
        }
        if reaper::is_subreaper() && reaper::orphans().is_empty() {
            return Survivors::NONE;
        }
        // Where orphans go elsewhere, a look at all processes would not remove the doubt.
        let doubt = self.blindness().or_else(|| self.look().doubt);
        Survivors::new(Vec::new(), doubt)
    }

    /// What kind of scope it is.
    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Its place among the runs of this process. Parts have none, nor have scopes that end what others have started.
    pub(crate) fn place(&self) -> Option<&RunPlace> {
        self.0.place.get()
    }

    /// When its first process was started, in the kernel's ticks since boot.
    pub(crate) fn begun(&self) -> u64 {
        self.0.begun.get().copied().unwrap_or_default()
    }

    /// Where its control group is, if it has one.
    pub(crate) fn cgroup_path(&self) -> Option<&Path> {
        self.cgroup().map(Cgroup::path)
    }

    pub(crate) fn cgroup_paths(&self) -> impl Iterator<Item = &Path> {
        self.cgroup().map(Cgroup::path).into_iter().chain(self.0.inherited.iter().map(PathBuf::as_path))
    }

    /// What holds the members, made now if there is none yet.
    fn held(&self) -> &Held {
        self.0.held.get_or_init(|| {
            self.0.begun.get_or_init(proc::now);
            match &self.0.outer {
                Some(outer) => Held::within(outer, &self.0.id),
                None => {
                    self.0.place.get_or_init(|| RunPlace::new(&self.0.id));
                    Held::new(&self.0.containment, &format!("haft-{}", self.0.id))
                }
            }
        })
    }

    /// Whether nobody was ever started in it.
    pub(crate) fn is_unused(&self) -> bool {
        self.0.held.get().is_none()
    }

    /// The control group, if it was needed yet.
    pub(crate) fn cgroup(&self) -> Option<&Cgroup> {
        self.0.held.get()?.cgroup.as_ref()
    }

    pub(crate) fn seeds(&self) -> MutexGuard<'_, Seeds> {
        self.0.seeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// All control groups that it is made of.
    fn groups(&self) -> impl Iterator<Item = &Cgroup> {
        self.cgroup.iter().chain(self.limiters.groups())
    }

    /// Makes what can be made.
    fn new(containment: &Containment, name: &str) -> Held {
        let parent = containment.hierarchies.unified.as_deref();
        let cgroup = parent.and_then(|parent| Cgroup::create(parent, name).ok());
        let limiters = Limiters::new(containment, cgroup.as_ref(), name);
        Held { cgroup, limiters }
    }

    /// Makes what holds a part of another scope, within what holds that.
    fn within(outer: &Scope, id: &str) -> Held {
        let name = format!("part-{}", id.rsplit('.').next().unwrap_or_default());
        let parent = outer.held().cgroup.as_ref();
        let cgroup = parent.and_then(|parent| Cgroup::create(parent.path(), &name).ok());
        Held { cgroup, limiters: Limiters::default() }
    }
}

/// Whether an environment entry is the marker.
pub(crate) fn is_marker(entry: &CStr) -> bool {
    entry.to_bytes().strip_prefix(MARKER.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
}
