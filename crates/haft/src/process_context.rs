//! What haft was started with, captured once, as data.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use haft_process::{Environment, looks_secret};
use rustix::fs::{Mode, OFlags};
use rustix::io::fcntl_getfd;
use rustix::stdio::{stderr, stdin, stdout};

/// Arguments, environment, directory and standard descriptors at the start.
#[derive(Clone, Debug)]
pub(crate) struct ProcessContext {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Environment,
    /// Variables that were taken out of the environment, since the scripts of agents must not have them.
    pub(crate) withheld: Environment,
    pub(crate) working_directory: Option<PathBuf>,
    /// Which of the three standard descriptors are open.
    pub(crate) open: [bool; 3],
}

impl ProcessContext {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the environment and the directory are read"
    )]
    pub(crate) fn capture() -> ProcessContext {
        let mut environment = Environment::new();
        for (name, value) in std::env::vars_os() {
            // An entry that no program could look up is no variable, and no reason to lose the others.
            let _ = environment.set(name, value);
        }
        ProcessContext {
            arguments: std::env::args_os().collect(),
            environment,
            withheld: Environment::new(),
            working_directory: std::env::current_dir().ok(),
            open: open_standard_descriptors(),
        }
    }

    /// The working directory as a shell shows it: by the way it was reached through symbolic links, if `PWD` knows it.
    pub(crate) fn directory_as_reached(&self) -> Option<PathBuf> {
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

    /// Withholds the variables that look like keys, but for those that are allowed by name; `*` allows all.
    pub(crate) fn withhold_keys(&mut self, allowed: &[String]) {
        let is_allowed =
            |name: &OsStr| allowed.iter().any(|allowed| allowed == "*" || OsStr::new(allowed) == name);
        let keys =
            self.environment.iter().filter(|(name, value)| looks_secret(name, value) && !is_allowed(name));
        for (name, value) in keys {
            let _ = self.withheld.set(name, value);
        }
        for (name, _) in self.withheld.iter() {
            self.environment.remove(name);
        }
    }

    /// All variables, withheld or not.
    pub(crate) fn whole_environment(&self) -> Environment {
        let mut whole = self.environment.clone();
        for (name, value) in self.withheld.iter() {
            let _ = whole.set(name, value);
        }
        whole
    }

    /// A variable of the environment, unless it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }
}

/// Which of the standard descriptors are open. In the place of the others `/dev/null` is opened, so that no file of our own
/// gets their numbers and what we write to a person goes nowhere else.
fn open_standard_descriptors() -> [bool; 3] {
    let open = [stdin(), stdout(), stderr()].map(|descriptor| fcntl_getfd(descriptor).is_ok());
    for _ in open.iter().filter(|open| !**open) {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        std::mem::forget(null);
    }
    open
}
