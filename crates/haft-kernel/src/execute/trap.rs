//! Running traps.

use std::sync::Arc;

use haft_lang::ast::{Arithmetic, Command, CommandKind};
use haft_process::{Disposition, Signals};
use haft_text::Bytes;
use rustix::process::Signal;

use crate::flow::{Flow, Unwind};
use crate::options::{SetOption, ShellOption};
use crate::session::Session;
use crate::traps::{Trap, Traps};

impl Session {
    /// Runs a trap if it is set and not running already. `$?` is unchanged afterwards.
    #[inline(never)]
    pub(crate) fn run_trap(&mut self, trap: Trap) -> Result<(), Unwind> {
        if self.trap_state.is_running(trap) && !matches!(trap, Trap::Signal(_)) {
            return Ok(());
        }
        // Functions that the `DEBUG` trap calls do not run the `RETURN` trap.
        if trap == Trap::Return && self.trap_state.is_running(Trap::Debug) {
            return Ok(());
        }
        let Some(text) = self.traps.get(trap).filter(|text| !text.is_empty()).cloned() else { return Ok(()) };
        let command = self.command_text();
        let shown = self.calls.set_trapped_command(Some(command));
        self.trap_state.enter(trap);
        let result = self.run_trap_text(|session| match trap {
            // Its lines are counted from 1.
            Trap::Signal(_) => session.run_within(&text, 0, trap.label()),
            _ => session.run_text(&text, trap.label()),
        });
        self.trap_state.leave();
        self.calls.set_trapped_command(shown);
        result.map(drop)
    }

    /// Runs the commands of a trap. `$?`, `PIPESTATUS`, `$_` and `LINENO` are unchanged afterwards.
    pub(crate) fn run_trap_text(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let saved = self.parameters.save();
        let (line, span) = (self.calls.text_line(), self.calls.command_span());
        let outer = self.trap_state.set_status_before(Some(saved.status));
        let result = run(self);
        self.trap_state.set_status_before(outer);
        self.trap_state.set_last_status(*result.as_ref().unwrap_or(&0));
        self.parameters.restore(saved);
        self.calls.set_line(line);
        self.calls.set_command_span(span);
        result
    }

    #[inline]
    fn has_debug_trap(&self) -> bool {
        !self.traps.is_empty() && self.traps.get(Trap::Debug).is_some()
    }

    /// Runs the `DEBUG` trap before a simple command. Returns whether the command is to run: with `extdebug`, a failure of the
    /// trap skips it.
    pub(crate) fn debug_allows(&mut self) -> Result<bool, Unwind> {
        if !self.has_debug_trap() {
            return Ok(true);
        }
        if !self.options.shell(ShellOption::ExtendedDebug) {
            return self.run_trap(Trap::Debug).map(|()| true);
        }
        self.trap_state.set_last_status(0);
        self.run_trap(Trap::Debug)?;
        match self.trap_state.last_status() {
            // The trap can make a function or a sourced file return.
            DEBUG_RETURN_STATUS if !self.calls.frames().is_empty() => {
                Err(Unwind::Return(DEBUG_RETURN_STATUS))
            }
            status => Ok(status == 0),
        }
    }

    /// Runs the `DEBUG` trap of this shell before each stage of a pipeline that is a simple command. Returns whether it ran.
    pub(crate) fn debug_stages(&mut self, stages: &[Command]) -> Result<bool, Unwind> {
        if !self.has_debug_trap() {
            return Ok(false);
        }
        for stage in stages.iter().filter(|stage| matches!(stage.kind, CommandKind::Simple(_))) {
            self.calls.set_line(stage.line);
            self.calls.set_command_span(stage.span);
            self.run_trap(Trap::Debug)?;
        }
        Ok(true)
    }

    /// Runs the `DEBUG` trap before a command.
    #[inline]
    pub(crate) fn run_debug_trap(&mut self) -> Result<(), Unwind> {
        if !self.has_debug_trap() {
            return Ok(());
        }
        self.run_trap(Trap::Debug)
    }

