//! Changes of the real tree that an overlay does not know.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path that changed in the real tree after the overlay was opened.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The absolute path.
    #[serde(with = "crate::record::path_bytes")]
    #[schemars(with = "PathBuf")]
    pub path: PathBuf,
    /// The change that someone else made.
    pub kind: ConflictKind,
}

/// A change to a path in the real tree.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConflictKind {
    /// It was changed or replaced.
    Changed,
    /// It was created.
    Created,
    /// It was removed.
    Removed,
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ConflictKind::Changed => "changed",
            ConflictKind::Created => "created",
            ConflictKind::Removed => "removed",
        };
        write!(formatter, "{} ({kind})", self.path.display())
    }
}
