//! What one application sets up once and all its jobs share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use crate::capture::{CaptureLimits, Output, SpillDirectory};
use crate::cgroup::{Cgroup, Hierarchies};
use crate::command::Command;
use crate::error::Error;
use crate::permission::StartPermission;
use crate::proc::Entry;
use crate::reaper;
use crate::rundir::RunDirectory;
use crate::scope::{Containment, Scope};
use crate::watcher::Watcher;

/// The surroundings of jobs: where their outputs spill, what holds their processes together, who watches over them.
///
/// [`Host::plain`] changes nothing of the process it is used in. An application that owns its process asks for more
/// with a [`HostBuilder`]. Clones share everything; when the last one goes, and the last job,
/// so does all that was made.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<Inner>,
    permission: StartPermission,
}

#[derive(Debug)]
struct Inner {
    id: String,
    counter: AtomicU64,
    settings: HostBuilder,
    surroundings: OnceLock<Surroundings>,
    run: Option<RunDirectory>,
    warnings: Vec<String>,
}

/// What is made when the first scope is asked for, since not every run starts a process.
#[derive(Debug, Default)]
struct Surroundings {
    /// The control groups of this process itself.
    own: Hierarchies,
    /// The groups made below those, in which scopes make theirs.
    bases: Mutex<Vec<Cgroup>>,
    watcher: Option<Watcher>,
}

/// Limits that hold for all processes of a scope together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeLimits {
    /// How many processes and threads there may be at once.
    pub processes: Option<u64>,
    /// How many bytes of memory they may use.
    pub memory: Option<u64>,
    /// How much processor time each of them may use.
    pub cpu: Option<Duration>,
    /// Whether to start nothing unless the kernel enforces every limit for the whole tree.
    pub strict: bool,
}

/// Settings of a [`Host`].
#[derive(Clone, Debug, Default)]
pub struct HostBuilder {
    run_directories: Vec<PathBuf>,
    private_parents: Vec<PathBuf>,
    cgroups: bool,
    subreaper: bool,
    watcher: Option<Command>,
}

impl HostBuilder {
    /// Makes a private directory below `base` for outputs that outgrow memory, and for what has to be cleaned up
    /// after a crash. Called more than once, the first base that can be used is taken.
    #[must_use]
    pub fn run_directory(mut self, base: impl Into<PathBuf>) -> HostBuilder {
        self.run_directories.push(base.into());
        self
    }

    /// Makes a base directory with a random name below `parent` if none of the [bases](HostBuilder::run_directory) can
    /// be used: another user may have made a directory of the same name first. It is removed with the host.
    #[must_use]
    pub fn private_directory(mut self, parent: impl Into<PathBuf>) -> HostBuilder {
        self.private_parents.push(parent.into());
        self
    }

    /// Uses control groups where they can be made. The run directory and the watcher remember them, so that a crash
    /// leaves none.
    #[must_use]
    pub fn cgroups(mut self) -> HostBuilder {
        self.cgroups = true;
        self
    }

    /// Makes this process the parent of all orphans among its descendants: a process-wide setting.
    #[must_use]
    pub fn subreaper(mut self) -> HostBuilder {
        self.subreaper = true;
        self
    }

    /// Starts a second process that cleans up if this one is killed. The command must end up in
    /// [`watch`](crate::watch).
    #[must_use]
    pub fn watcher(mut self, command: Command) -> HostBuilder {
        self.watcher = Some(command);
        self
    }

    /// Makes the host. What cannot be had is done without, and noted in [`Host::warnings`].
    pub fn build(self) -> Host {
        let mut warnings = Vec::new();
        if self.subreaper
            && let Err(error) = reaper::become_subreaper()
        {
            warnings.push(error.to_string());
        }
        let run = self.make_run_directory(&mut warnings);
        let id = run.as_ref().map_or_else(anonymous_id, |run| run.id().as_str().to_owned());
        let counter = AtomicU64::new(0);
        let inner = Inner { id, counter, settings: self, surroundings: OnceLock::new(), run, warnings };
        Host { inner: Arc::new(inner), permission: StartPermission::all() }
    }

