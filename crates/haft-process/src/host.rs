//! Resources that an application sets up once and all its jobs share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use crate::capture::{CaptureLimits, Output, SpillDirectory};
use crate::cgroup::{self, Cgroup, Hierarchies};
use crate::command::Command;
use crate::error::Error;
use crate::permission::StartPermission;
use crate::proc::ProcessEntry;
use crate::reaper;
use crate::rundir::RunDirectory;
use crate::scope::{Containment, Scope};
use crate::watcher::Watcher;

/// The environment of jobs: a directory for large outputs, control groups, a subreaper and a watcher.
///
/// [`Host::plain`] uses none of these and changes no setting of the process. An application sets them up with a
/// [`HostBuilder`]. Clones share all resources, which are removed with the last clone and the last job.
#[derive(Clone, Debug)]
pub struct Host {
    inner: Arc<HostInner>,
    permission: StartPermission,
    /// Limits of every job.
    limits: ScopeLimits,
}

#[derive(Debug)]
struct HostInner {
    id: String,
    counter: AtomicU64,
    settings: HostBuilder,
    warnings: Vec<String>,
    // Dropped in this order: if this process is killed meanwhile, the watcher removes the rest.
    groups: HostGroups,
    run: Option<RunDirectory>,
    /// Started for the first scope, because not every run starts a process.
    watcher: OnceLock<Option<Watcher>>,
}

/// The control groups of a host.
#[derive(Debug, Default)]
struct HostGroups {
    /// The control groups of this process, found for the first scope.
    own: OnceLock<Hierarchies>,
    /// The groups created in those, one per hierarchy, which contain the groups of scopes.
    bases: Mutex<Vec<Cgroup>>,
}

/// Limits for all processes of a scope together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeLimits {
    /// Maximum number of threads at once.
    pub processes: Option<u64>,
    /// Maximum memory in bytes.
    pub memory: Option<u64>,
    /// Maximum CPU time of each process.
    pub cpu: Option<Duration>,
    /// Maximum of the [`DiskMeter`](crate::DiskMeter) of a job.
    pub disk: Option<u64>,
    /// Maximum number of bytes that members write to files. What this process writes itself counts too.
    pub written: Option<u64>,
    /// Maximum CPU time of all members together. That of this process counts too.
    pub total_cpu: Option<Duration>,
    /// Maximum number of bytes of captured output.
    pub output: Option<u64>,
    /// Whether reaching any limit ends the whole run. Otherwise limits on memory, processes and CPU time refuse or kill single processes.
    pub ends_run: bool,
    /// Whether to refuse the start unless the kernel enforces every limit for all processes together.
    pub strict: bool,
}