    /// Runs the `DEBUG` trap before an expression of `for ((…))`, which `BASH_COMMAND` shows.
    pub(crate) fn run_debug_trap_of_expression(&mut self, expression: &Arithmetic) -> Result<(), Unwind> {
        if !self.has_debug_trap() {
            return Ok(());
        }
        let shown = [b"((", self.text_of(expression.span).trim_ascii(), b"))"].concat();
        let before = self.calls.set_trapped_command(Some(shown.into()));
        let result = self.run_trap(Trap::Debug);
        self.calls.set_trapped_command(before);
        result
    }

    /// Runs the `DEBUG` trap before the body of a function. `BASH_COMMAND` shows the call, which is in another text.
    pub(crate) fn run_debug_trap_of_call(&mut self, outer_text: Option<&Arc<[u8]>>) -> Result<(), Unwind> {
        if !self.has_debug_trap() {
            return Ok(());
        }
        let own = self.calls.set_source_text(outer_text.cloned());
        let result = self.run_trap(Trap::Debug);
        self.calls.set_source_text(own);
        result
    }

    /// Removes the traps that a function does not inherit; returns all traps as they were.
    pub(crate) fn hide_traps(&mut self, traced: bool) -> Option<Traps> {
        if self.traps.is_empty() {
            return None;
        }
        let errors = self.options.has(SetOption::ErrorTrace);
        let is_hidden = |trap: &Trap| match trap {
            Trap::Error => !errors && self.traps.get(Trap::Error).is_some(),
            trap => !traced && self.traps.get(*trap).is_some(),
        };
        let hidden: Vec<Trap> = HIDDEN.into_iter().filter(is_hidden).collect();
        if hidden.is_empty() {
            return None;
        }
        let before = self.traps.clone();
        hidden.into_iter().for_each(|trap| self.traps.reset(trap));
        Some(before)
    }

    /// Restores what [`Session::hide_traps`] removed, unless the function has set it again.
    pub(crate) fn show_traps(&mut self, hidden: Option<Traps>) {
        let Some(hidden) = hidden else { return };
        for trap in HIDDEN {
            if self.traps.get(trap).is_none()
                && let Some(text) = hidden.get(trap)
            {
                self.traps.set(trap, text.clone());
            }
        }
    }

    /// Removes the `DEBUG` trap for a sourced file that does not inherit it; returns it.
    pub(crate) fn hide_debug_trap(&mut self) -> Option<Bytes> {
        if self.options.has(SetOption::FunctionTrace) {
            return None;
        }
        let text = self.traps.get(Trap::Debug).cloned()?;
        self.traps.reset(Trap::Debug);
        Some(text)
    }

    /// Restores what [`Session::hide_debug_trap`] removed, unless the file has set it again.
    pub(crate) fn show_debug_trap(&mut self, hidden: Option<Bytes>) {
        if let Some(text) = hidden
            && self.traps.get(Trap::Debug).is_none()
        {
            self.traps.set(Trap::Debug, text);
        }
    }

    /// Whether signals have arrived whose traps have not run yet.
    #[inline]
    pub(crate) fn has_pending_signals(&self) -> bool {
        self.signals.as_ref().is_some_and(|signals| signals.any())
    }

    /// Runs the traps of the signals that have arrived. Returns the last signal whose trap ran.
    #[inline(never)]
    pub(crate) fn run_signal_traps(&mut self) -> Result<Option<i32>, Unwind> {
        let mut ran = None;
        let Some(signals) = self.signals.clone() else { return Ok(None) };
        // A trap may send another signal.
        while signals.any() {
            for signal in signals.take() {
                match self.traps.get(Trap::Signal(signal)) {
                    Some(text) if text.is_empty() => {}
                    Some(_) => {
                        self.processes.run().iter().for_each(|run| run.stopping.await_others());
                        for _ in 0..self.trap_runs(signal) {
                            self.run_trap(Trap::Signal(signal))?;
                        }
                        ran = Some(signal);
                    }
                    None if is_harmless(signal) => {}
                    None => return Err(Unwind::Signal(signal)),
                }
            }
        }
        Ok(ran)
    }

