//! The process group of a job.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use haft_process::{
    Child, Command, Error, GroupChange, ProcessGroup, Signals, StartPermission, group_change, signal_group,
};
use rustix::process::{Pid, test_kill_process_group};
use rustix::termios::Termios;

use super::Terminal;

/// The process group of a job and its terminal.
#[derive(Debug)]
pub(crate) struct JobGroup {
    /// The number of the group: that of the first program. 0 while there is none.
    leader: Mutex<i32>,
    /// Whether new programs get the terminal.
    foreground: AtomicBool,
    /// The signal that stopped it; 0 while it runs.
    stopped: AtomicI32,
    terminal: Option<Arc<Terminal>>,
    /// The terminal settings of the job when it was stopped.
    modes: Mutex<Option<Termios>>,
}

impl JobGroup {
    pub(crate) fn new(terminal: Option<Arc<Terminal>>, foreground: bool) -> Arc<Self> {
        Arc::new(Self {
            leader: Mutex::new(0),
            foreground: AtomicBool::new(foreground),
            stopped: AtomicI32::new(0),
            terminal,
            modes: Mutex::new(None),
        })
    }

    /// Starts a program in the group. The lock makes all threads agree on the group leader. It is not held while a person is asked
    /// whether the program may start.
    pub(crate) fn spawn(&self, command: &mut Command, permission: &StartPermission) -> Result<Child, Error> {
        let mut command = command.permit(permission)?;
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = Pid::from_raw(*leader).is_some_and(|group| test_kill_process_group(group).is_ok());
        command.group(if alive { ProcessGroup::Join(*leader) } else { ProcessGroup::Own });
        let terminal = self.terminal.as_ref().filter(|_| self.is_foreground());
        if let Some(terminal) = terminal {
            command.foreground_of(terminal.number());
        }
        let child = command.spawn().inspect_err(|_| {
            // The failed process had the terminal already.
            terminal.iter().for_each(|terminal| match alive {
                true => terminal.give(*leader),
                false => drop(terminal.regain()),
            });
        })?;
        if !alive {
            *leader = child.pid();
        }
        Ok(child)
    }

    /// Sets the group leader.
    pub(crate) fn lead(&self, leader: i32) {
        *self.leader.lock().unwrap_or_else(PoisonError::into_inner) = leader;
    }

    /// The number of the group, if it has a program.
    pub(crate) fn number(&self) -> Option<i32> {
        Some(*self.leader.lock().unwrap_or_else(PoisonError::into_inner)).filter(|leader| *leader != 0)
    }

    pub(crate) fn is_foreground(&self) -> bool {
        self.foreground.load(Ordering::SeqCst)
    }

    /// Sends a signal to all its programs.
    pub(crate) fn signal(&self, signal: i32) {
        let Some(group) = self.number() else { return };
        let _ = signal_group(group, signal);
        let ends = matches!(signal, Signals::HUP | Signals::TERM);
        if ends && self.stopped_by().is_some() {
            let _ = signal_group(group, Signals::CONT);
        }
    }

    /// Updates whether it is stopped.
    pub(crate) fn update(&self) {
        let Some(group) = self.number() else { return };
        while let Some(change) = group_change(group) {
            let signal = match change {
                GroupChange::Stopped(signal) => signal,
                GroupChange::Continued => 0,
            };
            self.stopped.store(signal, Ordering::SeqCst);
        }
    }

    /// The signal that stopped it.
    pub(crate) fn stopped_by(&self) -> Option<i32> {
        Some(self.stopped.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Continues it in the foreground or background.
    pub(crate) fn resume(&self, foreground: bool) {
        self.foreground.store(foreground, Ordering::SeqCst);
        self.stopped.store(0, Ordering::SeqCst);
        if foreground && let (Some(terminal), Some(group)) = (&self.terminal, self.number()) {
            terminal.give(group);
            if let Some(modes) = self.modes.lock().unwrap_or_else(PoisonError::into_inner).take() {
                terminal.set_modes(&modes);
            }
        }
        self.signal(Signals::CONT);
    }

    /// Takes the terminal back from it. The job itself is not changed.
    pub(crate) fn leave_foreground(&self, ended_well: bool) {
        if !self.foreground.swap(false, Ordering::SeqCst) {
            return;
        }
        let Some(terminal) = &self.terminal else { return };
        if self.stopped_by().is_some() {
            *self.modes.lock().unwrap_or_else(PoisonError::into_inner) = terminal.current_modes();
        }
        // A job without a program never had the terminal.
        if self.number().is_some() {
            terminal.take(ended_well);
        }
    }
}
