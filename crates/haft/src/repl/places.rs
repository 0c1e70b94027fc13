//! The files of an interactive shell.

use std::path::{Path, PathBuf};

use haft_config::{FileErrorKind, FileRules, MAX_TEXT_BYTES, Owners, printable};

use crate::failure::print_message;
use crate::places;
use crate::process_context::ProcessContext;

/// The startup files and the history file of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StartupPaths {
    /// The rc file.
    pub(crate) rc: Option<PathBuf>,
    /// The history file.
    pub(crate) history: Option<PathBuf>,
    /// The profiles that a login shell runs first.
    pub(crate) profiles: Vec<PathBuf>,
}

impl StartupPaths {
    pub(crate) fn of(process: &ProcessContext) -> Self {
        let places = places::unchecked(process);
        Self {
            rc: places.user.map(|user| user.join("rc")).filter(|rc| is_own(rc)),
            history: places.state.map(|state| state.join("history")),
            profiles: profiles(process, false),
        }
    }
}

/// The profiles of a login shell: that of the system, and the first one of the user that can be read. In POSIX mode, the user has only
/// `.profile`.
pub(crate) fn profiles(process: &ProcessContext, posix: bool) -> Vec<PathBuf> {
    let names = [".bash_profile", ".bash_login", ".profile"].into_iter().skip(if posix { 2 } else { 0 });
    let home = process.variable("HOME").map(Path::new);
    let mut candidates = home.into_iter().flat_map(|home| names.clone().map(|name| home.join(name)));
    let own = candidates.find(|path| std::fs::File::open(path).is_ok());
    std::iter::once(PathBuf::from("/etc/profile")).chain(own).collect()
}

/// Whether a file is missing, or only the user can have written it. Prints a message otherwise.
fn is_own(path: &Path) -> bool {
    let rules = FileRules::up_to(MAX_TEXT_BYTES).owned_by(&Owners::of_process());
    match rules.check(path) {
        Err(error) if error.kind() != FileErrorKind::NotFound => {
            print_message(format_args!("'{}' is not run: {}", printable(path), error.reason()));
            false
        }
        _ => true,
    }
}