    /// The first directory that can be made. Without one, large outputs are kept in memory files.
    fn make_run_directory(&self, warnings: &mut Vec<String>) -> Option<RunDirectory> {
        let bases = self.run_directories.iter().map(|base| RunDirectory::create(base));
        let private = self.private_parents.iter().map(|parent| RunDirectory::create_private(parent));
        let mut failure = None;
        for made in bases.chain(private) {
            match made {
                Ok(run) => return Some(run),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(error) = failure {
            warnings.push(format!("no run directory, large outputs are kept in memory: {error}"));
        }
        None
    }
}

impl Host {
    /// A host that keeps outputs in memory only and changes no setting of this process. Without its means, a process
    /// that outlives its job is noticed only if it holds on to the job's output.
    pub fn plain() -> Host {
        Host::builder().build()
    }

    /// Settings to make a host with.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// The same surroundings for programs that this permission allows as well.
    #[must_use]
    pub fn restricted(&self, permission: &StartPermission) -> Host {
        Host { inner: self.inner.clone(), permission: self.permission.and(permission) }
    }

    /// Which programs may be started in these surroundings.
    pub fn permission(&self) -> &StartPermission {
        &self.permission
    }

    /// The name of the run, which all its processes carry.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// What could not be had.
    pub fn warnings(&self) -> &[String] {
        &self.inner.warnings
    }

    /// A new scope for processes.
    pub fn scope(&self, limits: ScopeLimits) -> Scope {
        let number = self.inner.counter.fetch_add(1, Ordering::Relaxed) + 1;
        let own = &self.inner.surroundings.get_or_init(|| self.inner.surround()).own;
        let hierarchies = Hierarchies {
            unified: self.inner.base(own.unified.as_deref()),
            pids: self.inner.base(own.pids.as_deref().filter(|_| limits.processes.is_some())),
            memory: self.inner.base(own.memory.as_deref().filter(|_| limits.memory.is_some())),
        };
        let containment = Containment { host: Some(self.clone()), hierarchies, limits };
        Scope::with(format!("{}.{number}", self.inner.id), containment)
    }

    /// Tells the watcher of processes that could not be ended.
    pub(crate) fn note_survivors(&self, left: &[Entry]) {
        let watcher = self.inner.surroundings.get().and_then(|surroundings| surroundings.watcher.as_ref());
        watcher.into_iter().for_each(|watcher| watcher.note_survivors(left));
    }

    /// A new store for an output.
    pub fn output(&self, limits: CaptureLimits) -> Output {
        let directory = self.inner.run.as_ref().and_then(|run| run.spill_directory().ok());
        let memory = || (!self.inner.settings.run_directories.is_empty()).then(SpillDirectory::memory);
        Output::new(limits, directory.map(SpillDirectory::or_memory).or_else(memory))
    }
}

impl Inner {
    fn surround(&self) -> Surroundings {
        let directory = self.run.as_ref().map(RunDirectory::path);
        let watcher = self
            .settings
            .watcher
            .as_ref()
            .and_then(|command| Watcher::start(command, &self.id, directory).ok());
        let own = if self.settings.cgroups { Hierarchies::discover() } else { Hierarchies::default() };
        Surroundings { own, bases: Mutex::default(), watcher }
    }

    /// The group of this run below `parent`, made and noted on first use. `None` where none can be made.
    fn base(&self, parent: Option<&Path>) -> Option<PathBuf> {
        let parent = parent?;
        let name = format!("haft-{}", self.id);
        let path = parent.join(&name);
        let surroundings = self.surroundings.get()?;
        let mut bases = surroundings.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if !bases.iter().any(|cgroup| cgroup.path() == path) {
            // Either note is enough, and a group that nothing remembers is better than none: at worst it stays, empty.
            let _ = self.run.as_ref().map(|run| run.note_cgroup(&path));
            surroundings.watcher.iter().for_each(|watcher| watcher.note_cgroup(&path));
            let cgroup = Cgroup::create(parent, &name).ok()?;
            for controller in ["+pids", "+memory"] {
                let _ = cgroup.set("cgroup.subtree_control", controller);
            }
            bases.push(cgroup);
        }
        Some(path)
    }
}

/// A name for a run without a directory: the process, and the time.
fn anonymous_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("run-{}-{:x}", std::process::id(), now.as_nanos())
}

/// Ends the processes and removes the files of runs whose owners are dead. Returns how many runs there were.
///
/// # Errors
/// When the directory cannot be read, or is not ours alone.
pub fn clean_stale(base: &Path) -> Result<usize, Error> {
    let runs = crate::rundir::stale(base)
        .map_err(|error| Error::new(crate::error::ErrorKind::System, error.to_string()))?;
    let count = runs.len();
    for run in runs {
        crate::watcher::end_run(&run);
        let _ = run.remove();
    }
    crate::rundir::remove_private_base(base);
    Ok(count)
}

/// Does the same for the bases with random names that [`HostBuilder::private_directory`] makes below `parent`.
pub fn clean_stale_private(parent: &Path) -> usize {
    let bases = crate::rundir::private_bases(parent);
    bases.iter().filter_map(|base| clean_stale(base).ok()).sum()
}
