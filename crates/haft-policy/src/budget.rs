//! Budgets: how much a run may use.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Limits of a run. `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budgets {
    /// Elapsed time, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    #[schemars(with = "Option<f64>")]
    pub wall: Option<Duration>,
    /// Processor time of all processes together, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    #[schemars(with = "Option<f64>")]
    pub cpu: Option<Duration>,
    /// Bytes of memory of all processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Processes at one time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Bytes written to disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<u64>,
    /// Bytes of output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

impl Budgets {
    /// Returns the smaller of each limit.
    #[must_use]
    pub fn min(self, other: Budgets) -> Budgets {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Budgets {
            wall: least(self.wall, other.wall),
            cpu: least(self.cpu, other.cpu),
            memory: least(self.memory, other.memory),
            processes: least(self.processes, other.processes),
            disk: least(self.disk, other.disk),
            output: least(self.output, other.output),
            calls: least(self.calls, other.calls),
        }
    }

    /// Replaces the limits that `other` sets.
    pub(crate) fn overridden(self, other: Budgets) -> Budgets {
        Budgets {
            wall: other.wall.or(self.wall),
            cpu: other.cpu.or(self.cpu),
            memory: other.memory.or(self.memory),
            processes: other.processes.or(self.processes),
            disk: other.disk.or(self.disk),
            output: other.output.or(self.output),
            calls: other.calls.or(self.calls),
        }
    }
}

#[expect(clippy::ref_option, reason = "the signature that serde requires")]
fn seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}
