//! JSON that haft prints, described in `docs/json.md`.

use haft_process::{Redactor, StatusReport};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

/// Changes when a field is removed or changes its meaning; new fields leave it as it is.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A result with the version of its schema.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Versioned<T> {
    /// The version of this format: 1.
    pub(crate) schema_version: u32,
    #[serde(flatten)]
    pub(crate) result: T,
}

impl<T> Versioned<T> {
    pub(crate) fn new(result: T) -> Versioned<T> {
        Versioned { schema_version: SCHEMA_VERSION, result }
    }
}

/// Printed with `--json` in place of a result when a command fails, for wrong usage too.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ErrorReport {
    /// Always false.
    pub(crate) ok: bool,
    /// The exit status.
    pub(crate) status: StatusReport,
    /// The reason.
    pub(crate) error: ErrorDetails,
}

/// Why a command failed.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ErrorDetails {
    /// The failure and its reason.
    pub(crate) message: String,
    /// A hint how to solve it.
    pub(crate) hint: Option<String>,
}

impl ErrorReport {
    /// The report of a failure, with keys masked.
    pub(crate) fn new(failure: &Failure, redactor: &Redactor) -> ErrorReport {
        let mask = |text: &String| redactor.text(text).into_owned();
        ErrorReport {
            ok: false,
            status: StatusReport {
                code: failure.status,
                signal: None,
                timed_out: false,
                cancelled: false,
                limit: None,
            },
            error: ErrorDetails { message: mask(&failure.message), hint: failure.hint.as_ref().map(mask) },
        }
    }
}
