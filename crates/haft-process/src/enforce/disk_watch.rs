//! Watching the space that a run needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes that a run occupies on disk. Its owner measures and sets it.
#[derive(Clone, Debug, Default)]
pub struct DiskMeter(Arc<AtomicU64>);

impl DiskMeter {
    /// Sets the number of bytes.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Compares a meter with a limit.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    pub(crate) limit: u64,
    pub(crate) meter: DiskMeter,
}

impl DiskWatch {
    pub(crate) fn is_over(&self) -> bool {
        self.meter.bytes() > self.limit
    }
}
