//! How a process ended and what it cost.

use std::time::Duration;

use serde::Serialize;

use crate::sys::RawExit;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// The status a shell shows: the code, or 128 plus the signal.
    pub fn code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
        }
    }

    /// Whether it exited with 0.
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

/// What a process and the descendants it waited for used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Time on the processor in user code, in seconds.
    #[serde(serialize_with = "seconds")]
    pub user: Duration,
    /// Time on the processor in the kernel, in seconds.
    #[serde(serialize_with = "seconds")]
    pub system: Duration,
    /// The largest resident set of one of them, in bytes.
    pub max_rss: u64,
}

impl Usage {
    pub(crate) fn from_raw(raw: &RawExit) -> Usage {
        Usage { user: raw.user, system: raw.system, max_rss: raw.max_rss }
    }
}

/// Durations are shown in seconds, to the microsecond.
///
/// # Errors
/// Those of the serializer.
pub fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_micros() as f64 / 1e6)
}