    /// How often the trap of a signal runs: for `SIGCHLD`, which can stand for several children, once per child.
    fn trap_runs(&mut self, signal: i32) -> u32 {
        if signal != Signals::CHLD {
            return 1;
        }
        self.jobs.update();
        self.jobs.take_newly_ended().max(1)
    }

    /// Runs the traps of signals that arrived during the last command.
    pub(crate) fn serve_last_signals(&mut self, result: Flow) -> Flow {
        match result {
            Ok(status) if self.has_pending_signals() => self.run_signal_traps().map(|_| status),
            result => result,
        }
    }

    /// Sets or removes a trap, and sets the disposition of the signal accordingly.
    pub(crate) fn set_trap(&mut self, trap: Trap, text: Option<Bytes>) {
        let wanted = match &text {
            None => Disposition::Default,
            // An empty `EXIT` trap ignores no signal.
            Some(text) if text.is_empty() && trap == Trap::Exit => Disposition::Default,
            Some(text) if text.is_empty() => Disposition::Ignore,
            Some(_) => Disposition::Catch,
        };
        match text {
            Some(text) => self.traps.set(trap, text),
            None => self.traps.reset(trap),
        }
        if !self.identity.leads_process() || !self.kernel.plain_shell || self.traps.is_fixed(trap) {
            self.publish_traps();
            return;
        }
        let exit = self.traps.get(Trap::Exit).is_some();
        match trap {
            Trap::Signal(signal) if wanted == Disposition::Default && exit && ENDING.contains(&signal) => {}
            Trap::Signal(signal) => self.kernel.dispose(signal, wanted),
            Trap::Exit => {
                for signal in
                    ENDING.into_iter().filter(|signal| self.traps.get(Trap::Signal(*signal)).is_none())
                {
                    self.kernel.dispose(signal, wanted);
                }
            }
            _ => {}
        }
    }

    /// Raises `SIGCHLD` for a subshell that has ended: for the script it was a process.
    pub(crate) fn raise_child_signal(&self) {
        if !self.traps.is_empty() && self.traps.get(Trap::Signal(Signals::CHLD)).is_some() {
            self.signals.iter().for_each(|signals| signals.raise(Signals::CHLD));
        }
    }

    /// Publishes in the inbox which signals this session catches and ignores.
    pub(crate) fn publish_traps(&self) {
        if self.identity.leads_process() && !self.processes.is_supervised() {
            return;
        }
        let Some(signals) = &self.signals else { return };
        let heard = self.traps.iter().filter_map(|(trap, _)| match trap {
            Trap::Signal(signal) if self.traps.get(trap).is_some_and(|text| !text.is_empty()) => Some(signal),
            _ => None,
        });
        signals.dispose(heard, self.traps.ignored().iter());
    }
}

/// The status with which the `DEBUG` trap makes a function return, with `extdebug`.
const DEBUG_RETURN_STATUS: i32 = 2;

/// The traps that a function may not inherit.
const HIDDEN: [Trap; 3] = [Trap::Debug, Trap::Return, Trap::Error];

/// The signals that ask a shell to end.
pub(super) const FATAL: [i32; 3] = [Signals::HUP, Signals::INT, Signals::TERM];

/// The signals that end a shell after its `EXIT` trap has run: all that terminate by default, except those that report a
/// fault of the process.
const ENDING: [i32; 12] = [
    Signal::HUP.as_raw(),
    Signal::INT.as_raw(),
    Signal::TRAP.as_raw(),
    Signal::ABORT.as_raw(),
    Signal::USR1.as_raw(),
    Signal::USR2.as_raw(),
    Signal::ALARM.as_raw(),
    Signal::TERM.as_raw(),
    Signal::XCPU.as_raw(),
    Signal::VTALARM.as_raw(),
    Signal::PROF.as_raw(),
    Signal::SYS.as_raw(),
];

/// Whether a signal does nothing by default.
fn is_harmless(signal: i32) -> bool {
    matches!(signal, Signals::CHLD | Signals::CONT | Signals::WINCH) || signal == Signal::URG.as_raw()
}
