//! `SECONDS` and the time zone.

use std::io::Read as _;
use std::time::{Duration, Instant};

use haft_text::printf::time_zone::LocalZone;

use crate::session::Session;

/// The maximum size of a time zone file.
const MAX_ZONE_FILE_BYTES: u64 = 1 << 20;

/// The clock behind `SECONDS`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// When the shell started, or when `SECONDS` was last assigned.
    start: Instant,
    /// The value of `SECONDS` at that time.
    offset: u64,
}

impl Clock {
    /// A clock that shows 0 now.
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), offset: 0 }
    }

    /// The time since the shell started, or since `SECONDS` was last assigned.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The value of `SECONDS`.
    pub(crate) fn seconds(&self) -> u64 {
        self.elapsed().as_secs().wrapping_add(self.offset)
    }

    /// Assigns `SECONDS`.
    pub(crate) fn set_seconds(&mut self, seconds: u64) {
        *self = Self { start: Instant::now(), offset: seconds };
    }
}

impl Session {
    /// Loads the time zone that `TZ` names.
    #[must_use]
    pub fn time_zone(&self) -> LocalZone {
        let value = self.value(b"TZ");
        LocalZone::load(value.as_deref(), &|path| {
            let mut content = Vec::new();
            let options = haft_fs::OpenOptions::new().read(true);
            let file = self.kernel.files.open(path, &options).ok()?;
            file.take(MAX_ZONE_FILE_BYTES).read_to_end(&mut content).ok()?;
            Some(content)
        })
    }
}
