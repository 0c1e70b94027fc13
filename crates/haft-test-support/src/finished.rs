//! The result of a `haft` process.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;

/// The result of a `haft` process, with methods that assert properties of it.
#[derive(Debug)]
pub struct FinishedHaft {
    /// The command line, for messages.
    pub(crate) call: String,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) duration: Duration,
}

impl FinishedHaft {
    /// Returns the exit status, or `None` if a signal killed the process.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts the exit status.
    #[track_caller]
    pub fn status(self, code: i32) -> FinishedHaft {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Asserts that a signal killed the process.
    #[track_caller]
    pub fn killed_by(self, signal: i32) -> FinishedHaft {
        assert_eq!(self.status.signal(), Some(signal), "{self}");
        self
    }

    /// Asserts the exact standard output.
    #[track_caller]
    pub fn stdout(self, expected: impl AsRef<[u8]>) -> FinishedHaft {
        assert_eq!(self.stdout, expected.as_ref(), "standard output\n{self}");
        self
    }

    /// Asserts the exact standard error.
    #[track_caller]
    pub fn stderr(self, expected: impl AsRef<[u8]>) -> FinishedHaft {
        assert_eq!(self.stderr, expected.as_ref(), "standard error\n{self}");
        self
    }

    /// Asserts that standard error contains a text.
    #[track_caller]
    pub fn stderr_has(self, expected: &str) -> FinishedHaft {
        assert!(self.error_text().contains(expected), "'{expected}' is missing\n{self}");
        self
    }

    /// Asserts a maximum duration.
    #[track_caller]
    pub fn within(self, limit: Duration) -> FinishedHaft {
        assert!(self.duration <= limit, "took {:?}\n{self}", self.duration);
        self
    }

    /// Asserts a minimum duration.
    #[track_caller]
    pub fn not_before(self, limit: Duration) -> FinishedHaft {
        assert!(self.duration >= limit, "took {:?}\n{self}", self.duration);
        self
    }

    /// Returns standard output as bytes.
    pub fn output(&self) -> &[u8] {
        &self.stdout
    }

    /// Returns standard output as text.
    pub fn output_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns standard error as text.
    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Parses standard output as one JSON object on one line.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line\n{self}");
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Parses standard output as the report of a child.
    #[track_caller]
    pub fn report(&self) -> crate::ChildReport {
        crate::ChildReport::parse(&self.stdout)
    }
}

impl std::fmt::Display for FinishedHaft {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned();
        writeln!(formatter, "call: {}", self.call)?;
        writeln!(formatter, "status: {} after {:?}", self.status, self.duration)?;
        writeln!(formatter, "stdout: {}", shown(&self.stdout))?;
        write!(formatter, "stderr: {}", shown(&self.stderr))
    }
}
