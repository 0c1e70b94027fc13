//! `bash -n`.

use std::fs;
use std::time::Duration;

use haft_process::{Command, Exit, StartPermission};
use tempfile::TempDir;

/// Measures `bash -n` on a text.
pub struct Bash {
    directory: TempDir,
}

impl Bash {
    /// Writes the text to a file for bash.
    pub fn new(text: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        fs::write(directory.path().join("text"), text).expect("the text is written");
        fs::write(directory.path().join("empty"), "").expect("nothing is written");
        Self { directory }
    }

    /// Returns the processor time that bash takes to parse the text, without its start-up time.
    pub fn time(&self) -> Duration {
        self.run("text").saturating_sub(self.run("empty"))
    }

    fn run(&self, name: &str) -> Duration {
        let mut command = Command::new("/bin/bash");
        command.arguments(["-n".as_ref(), self.directory.path().join(name).as_os_str()]);
        let started = command.spawn(&StartPermission::all());
        let (exit, usage) = started.and_then(|mut bash| bash.wait()).expect("bash runs");
        assert_eq!(exit, Exit::Code(0), "bash accepts the text");
        usage.user + usage.system
    }
}
