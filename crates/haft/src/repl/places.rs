//! Where an interactive shell keeps its files.

use std::path::{Path, PathBuf};

use haft_config::{FileErrorKind, FileRules, MAX_TEXT_BYTES, Owners, printable};

use crate::failure::print_message;
use crate::places;
use crate::process_context::ProcessContext;

/// The files of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Commands to run when an interactive shell starts.
    pub(crate) rc: Option<PathBuf>,
    /// What was entered before.
    pub(crate) history: Option<PathBuf>,
    /// What a login shell runs first.
    pub(crate) profiles: Vec<PathBuf>,
}

impl Places {
    pub(crate) fn of(process: &ProcessContext) -> Self {
        let places = places::unchecked(process);
        let own = process.variable("HOME").map(|home| Path::new(home).join(".profile"));
        Self {
            rc: places.user.map(|user| user.join("rc")).filter(|rc| is_own(rc)),
            history: places.state.map(|state| state.join("history")),
            profiles: std::iter::once(PathBuf::from("/etc/profile")).chain(own).collect(),
        }
    }
}

/// Whether a file is one that only the user could have written. One that is not there is no matter.
fn is_own(path: &Path) -> bool {
    let rules = FileRules::up_to(MAX_TEXT_BYTES).owned_by(&Owners::of_process());
    match rules.check(path) {
        Err(error) if error.kind() != FileErrorKind::NotFound => {
            print_message(format_args!("\"{}\" is not run: {}", printable(path), error.reason()));
            false
        }
        _ => true,
    }
}
