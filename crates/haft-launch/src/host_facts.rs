//! What a launch is told about the world: nothing here is looked up by this crate itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use haft_config::trust::TrustStore;
use haft_process::{Environment, find_program};

/// The world of a launch, as data.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// Where the agent shall start.
    pub working_directory: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory that holds the project's `.haft`.
    pub project: Option<PathBuf>,
    /// The environment that agents and commands get.
    pub environment: Environment,
    /// The user's name.
    pub user: String,
    /// The machine's name.
    pub hostname: String,
    /// Today.
    pub date: String,
    /// Now.
    pub datetime: String,
    /// The path of the running haft, which agents are told to use.
    pub haft: PathBuf,
    /// What of projects the user trusts, and whose files are read.
    pub trust: TrustStore,
}

impl HostFacts {
    /// The top of the project: where its `.haft` is, else its repository, else where the agent starts.
    pub fn root(&self) -> &Path {
        let repository = || self.working_directory.ancestors().find(|above| above.join(".git").exists());
        self.project.as_deref().or_else(repository).unwrap_or(&self.working_directory)
    }

    /// Where a program is, if it is there and may be run.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.environment.get("PATH");
        let found = find_program(OsStr::new(program), path, Some(&self.working_directory)).ok()?;
        let location = self.working_directory.join(&found);
        // What has a slash is taken as it is, there or not.
        location.is_file().then_some(found)
    }

    /// The shell that runs commands unless another is configured.
    pub(crate) fn shell(&self) -> String {
        if self.find("bash").is_some() { "bash".to_owned() } else { "sh".to_owned() }
    }

    /// The value of a placeholder that is the same for all texts.
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
