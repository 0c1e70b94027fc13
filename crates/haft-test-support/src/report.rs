//! What a child says it was given.

use std::path::PathBuf;

use serde_json::Value;

/// The answer of the child's `report` mode.
#[derive(Clone, Debug)]
pub struct Report(Value);

impl Report {
    /// Reads the answer.
    pub fn parse(text: impl AsRef<[u8]>) -> Report {
        let text = text.as_ref();
        let shown = String::from_utf8_lossy(text);
        Report(serde_json::from_slice(text).unwrap_or_else(|error| panic!("no report: {error}: '{shown}'")))
    }

    /// A number: `pid`, `ppid`, `pgid`, `sid`, `tty`, `foreground`, `nice`, `no_new_privileges`,
    /// `seccomp`.
    pub fn number(&self, name: &str) -> i64 {
        self.0[name].as_i64().unwrap_or_else(|| panic!("no number '{name}'"))
    }

    /// A list of numbers: `blocked`, `ignored`, `caught` signals.
    pub fn numbers(&self, name: &str) -> Vec<i64> {
        self.list(name).iter().filter_map(Value::as_i64).collect()
    }

    /// A list of texts: `argv`, `env`.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The open descriptors, in order, each with what it leads to.
    pub fn descriptors(&self) -> Vec<(i32, String)> {
        let found = self.0["fds"].as_object().expect("descriptors").iter();
        found
            .map(|(number, target)| {
                (number.parse().expect("a number"), target.as_str().unwrap_or("").to_owned())
            })
            .collect()
    }

    /// The numbers of the open descriptors.
    pub fn descriptor_numbers(&self) -> Vec<i32> {
        self.descriptors().into_iter().map(|(number, _)| number).collect()
    }

    /// The working directory.
    pub fn directory(&self) -> PathBuf {
        PathBuf::from(self.0["cwd"].as_str().unwrap_or_default())
    }

    /// The value of an environment variable.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.texts("env")
            .iter()
            .find_map(|entry| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    /// A soft limit by the kernel's name for it, such as `Max open files`.
    pub fn limit(&self, name: &str) -> String {
        self.0["limits"][name].as_str().unwrap_or_default().to_owned()
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().unwrap_or_else(|| panic!("no list '{name}'"))
    }
}
