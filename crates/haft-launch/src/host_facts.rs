//! Facts about the machine, the user and the project, provided by the caller.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use haft_config::trust::TrustStore;
use haft_process::{Environment, find_program};

/// Facts about the machine, the user and the project. This crate does not look them up itself.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// Working directory of the agent.
    pub working_directory: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory that holds the project's `.haft`.
    pub project: Option<PathBuf>,
    /// Environment of agents and commands.
    pub environment: Environment,
    /// The user's name.
    pub user: String,
    /// The machine's name.
    pub hostname: String,
    /// The current date.
    pub date: String,
    /// The current date and time.
    pub datetime: String,
    /// Path of the haft executable, for the agent's MCP configuration.
    pub haft: PathBuf,
    /// The user's trust store.
    pub trust: TrustStore,
}

impl HostFacts {
    /// The project root: the directory of `.haft`, else the git repository, else the working directory.
    pub fn root(&self) -> &Path {
        let repository = || self.working_directory.ancestors().find(|above| above.join(".git").exists());
        self.project.as_deref().or_else(repository).unwrap_or(&self.working_directory)
    }

    /// Finds an executable program by name or path.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.environment.get("PATH");
        let found = find_program(OsStr::new(program), path, Some(&self.working_directory)).ok()?;
        let location = self.working_directory.join(&found);
        // `find_program` returns a name with a slash even if the file does not exist.
        location.is_file().then_some(found)
    }

    /// The default shell for commands.
    pub(crate) fn shell(&self) -> String {
        if self.find("bash").is_some() { "bash".to_owned() } else { "sh".to_owned() }
    }

    /// The value of a placeholder that does not depend on the text.
    pub(crate) fn fact(&self, name: &str) -> Option<Vec<u8>> {
        let path = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        Some(match name {
            "date" => self.date.clone().into_bytes(),
            "datetime" => self.datetime.clone().into_bytes(),
            "cwd" => path(&self.working_directory),
            "home" => self.home.as_deref().map(path).unwrap_or_default(),
            "user" => self.user.clone().into_bytes(),
            "hostname" => self.hostname.clone().into_bytes(),
            "os" => std::env::consts::OS.as_bytes().to_vec(),
            "shell" => self.variable("SHELL"),
            _ => self.variable(name.strip_prefix("env.")?),
        })
    }

    fn variable(&self, name: &str) -> Vec<u8> {
        self.environment.get(name).map(|value| value.as_encoded_bytes().to_vec()).unwrap_or_default()
    }
}
