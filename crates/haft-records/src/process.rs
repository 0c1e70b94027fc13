//! Processes that are identified beyond the reuse of their pid.

use std::fs;
use std::sync::LazyLock;

use crate::chain::ChainHash;
use crate::record::RecordedProcess;

/// The number of digits of a boot's identity.
const BOOT_DIGITS: usize = 8;
/// The position of the state and of the start time among the fields after the name in `/proc/PID/stat`.
const STATE_FIELD: usize = 0;
const START_FIELD: usize = 19;

/// Identifies the boot and the PID namespace of this process.
static BOOT: LazyLock<String> = LazyLock::new(|| {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let whole = [boot.as_slice(), namespace.as_os_str().as_encoded_bytes()].concat();
    let digits = ChainHash::of(&whole).to_hex();
    String::from_utf8_lossy(&digits[..BOOT_DIGITS]).into_owned()
});

impl RecordedProcess {
    /// This process.
    #[must_use]
    pub fn current() -> RecordedProcess {
        let pid = rustix::process::getpid().as_raw_pid();
        RecordedProcess { pid, started: start_time(pid).unwrap_or(0), boot: BOOT.clone() }
    }

    /// Whether the process still runs. A process of another boot or PID namespace does not.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.boot == *BOOT && self.started != 0 && start_time(self.pid) == Some(self.started)
    }
}

/// The start time of a process that has not ended, in clock ticks since boot.
fn start_time(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.nth(STATE_FIELD)?;
    let start = fields.nth(START_FIELD - STATE_FIELD - 1)?;
    if matches!(state, "Z" | "X") { None } else { start.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_another_start_time_or_boot_is_not_the_recorded_one() {
        let own = RecordedProcess::current();
        assert!(own.is_alive());
        assert!(!RecordedProcess { started: own.started + 1, ..own.clone() }.is_alive());
        assert!(!RecordedProcess { boot: "00000000".to_owned(), ..own }.is_alive());
    }
}
