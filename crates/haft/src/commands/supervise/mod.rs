//! Supervision options of `spawn` and `run`, and the messages about how a run ended.

mod printer;
mod sink;
pub(crate) mod terminal;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_process::capture::CaptureLimits;
use haft_process::{
    CancelToken, DEFAULT_GRACE, Input, OutputCallback, RunLimits, ScopeLimits, Streams, SupervisionOptions,
    Survivors, Tree, reason, signal_name,
};

use crate::commands::options::SupervisionArguments;
use crate::failure::{Failure, print_message};
use crate::units::count;

pub(crate) use printer::OutputPrinter;

/// How long leftover processes may go on after the program that started them, and again after `SIGTERM`.
pub(crate) const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// How a run ended, for the message about it.
pub(crate) struct Ending<'a> {
    /// The program or script.
    pub(crate) name: &'a str,
    pub(crate) timed_out: bool,
    pub(crate) cancelled: bool,
    /// The signal that cancelled it.
    pub(crate) signal: Option<i32>,
    pub(crate) needed_input: bool,
    pub(crate) tree: &'a Tree,
}

/// The source of standard input.
enum InputSource<'a> {
    Inherited,
    Null,
    File(&'a std::ffi::OsStr),
}

impl SupervisionArguments {
    /// The supervision options that these arguments describe. Captured output goes to `shown` unless the result is JSON.
    ///
    /// # Errors
    /// If the size of the terminal is invalid.
    pub(crate) fn options(
        &self,
        input: Input,
        cancel: &CancelToken,
        shown: &OutputPrinter,
    ) -> Result<SupervisionOptions, Failure> {
        let streams = self.streams()?;
        let on_output = (!self.json && streams != Streams::Inherit).then(|| {
            let shown = shown.clone();
            OutputCallback::new(move |kind, bytes| shown.take(kind, bytes))
        });
        Ok(SupervisionOptions {
            input,
            streams,
            capture_limits: self.limits(),
            scope_limits: self.scope_limits(),
            timeout: self.timeout,
            grace: self.grace.unwrap_or(DEFAULT_GRACE),
            cancel: Some(cancel.clone()),
            on_output,
            disk_meter: None,
        })
    }

    /// Whether the output is captured. That needs a reason: `--json`, `--limit-output`, a budget or a terminal.
    pub(crate) fn is_captured(&self) -> bool {
        self.json || self.pty.is_some() || self.limit_output.is_some() || self.counts_output
    }

    /// The destination of the output.
    fn streams(&self) -> Result<Streams, Failure> {
        Ok(match (&self.pty, self.merge) {
            (Some(size), _) => Streams::Terminal(terminal::size(size)?),
            (None, _) if !self.is_captured() => Streams::Inherit,
            (None, true) => Streams::Merged,
            (None, false) => Streams::Separate,
        })
    }

    fn input_source(&self) -> InputSource<'_> {
        match self.stdin.as_deref() {
            None if self.json => InputSource::Null,
            None => InputSource::Inherited,
            Some(word) if word == "-" || word == "inherit" => InputSource::Inherited,
            Some(word) if word == "null" => InputSource::Null,
            Some(file) => InputSource::File(file),
        }
    }

    /// Opens standard input for the program.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn input(&self) -> Result<Input, Failure> {
        let file: OwnedFd = match self.input_source() {
            InputSource::Null => return Ok(Input::Null),
            InputSource::Inherited => {
                rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(|error| {
                    Failure::usage(format_args!("cannot use standard input: {}", reason(&error.into())))
                })?
            }
            InputSource::File(path) => {
                let opened = File::open(path).map_err(|error| {
                    let shown = path.display();
                    Failure::usage(format_args!("cannot open input '{shown}': {}", reason(&error)))
                });
                opened?.into()
            }
        };
        Ok(if self.pty.is_some() { Input::Forward(Arc::new(file)) } else { Input::File(Arc::new(file)) })
    }

    /// How much of each output is stored: at least as much as is shown.
    fn limits(&self) -> CaptureLimits {
        let shown = CaptureLimits::default().spill.max(self.limit_output.unwrap_or(0));
        CaptureLimits::capped(self.output_cap.unwrap_or(shown))
    }

    /// Limits for all processes together.
    fn scope_limits(&self) -> ScopeLimits {
        ScopeLimits {
            processes: self.limit_processes,
            memory: self.limit_memory,
            cpu: self.limit_cpu,
            strict: self.strict_limits,
            ..ScopeLimits::default()
        }
    }

    /// How many bytes of each output a report shows: all that is stored, unless there is a limit.
    pub(crate) fn budget(&self) -> usize {
        self.limit_output.map_or(usize::MAX >> 1, |limit| usize::try_from(limit).unwrap_or(usize::MAX >> 1))
    }

    /// Sets haft's terminal to raw mode if its keys go to a program on a terminal of its own.
    pub(crate) fn raw_terminal(&self) -> terminal::RawMode {
        let inherits = matches!(self.input_source(), InputSource::Inherited);
        terminal::RawMode::enter(self.pty.is_some() && inherits)
    }

    /// Whether the program's terminal follows the size of haft's.
    pub(crate) fn follows_size(&self) -> bool {
        self.pty.as_deref() == Some("")
    }

    /// Prints what output and status do not show: a timeout, a cancellation, processes that survived.
    pub(crate) fn explain(&self, ending: &Ending<'_>) {
        if self.json {
            return;
        }
        let Ending { name, tree, .. } = ending;
        let ended = count(tree.killed, "process");
        if let Some(timeout) = self.timeout.filter(|_| ending.timed_out) {
            let waiting = if ending.needed_input { " while it waited for input" } else { "" };
            print_message(format_args!("'{name}' timed out after {timeout:?}{waiting}; {ended} ended"));
        } else if ending.cancelled {
            let cause = ending.signal.and_then(signal_name).map(|name| format!(" by SIG{name}"));
            let cause = cause.unwrap_or_default();
            print_message(format_args!("'{name}' was cancelled{cause}; {ended} ended"));
        }
        print_survivors(&tree.survivors);
    }

    /// Prints which limits were reached or could not be enforced.
    pub(crate) fn explain_limits(&self, limits: &RunLimits) {
        if !self.json {
            limits.messages().iter().for_each(print_message);
        }
    }

    /// Prints that leftover processes were ended.
    pub(crate) fn explain_leftovers(&self, name: &str, killed: usize) {
        if !self.json && killed > 0 {
            print_message(format_args!("ended {} left running by '{name}'", count(killed, "process")));
        }
    }
}

/// Prints which processes could not be ended, or why that is unknown.
pub(crate) fn print_survivors(survivors: &Survivors) {
    if !survivors.pids().is_empty() || survivors.unknown().is_some() {
        print_message(survivors);
    }
}
