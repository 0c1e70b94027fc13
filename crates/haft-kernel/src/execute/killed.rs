//! Messages about programs that a signal killed.

use std::borrow::Cow;

use haft_process::{Exit, Signals};

use crate::jobs::{JobState, canonical};
use crate::options::SetOption;
use crate::session::Session;
use crate::signals::signal_description;
use crate::traps::Trap;

impl Session {
    /// Remembers that a signal killed a foreground program, to be reported once its redirections are undone. Returns the
    /// status.
    pub(crate) fn remember_killed_program(&mut self, pid: i32, exit: Exit) -> i32 {
        if let Exit::Signal(signal) = exit {
            self.processes.set_killed_command(pid, signal);
        }
        exit.code()
    }

    /// Reports the signal that killed the last foreground command, if one did.
    #[inline]
    pub(crate) fn report_killed_command(&mut self) {
        if let Some(killed) = self.processes.take_killed_command() {
            self.report_killed_program(killed.pid, killed.signal);
        }
    }

    #[inline(never)]
    fn report_killed_program(&mut self, pid: i32, signal: i32) {
        let trapped =
            self.traps.get(Trap::Signal(signal)).is_some() && !matches!(signal, Signals::INT | Signals::PIPE);
        if let Some(words) = self.kill_message(signal) {
            let text = canonical(self.text_of(self.calls.command_span()));
            self.write_kill_message(pid, &words, &text);
        } else if let Some(words) = signal_description(signal)
            && !self.processes.is_captured()
            && (trapped || signal == Signals::TERM)
        {
            let _ = self.write(2, format!("{words}\n").as_bytes());
            let _ = self.flush();
        }
    }

    /// Reports the background jobs that a signal killed since the last report, and removes them.
    #[inline]
    pub(crate) fn report_killed_jobs(&mut self) {
        if !self.jobs.is_empty() && !self.is_interactive() {
            self.update_and_report_killed_jobs();
        }
    }

    #[inline(never)]
    fn update_and_report_killed_jobs(&mut self) {
        self.jobs.update();
        if let Some(pid) = self.processes.coprocess().map(|coprocess| coprocess.pid)
            && self.jobs.of_pid(pid).is_some_and(|job| job.state() != JobState::Running)
        {
            self.forget_coprocess(pid);
        }
        let died: Vec<u32> = self.jobs.iter().filter(|job| job.died().is_some()).map(|job| job.id).collect();
        for id in died {
            self.report_killed_job(id);
            if self
                .jobs
                .get(id)
                .and_then(|job| job.died())
                .and_then(|signal| self.kill_message(signal))
                .is_some()
            {
                self.jobs.remove(id);
            }
        }
    }

    /// Reports the signal that killed a background job, if it is one that is reported.
    pub(crate) fn report_killed_job(&mut self, id: u32) {
        let Some(job) = self.jobs.get(id) else { return };
        let (JobState::Done(_), Some(signal)) = (job.state(), job.died()) else { return };
        let (pid, text) = (job.pid(), job.shown_text());
        if self.is_interactive() {
            return;
        }
        if let Some(words) = self.kill_message(signal) {
            self.write_kill_message(pid, &words, &text);
        } else if !self.processes.is_captured() && self.options.has(SetOption::Monitor) {
            self.report_job(id);
        }
    }

    /// Whether death by this signal is reported: not within a substitution, and not if it has a trap.
    fn reports_kills_by(&self, signal: i32) -> bool {
        !self.processes.is_captured() && self.traps.get(Trap::Signal(signal)).is_none()
    }

    /// The message for death by this signal. `None` for signals that users send on purpose.
    fn kill_message(&self, signal: i32) -> Option<Cow<'static, str>> {
        let told = !matches!(signal, Signals::INT | Signals::PIPE | Signals::TERM);
        (told && self.reports_kills_by(signal)).then(|| signal_description(signal)).flatten()
    }

    fn write_kill_message(&mut self, pid: i32, words: &str, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.report(format_args!("{pid:>5} {words:<24}{text}"));
    }
}
