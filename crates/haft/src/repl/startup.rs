//! The initial state of an interactive shell.

use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use haft_kernel::{Session, Terminal};
use rustix::termios::tcgetwinsize;

use super::history_file::MAX_HISTORY_ENTRIES;
use super::{StartupPaths, prompt};

/// How the shell starts.
#[derive(Clone, Debug)]
pub(crate) struct ReplSetup {
    pub(crate) places: StartupPaths,
    /// Whether this is a login shell, which runs profiles.
    pub(crate) login: bool,
    /// Whether the line editor is used.
    pub(crate) editing: bool,
    pub(crate) colours: bool,
    /// The terminal that is shared with jobs.
    pub(crate) terminal: Option<Arc<Terminal>>,
}

impl ReplSetup {
    /// The startup files in order: the profiles of a login shell, then the rc file.
    pub(super) fn files(&self) -> Vec<Vec<u8>> {
        let profiles = self.places.profiles.iter().filter(|_| self.login);
        profiles.chain(&self.places.rc).map(|path: &PathBuf| path.as_os_str().as_bytes().to_vec()).collect()
    }
}

/// Sets the variables that the rc file can change.
pub(super) fn prepare(session: &mut Session, setup: &ReplSetup) {
    session.set_interactive();
    if setup.terminal.is_some() {
        session.control_jobs();
    }
    let first = if setup.colours { prompt::DEFAULT_PS1 } else { prompt::DEFAULT_PS1_PLAIN };
    for (name, value) in [("PS1", first), ("PS2", prompt::DEFAULT_PS2)] {
        if session.value(name.as_bytes()).is_none() {
            let _ = session.set(name.as_bytes(), value);
        }
    }
    if let Some(history) = &setup.places.history {
        let _ = session.set(b"HISTFILE", history.as_os_str().as_bytes());
    }
    if session.value(b"HISTSIZE").is_none() {
        let _ = session.set(b"HISTSIZE", MAX_HISTORY_ENTRIES.to_string());
    }
}

/// Sets `COLUMNS` and `LINES`.
pub(super) fn set_window(session: &mut Session, terminal: BorrowedFd<'_>) {
    if let Ok(size) = tcgetwinsize(terminal)
        && size.ws_col > 0
    {
        let _ = session.set(b"COLUMNS", size.ws_col.to_string());
        let _ = session.set(b"LINES", size.ws_row.to_string());
    }
}
