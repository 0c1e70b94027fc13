//! What `spawn` and `run` have in common: where input comes from, what is shown of the output, and how the end is told.

mod printer;
pub(crate) mod report;
mod sink;
pub(crate) mod terminal;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use haft_process::capture::CaptureLimits;
use haft_process::{
    CancelToken, DEFAULT_GRACE, Input, OutputCallback, RunLimits, ScopeLimits, Streams, SupervisionOptions,
    Survivors, Tree, reason,
};

use crate::arguments::SupervisionArguments;
use crate::failure::{Failure, print_message};

pub(crate) use printer::OutputPrinter;

/// What processes that nobody asked for, left behind by the one that was, get to end by themselves; and then again
/// once they were asked to.
pub(crate) const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

impl SupervisionArguments {
    /// Returns the supervision options of `spawn` and `run`. Captured output is passed to `shown` unless the result is JSON.
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
        })
    }

    /// Where the output goes: without a reason to look at it, straight on.
    fn streams(&self) -> Result<Streams, Failure> {
        Ok(match (&self.pty, self.merge) {
            (Some(size), _) => Streams::Terminal(terminal::size(size)?),
            (None, _) if !self.json && self.limit_output.is_none() => Streams::Inherit,
            (None, true) => Streams::Merged,
            (None, false) => Streams::Separate,
        })
    }

    /// Where the input comes from.
    pub(crate) fn input(&self) -> Result<Input, Failure> {
        if self.stdin == "null" {
            return Ok(Input::Null);
        }
        let file: OwnedFd = if self.stdin == "-" {
            rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(|error| {
                Failure::usage(format_args!("cannot use standard input: {}", reason(&error.into())))
            })?
        } else {
            let shown = self.stdin.display();
            let opened = File::open(&self.stdin).map_err(|error| {
                Failure::usage(format_args!("cannot open input '{shown}': {}", reason(&error)))
            });
            opened?.into()
        };
        Ok(if self.pty.is_some() { Input::Forward(Arc::new(file)) } else { Input::File(Arc::new(file)) })
    }

    /// How much of each output is kept: what was asked for, and at least what may have to be shown.
    fn limits(&self) -> CaptureLimits {
        let limits = CaptureLimits::default();
        let shown = limits.spill.max(self.limit_output.unwrap_or(0));
        let cap = self.output_cap.unwrap_or(shown);
        let half = usize::try_from(cap / 2).unwrap_or(usize::MAX);
        CaptureLimits { head: limits.head.min(half), tail: limits.tail.min(half), spill: cap }
    }

    /// Limits for all processes together.
    fn scope_limits(&self) -> ScopeLimits {
        ScopeLimits {
            processes: self.limit_processes,
            memory: self.limit_memory,
            cpu: self.limit_cpu,
            strict: self.strict_limits,
        }
    }

    /// How much of each output a report shows: all that is kept, unless there is a limit.
    pub(crate) fn budget(&self) -> usize {
        self.limit_output.map_or(usize::MAX >> 1, |limit| usize::try_from(limit).unwrap_or(usize::MAX >> 1))
    }

    /// Our own terminal, passing keys on if the program is on one that is typed to through it.
    pub(crate) fn raw_terminal(&self) -> terminal::RawMode {
        terminal::RawMode::enter(self.pty.is_some() && self.stdin == "-")
    }

    /// Whether the terminal of the program shall have the size of our own.
    pub(crate) fn follows_size(&self) -> bool {
        self.pty.as_deref() == Some("")
    }

    /// Says what cannot be seen from the output and the status.
    pub(crate) fn explain(&self, what: &str, timed_out: bool, needed_input: bool, tree: &Tree) {
        if let Some(timeout) = self.timeout.filter(|_| timed_out) {
            let waiting = if needed_input { " while it waited for input" } else { "" };
            let ended = processes(tree.killed);
            print_message(format_args!("'{what}' timed out after {timeout:?}{waiting}; {ended} ended"));
        }
        print_survivors(&tree.survivors);
    }

    /// Says which limits were reached, or are not enforced.
    pub(crate) fn explain_limits(&self, limits: &RunLimits) {
        if !self.json {
            limits.messages().iter().for_each(print_message);
        }
    }

    /// Says that something was ended which was left behind.
    pub(crate) fn explain_leftovers(&self, what: &str, killed: usize) {
        if !self.json && killed > 0 {
            print_message(format_args!("ended {} left running by '{what}'", processes(killed)));
        }
    }
}

/// Says which processes could not be ended, or why that is not known.
pub(crate) fn print_survivors(survivors: &Survivors) {
    let pids = survivors.pids();
    if !pids.is_empty() {
        let listed: Vec<String> = pids.iter().map(i32::to_string).collect();
        print_message(format_args!("{} could not be ended: {}", processes(pids.len()), listed.join(" ")));
    }
    if let Some(reason) = survivors.unknown() {
        print_message(format_args!("it is unknown whether processes are left: {reason}"));
    }
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}
