//! What a shell that runs a script says of programs that died of a signal.

use std::borrow::Cow;

use haft_process::{Exit, Signals};

use super::trace::canonical;
use crate::jobs::JobState;
use crate::options::SetOption;
use crate::session::Session;
use crate::traps::Trap;

impl Session {
    /// Takes note of how a program in the foreground ended, to be told once its redirections are undone. Yields the status.
    pub(crate) fn note_exit(&mut self, pid: i32, exit: Exit) -> i32 {
        if let Exit::Signal(signal) = exit {
            self.processes.set_killed_command(pid, signal);
        }
        exit.code()
    }

    /// Says what the command that has just run died of, if it died.
    #[inline]
    pub(crate) fn tell_foreground_death(&mut self) {
        if let Some(killed) = self.processes.take_killed_command() {
            self.tell_death_of(killed.pid, killed.signal);
        }
    }

    #[inline(never)]
    fn tell_death_of(&mut self, pid: i32, signal: i32) {
        let trapped =
            self.traps.get(Trap::Signal(signal)).is_some() && !matches!(signal, Signals::INT | Signals::PIPE);
        if let Some(words) = self.words_for(signal) {
            let text = canonical(self.text_of(self.calls.command_span()));
            self.write_death(pid, &words, &text);
        } else if let Some(words) = death(signal)
            && !self.processes.is_captured()
            && (trapped || signal == Signals::TERM)
        {
            let _ = self.write(2, format!("{words}\n").as_bytes());
            let _ = self.flush();
        }
    }

    /// Says which background jobs have died since it was said last, and forgets them.
    #[inline]
    pub(crate) fn tell_background_deaths(&mut self) {
        if !self.jobs.is_empty() && !self.is_interactive() {
            self.tell_jobs_that_died();
        }
    }

    #[inline(never)]
    fn tell_jobs_that_died(&mut self) {
        self.jobs.update();
        if let Some(pid) = self.processes.coprocess().map(|coprocess| coprocess.pid)
            && self.jobs.of_pid(pid).is_some_and(|job| job.state() != JobState::Running)
        {
            self.forget_coprocess(pid);
        }
        let died: Vec<u32> = self.jobs.iter().filter(|job| job.died().is_some()).map(|job| job.id).collect();
        for id in died {
            self.tell_death_of_job(id);
            if self
                .jobs
                .get(id)
                .and_then(|job| job.died())
                .and_then(|signal| self.words_for(signal))
                .is_some()
            {
                self.jobs.remove(id);
            }
        }
    }

    /// Says what a background job died of, if it did of what is told.
    pub(crate) fn tell_death_of_job(&mut self, id: u32) {
        let Some(job) = self.jobs.get(id) else { return };
        let (JobState::Done(_), Some(signal)) = (job.state(), job.died()) else { return };
        let (pid, text) = (job.pid(), job.shown_text());
        if self.is_interactive() {
            return;
        }
        if let Some(words) = self.words_for(signal) {
            self.write_death(pid, &words, &text);
        } else if !self.processes.is_captured() && self.options.has(SetOption::Monitor) {
            self.tell_job(id);
        }
    }

    /// Within a substitution nothing is told.
    fn is_heard(&self, signal: i32) -> bool {
        !self.processes.is_captured() && self.traps.get(Trap::Signal(signal)).is_none()
    }

    /// What is told of a death by this signal; nothing for those that one asks for.
    fn words_for(&self, signal: i32) -> Option<Cow<'static, str>> {
        let told = !matches!(signal, Signals::INT | Signals::PIPE | Signals::TERM);
        (told && self.is_heard(signal)).then(|| death(signal)).flatten()
    }

    fn write_death(&mut self, pid: i32, words: &str, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.report(format_args!("{pid:>5} {words:<24}{text}"));
    }
}

/// What a signal that ended a program is called.
pub(crate) fn death(signal: i32) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(match signal {
        1 => "Hangup",
        2 => "Interrupt",
        3 => "Quit",
        4 => "Illegal instruction",
        5 => "Trace/breakpoint trap",
        6 => "Aborted",
        7 => "Bus error",
        8 => "Floating point exception",
        9 => "Killed",
        10 => "User defined signal 1",
        11 => "Segmentation fault",
        12 => "User defined signal 2",
        13 => "Broken pipe",
        14 => "Alarm clock",
        15 => "Terminated",
        16 => "Stack fault",
        24 => "CPU time limit exceeded",
        25 => "File size limit exceeded",
        26 => "Virtual timer expired",
        27 => "Profiling timer expired",
        29 => "I/O possible",
        30 => "Power failure",
        31 => "Bad system call",
        34..=64 => return Some(Cow::Owned(format!("Real-time signal {}", signal - 34))),
        _ => return None,
    }))
}
