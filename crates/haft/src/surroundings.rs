//! What haft was started with, captured once, as data.

use std::ffi::OsString;
use std::path::PathBuf;

use haft_process::{Environment, Signals};
use rustix::io::fcntl_getfd;

/// Arguments, environment, directory and signal settings at the start.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Environment,
    pub(crate) working_directory: Option<PathBuf>,
    /// Which of the three standard descriptors are open.
    pub(crate) open: [bool; 3],
    /// Signals that were ignored already: a program that haft becomes ignores them too.
    pub(crate) ignored: Signals,
}

impl Surroundings {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the environment and the directory are read"
    )]
    pub(crate) fn capture() -> Surroundings {
        Surroundings {
            arguments: std::env::args_os().collect(),
            environment: Environment::from_pairs(std::env::vars_os()).unwrap_or_default(),
            working_directory: std::env::current_dir().ok(),
            open: [
                fcntl_getfd(rustix::stdio::stdin()).is_ok(),
                fcntl_getfd(rustix::stdio::stdout()).is_ok(),
                fcntl_getfd(rustix::stdio::stderr()).is_ok(),
            ],
            ignored: Signals::ignored_now(),
        }
    }

    /// A variable of the environment, unless it is empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&std::ffi::OsStr> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }
}
