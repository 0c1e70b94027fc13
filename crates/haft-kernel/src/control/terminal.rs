//! A terminal that a shell shares with its jobs.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use haft_process::{Disposition, Signals, set_disposition};
use rustix::process::{Pid, Signal, getpgrp, getpid, kill_current_process_group, setpgid};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp,
};

/// How often a shell that was started in the background waits to be brought to the foreground.
const PATIENCE: usize = 16;

/// The controlling terminal of an interactive shell. Only a process that is a shell and nothing else has one.
#[derive(Debug)]
pub struct Terminal {
    descriptor: OwnedFd,
    /// The shell's own group.
    own: Pid,
    /// The group that had the terminal before.
    before: Pid,
    /// The settings that the shell found.
    first: Option<Termios>,
    /// The settings that the shell has; those of programs that died are undone.
    modes: Mutex<Option<Termios>>,
}

impl Terminal {
    /// Makes this process the leader of a group of its own, and that group the terminal's foreground. A shell that was
    /// started in the background is stopped until it is brought to the foreground.
    ///
    /// # Errors
    /// If it is not the controlling terminal of this process, or cannot be had.
    pub fn claim(descriptor: OwnedFd) -> io::Result<Self> {
        for attempt in 0.. {
            if tcgetpgrp(&descriptor)? == getpgrp() {
                break;
            }
            if attempt >= PATIENCE {
                return Err(rustix::io::Errno::PERM.into());
            }
            let _ = kill_current_process_group(Signal::TTIN);
        }
        let before = getpgrp();
        // The shell changes the foreground while it is not in it itself.
        set_disposition(Signals::TTOU, Disposition::Ignore).map_err(io::Error::other)?;
        let own = getpid();
        if before != own {
            setpgid(None, None)?;
        }
        tcsetpgrp(&descriptor, own)?;
        let first = tcgetattr(&descriptor).ok();
        let modes = Mutex::new(first.clone());
        Ok(Self { descriptor, own, before, first, modes })
    }

    /// Gives the terminal back to whoever had it before.
    pub fn release(&self) {
        if self.before != self.own {
            let _ = tcsetpgrp(&self.descriptor, self.before);
        }
    }

    /// Lends it to a group.
    pub(crate) fn give(&self, group: i32) {
        if let Some(group) = Pid::from_raw(group) {
            let _ = tcsetpgrp(&self.descriptor, group);
        }
    }

    /// Takes it back for a moment, in which the shell itself reads; says whether somebody else had it.
    pub(crate) fn regain(&self) -> bool {
        match tcgetpgrp(&self.descriptor) {
            Ok(group) if group != self.own => tcsetpgrp(&self.descriptor, self.own).is_ok(),
            _ => false,
        }
    }

    /// Takes it back. What a program that ended by itself has set stays; what another one has left is undone.
    pub(crate) fn take(&self, ended_well: bool) {
        let _ = tcsetpgrp(&self.descriptor, self.own);
        let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        match &*modes {
            Some(kept) if !ended_well => drop(tcsetattr(&self.descriptor, OptionalActions::Drain, kept)),
            _ => *modes = tcgetattr(&self.descriptor).ok(),
        }
    }

    /// Undoes what leaves a person without a line to type on: a program that ended while input came byte by byte, or output
    /// went out as it was. Between two commands it may be meant; before a prompt it is not.
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

    /// The settings as they are now.
    pub(crate) fn current_modes(&self) -> Option<Termios> {
        tcgetattr(&self.descriptor).ok()
    }

    /// Makes settings.
    pub(crate) fn set_modes(&self, modes: &Termios) {
        let _ = tcsetattr(&self.descriptor, OptionalActions::Drain, modes);
    }

    /// The number under which it is open.
    pub(crate) fn number(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}
