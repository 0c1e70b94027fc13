//! The controlling terminal, which a shell shares with its jobs.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use haft_process::{Disposition, Signals, own_group, set_disposition};
use rustix::process::{Pid, Signal, getpid, kill_current_process_group, setpgid};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp,
};

/// How often a shell that was started in the background stops itself until it is in the foreground.
const MAX_FOREGROUND_ATTEMPTS: usize = 16;

/// The controlling terminal of an interactive shell. Only a plain shell has one.
#[derive(Debug)]
pub struct Terminal {
    descriptor: OwnedFd,
    /// The process group of the shell.
    own: Pid,
    /// The group that had the terminal before; none if it is outside of this process's PID namespace.
    before: Option<Pid>,
    /// The settings when the shell started.
    first: Option<Termios>,
    /// The settings of the shell, restored after programs that a signal killed.
    modes: Mutex<Option<Termios>>,
}

/// The terminal's foreground process group; `None` if it is outside of this process's PID namespace.
fn foreground_group(descriptor: &OwnedFd) -> io::Result<Option<Pid>> {
    match tcgetpgrp(descriptor) {
        Ok(group) => Ok(Some(group)),
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Terminal {
    /// Makes this process the leader of its own group, and that the foreground group of the terminal. A shell that was started
    /// in the background stops until it is in the foreground.
    ///
    /// # Errors
    /// If it is not the controlling terminal of this process, or the foreground cannot be changed.
    pub fn claim(descriptor: OwnedFd) -> io::Result<Self> {
        let before = own_group().and_then(Pid::from_raw);
        for attempt in 0.. {
            if foreground_group(&descriptor)? == before {
                break;
            }
            if attempt >= MAX_FOREGROUND_ATTEMPTS {
                return Err(rustix::io::Errno::PERM.into());
            }
            let _ = kill_current_process_group(Signal::TTIN);
        }
        // The shell changes the foreground while it is in the background itself.
        set_disposition(Signals::TTOU, Disposition::Ignore).map_err(io::Error::other)?;
        let own = getpid();
        if before != Some(own) {
            setpgid(None, None)?;
        }
        tcsetpgrp(&descriptor, own)?;
        let first = tcgetattr(&descriptor).ok();
        let modes = Mutex::new(first.clone());
        Ok(Self { descriptor, own, before, first, modes })
    }

    /// Gives the terminal back to the group that had it before.
    pub fn release(&self) {
        if let Some(before) = self.before.filter(|before| *before != self.own) {
            let _ = tcsetpgrp(&self.descriptor, before);
        }
    }

    /// Gives the terminal to a group.
    pub(crate) fn give(&self, group: i32) {
        if let Some(group) = Pid::from_raw(group) {
            let _ = tcsetpgrp(&self.descriptor, group);
        }
    }

    /// Takes the terminal back so that the shell can read. Returns whether another group had it.
    pub(crate) fn regain(&self) -> bool {
        match tcgetpgrp(&self.descriptor) {
            Ok(group) if group != self.own => tcsetpgrp(&self.descriptor, self.own).is_ok(),
            _ => false,
        }
    }

    /// Takes the terminal back. Settings stay if the program ended normally, and are restored otherwise.
    pub(crate) fn take(&self, ended_well: bool) {
        let _ = tcsetpgrp(&self.descriptor, self.own);
        let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        match &*modes {
            Some(kept) if !ended_well => drop(tcsetattr(&self.descriptor, OptionalActions::Drain, kept)),
            _ => *modes = tcgetattr(&self.descriptor).ok(),
        }
    }

    /// Restores line input and output processing before a prompt, if a program has ended without doing so.
    pub fn mend(&self) {
        let Ok(now) = tcgetattr(&self.descriptor) else { return };
        let reads_lines = now.local_modes.contains(LocalModes::ICANON);
        if reads_lines && now.output_modes.contains(OutputModes::OPOST) {
            return;
        }
        if let Some(first) = &self.first {
            self.set_modes(first);
            *self.modes.lock().unwrap_or_else(PoisonError::into_inner) = Some(first.clone());
        }
    }

    /// The current settings.
    pub(crate) fn current_modes(&self) -> Option<Termios> {
        tcgetattr(&self.descriptor).ok()
    }

    /// Changes the settings.
    pub(crate) fn set_modes(&self, modes: &Termios) {
        let _ = tcsetattr(&self.descriptor, OptionalActions::Drain, modes);
    }

    /// Its file descriptor.
    pub(crate) fn number(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}
