//! Changes of the times of a file.

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

use crate::Timestamp;

/// The change to one of the times of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeChange {
    /// It stays as it is.
    #[default]
    Keep,
    /// It becomes the current time.
    Now,
    /// It becomes this time.
    At(Timestamp),
}

/// New times for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTimes {
    /// The time of the last read.
    pub accessed: TimeChange,
    /// The time of the last change of the content.
    pub modified: TimeChange,
    /// Whether a symbolic link at the end of the path is changed itself.
    pub keep_link: bool,
}

impl TimeChange {
    /// The new time of a file that had the time `old`.
    pub(crate) fn apply(self, old: Timestamp, now: Timestamp) -> Timestamp {
        match self {
            Self::Keep => old,
            Self::Now => now,
            Self::At(time) => time,
        }
    }

    fn to_system(self) -> Timespec {
        match self {
            Self::Keep => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            Self::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
            Self::At(time) => Timespec { tv_sec: time.seconds, tv_nsec: i64::from(time.nanoseconds) },
        }
    }
}

impl FileTimes {
    pub(crate) fn to_system(self) -> Timestamps {
        Timestamps { last_access: self.accessed.to_system(), last_modification: self.modified.to_system() }
    }
}
