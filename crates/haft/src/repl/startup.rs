//! What an interactive shell begins with.

use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use haft_kernel::{Session, Terminal};
use rustix::termios::tcgetwinsize;

use super::{Places, prompt};

/// How a shell was asked to start.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) places: Places,
    /// Whether this is the first shell of a login, which runs its profiles.
    pub(crate) login: bool,
    /// Whether lines are edited.
    pub(crate) editing: bool,
    pub(crate) colours: bool,
    /// The terminal that is shared with jobs.
    pub(crate) terminal: Option<Arc<Terminal>>,
}

impl Setup {
    /// The files to run, in order: profiles of a login, then the rc file.
    pub(super) fn files(&self) -> Vec<Vec<u8>> {
        let profiles = self.places.profiles.iter().filter(|_| self.login);
        profiles.chain(&self.places.rc).map(|path: &PathBuf| path.as_os_str().as_bytes().to_vec()).collect()
    }
}

/// Sets the variables that a person may change in the rc file.
pub(super) fn prepare(session: &mut Session, setup: &Setup) {
    session.set_interactive();
    if setup.terminal.is_some() {
        session.control_jobs();
    }
    let first = if setup.colours { prompt::FIRST } else { prompt::FIRST_PLAIN };
    for (name, value) in [("PS1", first), ("PS2", prompt::NEXT)] {
        if session.value(name.as_bytes()).is_none() {
            let _ = session.set(name.as_bytes(), value);
        }
    }
    if let Some(history) = &setup.places.history {
        let _ = session.set(b"HISTFILE", history.as_os_str().as_bytes());
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
