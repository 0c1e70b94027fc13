//! What a builtin is called with.

use std::fmt::Display;
use std::sync::Arc;

use haft_text::Bytes;

use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::session::Session;
use crate::values::{Argument, Values, typed};

/// The session that a builtin runs in, and the name it was called by.
#[derive(Debug)]
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// The name, for messages.
    pub name: &'a [u8],
    /// The values of JSON words among the arguments.
    pub(crate) values: &'a Values,
    /// Whether writing to standard output failed, which makes a builtin fail.
    output_failed: bool,
}

impl<'a> Context<'a> {
    /// What a command of this name would be called with, for one command that speaks for another.
    #[must_use]
    pub fn of(session: &'a mut Session, name: &'a [u8]) -> Self {
        Self::new(session, name, &[])
    }

    pub(crate) fn new(session: &'a mut Session, name: &'a [u8], values: &'a Values) -> Self {
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
    /// Writes to standard output. Yields status 0, or 1 after a message if it cannot be written; a closed pipe ends
    /// the shell as `SIGPIPE` would.
    ///
    /// # Errors
    /// A closed pipe, or cancellation.
    pub fn print(&mut self, bytes: &[u8]) -> Flow {
        self.session.write(1, bytes).or_else(|error| self.write_failed(&error))
    }

    fn write_failed(&mut self, error: &std::io::Error) -> Flow {
        if error.kind() == std::io::ErrorKind::BrokenPipe && !self.session.ignores_broken_pipe() {
            return Err(Unwind::Signal(13));
        }
        self.session.check_cancelled()?;
        self.output_failed = true;
        self.error(format_args!("write error: {}", haft_fs::message(error)));
        Ok(1)
    }

    /// Writes a complaint to standard error: where, this builtin's name, the message.
    pub fn error(&mut self, message: impl Display) {
        let name = String::from_utf8_lossy(self.name).into_owned();
        self.session.report(format_args!("{name}: {message}"));
    }

    /// Complains about an option that is not one, shows the synopsis, and fails with status 2.
    ///
    /// # Errors
    /// That of a special builtin in POSIX mode, which ends the shell.
    pub fn usage(&mut self, problem: impl Display) -> Flow {
        self.error(problem);
        self.synopsis()
    }

    /// Shows the synopsis, and fails with status 2.
    ///
    /// # Errors
    /// That of a special builtin in POSIX mode, which ends the shell.
    pub fn synopsis(&mut self) -> Flow {
        let builtin = super::find(self.name);
        let synopsis = builtin.map_or("", |builtin| builtin.synopsis);
        let line = format!("{}: usage: {synopsis}\n", String::from_utf8_lossy(self.name));
        let _ = self.session.write(2, line.as_bytes());
        let _ = self.session.flush();
        match builtin.is_some_and(|builtin| builtin.special) {
            true => self.session.unless_posix(2),
            false => Ok(2),
        }
    }

    /// Sets the typed result of the run that the session is in: what this command has found, beside what it prints.
    pub fn set_data(&mut self, data: serde_json::Value) {
        if let Some(run) = self.session.processes.run() {
            run.record().data = Some(data);
        }
    }

    /// The arguments, or the last of them, with the values of JSON words among them.
    pub fn typed<'a>(&'a self, arguments: &'a [Bytes]) -> impl Iterator<Item = Argument<'a>> {
        typed(arguments, self.values)
    }

    /// Runs the last of the arguments as a command: the way of every command.
    ///
    /// # Errors
    /// A reason to leave what encloses it.
    pub fn dispatch(&mut self, words: &[Bytes]) -> Flow {
        self.session.dispatch(words, self.values)
    }

    /// The file open under a number.
    #[must_use]
    pub fn file(&self, number: u32) -> Option<Arc<OpenFile>> {
        self.session.open_files.get(number).cloned()
    }

    /// Stops a builtin that works for long when the session is to stop. Cheap enough for every round of a loop.
    ///
    /// # Errors
    /// When the session is to stop.
    pub fn check(&self) -> Result<(), Unwind> {
        self.session.check()
    }
}
