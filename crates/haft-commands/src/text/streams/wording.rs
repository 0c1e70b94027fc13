//! The words of messages about files.

use crate::text::name::{quoted, quoted_always};

/// How a command words that a file cannot be opened or read.
#[derive(Clone, Copy)]
pub(crate) enum Wording {
    /// `NAME: REASON`
    Plain,
    /// `cannot open 'NAME' for reading: REASON` and `error reading 'NAME': REASON`
    Reading,
    /// `failed to open 'NAME' for reading: REASON` and `NAME: read error: REASON`
    Failed,
    /// `NAME: REASON` and `error reading 'NAME'`
    NoReason,
    /// `cannot open NAME: REASON` and `NAME: LINE: REASON`
    Unquoted,
    /// `NAME: REASON` and `read error: REASON`
    ReadError,
    /// `NAME: REASON` and `NAME: read error`
    ChecksumList,
    /// `NAME: REASON`, with status 2.
    Grep,
    /// `can't read NAME: REASON` and `read error on NAME: REASON`, with status 4.
    Sed,
    /// No message, with status 2.
    Silent,
    /// `error: Could not open file NAME: REASON` and `error: REASON`, with status 2.
    Jq,
    /// `open failed: NAME: REASON` and `read failed: NAME: REASON`, with status 2.
    Sort,
}

impl Wording {
    pub(super) fn open_failed(self, name: &[u8]) -> String {
        match self {
            Self::Plain | Self::NoReason | Self::ReadError | Self::ChecksumList => quoted(name),
            Self::Reading => format!("cannot open {} for reading", quoted_always(name)),
            Self::Failed => format!("failed to open {} for reading", quoted_always(name)),
            Self::Unquoted => format!("cannot open {}", String::from_utf8_lossy(name)),
            Self::Grep | Self::Silent => String::from_utf8_lossy(name).into_owned(),
            Self::Sed => format!("can't read {}", String::from_utf8_lossy(name)),
            Self::Jq => format!("error: Could not open file {}", String::from_utf8_lossy(name)),
            Self::Sort => format!("open failed: {}", quoted(name)),
        }
    }

    pub(super) fn read_failed(self, name: &[u8]) -> String {
        let name = if name == b"-" && !matches!(self, Self::Sort) { b"standard input" } else { name };
        match self {
            Self::Plain => quoted(name),
            Self::Reading | Self::NoReason => format!("error reading {}", quoted_always(name)),
            Self::Failed | Self::ChecksumList => format!("{}: read error", quoted(name)),
            Self::ReadError => "read error".to_owned(),
            Self::Jq => "error".to_owned(),
            Self::Unquoted => format!("{}: 0", String::from_utf8_lossy(name)),
            Self::Sed => format!("read error on {}", String::from_utf8_lossy(name)),
            Self::Grep | Self::Silent => String::from_utf8_lossy(name).into_owned(),
            Self::Sort => format!("read failed: {}", quoted(name)),
        }
    }

    pub(super) fn write_failed(self) -> &'static str {
        match self {
            Self::Sort => "write failed: 'standard output'",
            Self::Jq => "error: writing output failed",
            _ => "write error",
        }
    }

    /// The exit status after an error.
    pub(super) fn failure(self) -> i32 {
        match self {
            Self::Sed => 4,
            Self::Sort | Self::Grep | Self::Silent | Self::Jq => 2,
            _ => 1,
        }
    }
}