impl ScopeLimits {
    /// Returns the lower of each limit.
    #[must_use]
    pub fn lower(self, other: ScopeLimits) -> ScopeLimits {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            [one, other].into_iter().flatten().min()
        }
        ScopeLimits {
            processes: least(self.processes, other.processes),
            memory: least(self.memory, other.memory),
            cpu: least(self.cpu, other.cpu),
            disk: least(self.disk, other.disk),
            written: least(self.written, other.written),
            total_cpu: least(self.total_cpu, other.total_cpu),
            output: least(self.output, other.output),
            ends_run: self.ends_run || other.ends_run,
            strict: self.strict || other.strict,
        }
    }
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
    /// Creates a run directory in `base`: a private directory for large outputs, and for notes that allow a clean-up after a
    /// crash. If called more than once, the first base that can be used is taken.
    #[must_use]
    pub fn run_directory(mut self, base: impl Into<PathBuf>) -> HostBuilder {
        self.run_directories.push(base.into());
        self
    }

    /// Creates a base with a random name in `parent`, if none of the [bases](HostBuilder::run_directory) can be used, for
    /// example because another user has created a directory of that name. It is removed with the host.
    #[must_use]
    pub fn private_directory(mut self, parent: impl Into<PathBuf>) -> HostBuilder {
        self.private_parents.push(parent.into());
        self
    }

    /// Uses control groups, if they can be created. They are recorded in the run directory and by the watcher, so that they
    /// are removed after a crash.
    #[must_use]
    pub fn cgroups(mut self) -> HostBuilder {
        self.cgroups = true;
        self
    }

    /// Makes this process a [subreaper](crate::become_subreaper). This is a process-wide setting.
    #[must_use]
    pub fn subreaper(mut self) -> HostBuilder {
        self.subreaper = true;
        self
    }

    /// Starts a watcher: a second process that cleans up if this one is killed. The command must call
    /// [`watch`](crate::watch).
    #[must_use]
    pub fn watcher(mut self, command: Command) -> HostBuilder {
        self.watcher = Some(command);
        self
    }

    /// Makes the host. Works without the resources that cannot be set up, and adds a [warning](Host::warnings) for each.
    pub fn build(self) -> Host {
        let mut warnings = Vec::new();
        if self.subreaper
            && let Err(error) = reaper::become_subreaper()
        {
            warnings.push(error.to_string());
        }
        let run = self.create_run_directory(&mut warnings);
        let id = run.as_ref().map_or_else(anonymous_id, |run| run.id().as_str().to_owned());
        let counter = AtomicU64::new(0);
        let inner = HostInner {
            id,
            counter,
            settings: self,
            warnings,
            groups: HostGroups::default(),
            run,
            watcher: OnceLock::new(),
        };
        Host { inner: Arc::new(inner), permission: StartPermission::all(), limits: ScopeLimits::default() }
    }

    /// Creates the first run directory that can be created. Without one, large outputs are kept in memory files.
    fn create_run_directory(&self, warnings: &mut Vec<String>) -> Option<RunDirectory> {
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
    /// Makes a host that keeps outputs in memory and changes no setting of this process. Processes that outlive their job are
    /// noticed only if they keep its output open.
    pub fn plain() -> Host {
        Host::builder().build()
    }

    /// Returns a builder without any resources.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Returns a host with the same resources that starts only programs that `permission` allows too.
    #[must_use]
    pub fn restricted(&self, permission: &StartPermission) -> Host {
        Host { permission: self.permission.and(permission), ..self.clone() }
    }

    /// Returns a host with the same resources whose jobs also have these limits.
    #[must_use]
    pub fn limited(&self, limits: ScopeLimits) -> Host {
        Host { limits: self.limits.lower(limits), ..self.clone() }
    }

    /// Returns the limits of all jobs.
    pub(crate) fn limits(&self) -> ScopeLimits {
        self.limits
    }

    /// Returns which programs may be started.
    pub fn permission(&self) -> &StartPermission {
        &self.permission
    }

    /// Returns the id of the host, with which the ids of its scopes begin.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// Returns a message for each resource that could not be set up.
    pub fn warnings(&self) -> &[String] {
        &self.inner.warnings
    }

    /// Makes a scope.
    pub fn scope(&self, limits: ScopeLimits) -> Scope {
        let number = self.inner.counter.fetch_add(1, Ordering::Relaxed) + 1;
        self.inner.watcher.get_or_init(|| self.inner.start_watcher());
        let own = self.inner.groups.own.get_or_init(|| self.inner.find_groups());
        let hierarchies = Hierarchies {
            unified: self.inner.base(own.unified.as_deref()),
            pids: self.inner.base(own.pids.as_deref().filter(|_| limits.processes.is_some())),
            memory: self.inner.base(own.memory.as_deref().filter(|_| limits.memory.is_some())),
        };
        let containment = Containment { host: Some(self.clone()), hierarchies, limits };
        Scope::with(format!("{}.{number}", self.inner.id), containment)
    }

    /// Reports processes that could not be killed to the watcher.
    pub(crate) fn report_survivors(&self, left: &[ProcessEntry]) {
        self.inner.watcher().into_iter().for_each(|watcher| watcher.report_survivors(left));
    }

    /// Makes an output that spills into the run directory or into memory files.
    pub fn output(&self, limits: CaptureLimits) -> Output {
        let directory = self.inner.run.as_ref().and_then(|run| run.spill_directory().ok());
        let memory = || (!self.inner.settings.run_directories.is_empty()).then(SpillDirectory::memory);
        Output::new(limits, directory.map(SpillDirectory::or_memory).or_else(memory))
    }
}

impl HostInner {
    fn start_watcher(&self) -> Option<Watcher> {
        let directory = self.run.as_ref().map(RunDirectory::path);
        Watcher::start(self.settings.watcher.as_ref()?, &self.id, directory).ok()
    }

    fn watcher(&self) -> Option<&Watcher> {
        self.watcher.get()?.as_ref()
    }

    fn find_groups(&self) -> Hierarchies {
        if self.settings.cgroups { Hierarchies::discover() } else { Hierarchies::default() }
    }

    /// Returns the host's group in `parent`, or `None` if it cannot be created. Creates and records it on the first call.
    fn base(&self, parent: Option<&Path>) -> Option<PathBuf> {
        let parent = parent?;
        let name = format!("haft-{}", self.id);
        let path = parent.join(&name);
        let mut bases = self.groups.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if !bases.iter().any(|cgroup| cgroup.path() == path) {
            // One record is enough. A group without a record is better than no group: at worst it stays, empty.
            let _ = self.run.as_ref().map(|run| run.record_cgroup(&path));
            self.watcher().into_iter().for_each(|watcher| watcher.report_cgroup(&path));
            let cgroup = Cgroup::create(parent, &name).ok()?;
            cgroup.lock();
            cgroup::remove_stale(parent);
            for controller in ["+pids", "+memory"] {
                let _ = cgroup.set("cgroup.subtree_control", controller);
            }
            bases.push(cgroup);
        }
        Some(path)
    }
}

/// Makes an id from pid and time, for a host without a run directory.
fn anonymous_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("run-{}-{:x}", std::process::id(), now.as_nanos())
}

/// Ends the processes and removes the run directories of dead owners in `base`. Returns the number of runs.
///
/// # Errors
/// Fails if `base` cannot be read or is not private to this user.
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

/// Like [`clean_stale`], for the bases that [`HostBuilder::private_directory`] created in `parent`.
pub fn clean_stale_private(parent: &Path) -> usize {
    let bases = crate::rundir::private_bases(parent);
    bases.iter().filter_map(|base| clean_stale(base).ok()).sum()
}
