//! The arguments, environment and descriptors that haft was started with, captured once.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use haft_policy::Budgets;
use haft_process::{Environment, ScopeLimits, StartPermission, looks_secret};
use rustix::fs::{Mode, OFlags};
use rustix::io::fcntl_getfd;
use rustix::stdio::{stderr, stdin, stdout};

use crate::enforcement::ActivePolicy;

/// The process context of haft at its start. Other modules get it as an argument.
#[derive(Clone, Debug)]
pub(crate) struct ProcessContext {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Environment,
    /// Variables that were removed from the environment, since an agent's scripts must not see them.
    pub(crate) withheld: Environment,
    pub(crate) working_directory: Option<PathBuf>,
    /// Which of the three standard descriptors were open.
    pub(crate) open: [bool; 3],
    /// The policy that limits what runs.
    pub(crate) policy: Option<ActivePolicy>,
}

impl ProcessContext {
    #[expect(
        clippy::disallowed_methods,
        reason = "the only place that reads the environment and the working directory"
    )]
    pub(crate) fn capture() -> ProcessContext {
        let mut environment = Environment::new();
        for (name, value) in std::env::vars_os() {
            // An entry with an invalid name is skipped.
            let _ = environment.set(name, value);
        }
        ProcessContext {
            arguments: std::env::args_os().collect(),
            environment,
            withheld: Environment::new(),
            working_directory: std::env::current_dir().ok(),
            open: open_standard_descriptors(),
            policy: None,
        }
    }

    /// The logical working directory: `PWD` if it names the working directory, else the physical path.
    pub(crate) fn logical_directory(&self) -> Option<PathBuf> {
        use std::os::unix::fs::MetadataExt as _;
        let directory = self.working_directory.clone()?;
        let identity =
            |path: &std::path::Path| std::fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
        let named = self.variable("PWD").map(PathBuf::from).filter(|named| named.is_absolute());
        match named {
            Some(named) if named != directory && identity(&named) == identity(&directory) => Some(named),
            _ => Some(directory),
        }
    }

    /// The working directory; if it was removed, the path that the kernel still shows for it.
    pub(crate) fn directory_or_link(&self) -> Option<PathBuf> {
        self.working_directory.clone().or_else(|| std::fs::read_link("/proc/self/cwd").ok())
    }

    /// Moves variables that look like keys to `withheld`, except for the allowed names; `*` allows all.
    pub(crate) fn withhold_keys(&mut self, allowed: &[String]) {
        let is_allowed =
            |name: &OsStr| allowed.iter().any(|allowed| allowed == "*" || OsStr::new(allowed) == name);
        self.withhold(|name, is_secret| is_secret && !is_allowed(name));
    }

    /// Moves variables to `withheld`. The function gets a name and whether the variable looks like a key.
    pub(crate) fn withhold(&mut self, is_withheld: impl Fn(&OsStr, bool) -> bool) {
        let keys =
            self.environment.iter().filter(|(name, value)| is_withheld(name, looks_secret(name, value)));
        for (name, value) in keys {
            let _ = self.withheld.set(name, value);
        }
        for (name, _) in self.withheld.iter() {
            self.environment.remove(name);
        }
    }

    /// Which programs may be started.
    pub(crate) fn permission(&self) -> StartPermission {
        self.policy.as_ref().map_or(StartPermission::all(), |policy| policy.permission().clone())
    }

    /// How much a run may use.
    pub(crate) fn budgets(&self) -> Budgets {
        self.policy.as_ref().map(ActivePolicy::budgets).unwrap_or_default()
    }

    /// The limits of every job that the budgets set. Exceeding one of them ends the job.
    pub(crate) fn job_limits(&self) -> ScopeLimits {
        let budgets = self.budgets();
        ScopeLimits {
            processes: budgets.processes,
            memory: budgets.memory,
            cpu: budgets.cpu,
            total_cpu: budgets.cpu,
            written: budgets.disk,
            output: budgets.output,
            ends_run: budgets != Budgets::default(),
            ..ScopeLimits::default()
        }
    }

    /// All variables, including the withheld ones.
    pub(crate) fn whole_environment(&self) -> Environment {
        let mut whole = self.environment.clone();
        for (name, value) in self.withheld.iter() {
            let _ = whole.set(name, value);
        }
        whole
    }

    /// The value of an environment variable, unless it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }
}

/// Returns which standard descriptors are open. Opens `/dev/null` for the closed ones, so that no other file gets their
/// numbers.
fn open_standard_descriptors() -> [bool; 3] {
    let open = [stdin(), stdout(), stderr()].map(|descriptor| fcntl_getfd(descriptor).is_ok());
    for _ in open.iter().filter(|open| !**open) {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        std::mem::forget(null);
    }
    open
}
