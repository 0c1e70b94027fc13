//! The context that a builtin runs in.

use std::fmt::Display;
use std::sync::Arc;

use haft_text::Bytes;

use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::session::Session;
use crate::values::{JsonValues, TypedArgument, typed_arguments};

/// The session that a builtin runs in, and the name it was called by.
#[derive(Debug)]
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// The name, for messages.
    pub name: &'a [u8],
    /// The values of JSON words among the arguments.
    pub(crate) values: &'a JsonValues,
    /// Whether writing to standard output failed, which makes a builtin fail.
    output_failed: bool,
}

impl<'a> Context<'a> {
    /// Returns the context of another command, so that one command can run on its behalf.
    #[must_use]
    pub fn of(session: &'a mut Session, name: &'a [u8]) -> Self {
        Self::new(session, name, &[])
    }

    pub(crate) fn new(session: &'a mut Session, name: &'a [u8], values: &'a JsonValues) -> Self {
        Context { session, name, values, output_failed: false }
    }

    /// The result of a builtin: one that succeeded fails if its output could not be written.
    pub(crate) fn status_after_output(&self, result: Flow) -> Flow {
        match result {
            Ok(0) if self.output_failed => Ok(1),
            result => result,
        }
    }
}

impl Context<'_> {
    /// Writes to standard output. Returns status 0, or prints an error and returns 1 if the write fails. A closed pipe ends the shell as
    /// `SIGPIPE` would.
    ///
    /// # Errors
    /// A closed pipe, or cancellation.
    pub fn print(&mut self, bytes: &[u8]) -> Flow {
        self.session.write(1, bytes).or_else(|error| self.write_failed(&error))
    }

    fn write_failed(&mut self, error: &std::io::Error) -> Flow {
        if error.kind() == std::io::ErrorKind::BrokenPipe && !self.session.ignores_broken_pipe() {
            return Err(Unwind::Signal(haft_process::Signals::PIPE));
        }
        self.session.check_cancelled()?;
        self.output_failed = true;
        self.error(format_args!("write error: {}", haft_fs::message(error)));
        Ok(1)
    }

    /// Prints an error message with the script position and the name of the builtin.
    pub fn error(&mut self, message: impl Display) {
        let name = String::from_utf8_lossy(self.name).into_owned();
        self.session.report(format_args!("{name}: {message}"));
    }

    /// Prints a usage error and the synopsis, and returns status 2.
    ///
    /// # Errors
    /// In POSIX mode a usage error of a special builtin exits the shell.
    pub fn usage(&mut self, problem: impl Display) -> Flow {
        self.error(problem);
        self.synopsis()
    }

    /// Prints the synopsis, and returns status 2.
    ///
    /// # Errors
    /// In POSIX mode a usage error of a special builtin exits the shell.
    pub fn synopsis(&mut self) -> Flow {
        let builtin = self.session.kernel.builtins.find(self.name);
        let synopsis = builtin.map_or("", |builtin| builtin.synopsis);
        let line = format!("{}: usage: {synopsis}\n", String::from_utf8_lossy(self.name));
        let _ = self.session.write(2, line.as_bytes());
        let _ = self.session.flush();
        match builtin.is_some_and(|builtin| builtin.special) {
            true => self.session.unless_posix(2),
            false => Ok(2),
        }
    }

    /// Sets the typed result of the current run, in addition to the printed output.
    pub fn set_data(&mut self, data: serde_json::Value) {
        if let Some(run) = self.session.processes.run() {
            run.record().data = Some(data);
        }
    }

    /// Iterates over the arguments, or the last of them, with the values of JSON words.
    pub fn typed<'a>(&'a self, arguments: &'a [Bytes]) -> impl Iterator<Item = TypedArgument<'a>> {
        typed_arguments(arguments, self.values)
    }

    /// Runs the last of the arguments as a command, with the usual command lookup.
    ///
    /// # Errors
    /// A reason to unwind.
    pub fn dispatch(&mut self, words: &[Bytes]) -> Flow {
        self.session.dispatch(words, self.values)
    }

    /// Returns the open file of a file descriptor.
    #[must_use]
    pub fn file(&self, number: u32) -> Option<Arc<OpenFile>> {
        self.session.open_files.get(number).cloned()
    }

    /// Checks for cancellation. Cheap enough for every iteration of a loop.
    ///
    /// # Errors
    /// If the session is being stopped.
    pub fn check(&self) -> Result<(), Unwind> {
        self.session.check()
    }
}
