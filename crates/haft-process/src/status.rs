//! Exit status and resource usage of a process.

use std::time::Duration;

use serde::Serialize;

use crate::sys::RawExit;

/// A shell adds this to the number of a signal that killed a program.
pub(crate) const SIGNAL_STATUS_BASE: i32 = 128;

/// The exit status of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The process exited with this code.
    Code(i32),
    /// The process was killed by this signal.
    Signal(i32),
}

impl Exit {
    /// Returns the status that a shell shows: the exit code, or 128 plus the signal number.
    pub fn code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => SIGNAL_STATUS_BASE + signal,
        }
    }

    /// Whether the exit code is 0.
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }

    pub(crate) fn from_raw(raw: &RawExit) -> Exit {
        match (raw.code, raw.signal) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(libc::SIGKILL)),
        }
    }
}

/// Resource usage of a process, including descendants that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Usage {
    /// User CPU time, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub user: Duration,
    /// System CPU time, in seconds.
    #[serde(serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub system: Duration,
    /// Maximum resident set size of one of these processes, in bytes.
    pub max_rss: u64,
    /// Bytes written to files.
    #[serde(skip)]
    pub(crate) written: u64,
}

impl Usage {
    pub(crate) fn from_raw(raw: &RawExit) -> Usage {
        Usage { user: raw.user, system: raw.system, max_rss: raw.max_rss, written: raw.written }
    }
}

/// Serializes a duration in seconds, with a precision of microseconds.
///
/// # Errors
/// Fails if the serializer fails.
pub fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_micros() as f64 / 1e6)
}
