//! Limits on the journal.

use std::time::Duration;

/// How much the directory of journals keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalLimits {
    /// Files that were last written longer ago are removed.
    pub max_age: Duration,
    /// The oldest files are removed until the total size is at most this many bytes.
    pub max_size: u64,
}

impl Default for JournalLimits {
    /// 14 days, 256 MiB.
    fn default() -> JournalLimits {
        JournalLimits { max_age: Duration::from_secs(14 * 24 * 3600), max_size: 256 << 20 }
    }
}

impl JournalLimits {
    /// The size from which a writer begins another file: a sixteenth of the total, so that pruning removes small parts.
    pub(crate) fn file_size(self) -> u64 {
        (self.max_size / 16).clamp(64 << 10, 16 << 20)
    }
}
