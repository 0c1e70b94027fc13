//! The report of a child about its arguments, environment and settings.

use std::path::PathBuf;

use serde_json::Value;

/// The output of the child's `report` mode.
#[derive(Clone, Debug)]
pub struct ChildReport(Value);

impl ChildReport {
    /// Parses a report.
    pub fn parse(text: impl AsRef<[u8]>) -> ChildReport {
        let text = text.as_ref();
        let shown = String::from_utf8_lossy(text);
        ChildReport(
            serde_json::from_slice(text).unwrap_or_else(|error| panic!("no report: {error}: '{shown}'")),
        )
    }

    /// Returns a number: `pid`, `ppid`, `pgid`, `sid`, `tty`, `foreground`, `nice`, `no_new_privileges`,
    /// `seccomp`.
    pub fn number(&self, name: &str) -> i64 {
        self.0[name].as_i64().unwrap_or_else(|| panic!("no number '{name}'"))
    }

    /// Returns a list of numbers: `blocked`, `ignored` or `caught` signals.
    pub fn numbers(&self, name: &str) -> Vec<i64> {
        self.list(name).iter().filter_map(Value::as_i64).collect()
    }

    /// Returns a list of texts: `argv` or `env`.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the open descriptors with their targets, in order.
    pub fn descriptors(&self) -> Vec<(i32, String)> {
        let found = self.0["fds"].as_object().expect("descriptors").iter();
        found
            .map(|(number, target)| {
                (number.parse().expect("a number"), target.as_str().unwrap_or("").to_owned())
            })
            .collect()
    }

    /// Returns the numbers of the open descriptors.
    pub fn descriptor_numbers(&self) -> Vec<i32> {
        self.descriptors().into_iter().map(|(number, _)| number).collect()
    }

    /// Returns the working directory.
    pub fn directory(&self) -> PathBuf {
        PathBuf::from(self.0["cwd"].as_str().unwrap_or_default())
    }

    /// Returns the value of an environment variable.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.texts("env")
            .iter()
            .find_map(|entry| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    /// Returns a soft limit by its name in `/proc/PID/limits`, such as `Max open files`.
    pub fn limit(&self, name: &str) -> String {
        self.0["limits"][name].as_str().unwrap_or_default().to_owned()
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().unwrap_or_else(|| panic!("no list '{name}'"))
    }
}
