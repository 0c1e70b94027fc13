//! The context that a builtin runs in.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use haft_fs::OpenOptions;
use haft_process::CancelToken;
use haft_text::Bytes;

use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::jobs::Jobs;
use crate::options::ShellOptions;
use crate::session::{Caches, CallStack, Definitions, OpenFiles, Parameters, Session, WorkingDirectory};
use crate::traps::Traps;
use crate::values::{JsonValues, TypedArgument, typed_arguments};
use crate::variables::Variables;

/// The context of a command: its name, its output, and the session that it runs in.
///
/// A builtin reads and changes one part of the session through the method for that part, such as `options`. What
/// concerns several parts, such as running a command, goes through [`Context::session_mut`].
#[derive(Debug)]
pub struct Context<'a> {
    session: &'a mut Session,
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
    pub(super) fn status_after_output(&self, result: Flow) -> Flow {
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
        self.session.report_builtin(format_args!("{name}: {message}"));
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

    /// Whether [`set_data`](Self::set_data) has an effect.
    #[must_use]
    pub fn wants_data(&self) -> bool {
        self.session.processes.run().is_some()
    }

    /// Records that the command ended because its timeout expired.
    pub fn set_timed_out(&mut self) {
        self.session.processes.set_timed_out(true);
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

    /// The same, but ignores functions and builtins.
    pub(crate) fn dispatch_external(&mut self, words: &[Bytes]) -> Flow {
        self.session.dispatch_external(words, self.values)
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.session
    }

    /// The session, for operations on several of its parts: running a command, waiting for a process, assigning a variable.
    #[must_use]
    pub fn session_mut(&mut self) -> &mut Session {
        self.session
    }

    /// Writes to standard error as is. Errors are ignored.
    pub fn print_error(&mut self, bytes: &[u8]) {
        let _ = self.session.write(2, bytes);
    }

    /// Writes out what is buffered. Errors are ignored.
    pub fn flush(&mut self) {
        let _ = self.session.flush();
    }

    /// The value of a variable, or of the first element of an array.
    #[must_use]
    pub fn value(&self, name: &[u8]) -> Option<Bytes> {
        self.session.value(name)
    }

    /// The token that cancels the session.
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        self.session.cancel_token()
    }

    /// Opens a file for reading. The path is relative to the working directory; `/dev/stdin` and `/dev/fd/3` mean descriptors of
    /// the session.
    ///
    /// # Errors
    /// The outer error is cancellation, or a trap that ran during the wait and leaves the command.
    pub fn open_input(&mut self, name: &[u8]) -> Result<io::Result<Arc<OpenFile>>, Unwind> {
        self.session.open(name, OpenOptions::new().read(true), true)
    }

    /// Opens a file for writing, and creates it if it does not exist. It is truncated, or appended to.
    ///
    /// # Errors
    /// As for [`Context::open_input`].
    pub fn open_output(&mut self, name: &[u8], append: bool) -> Result<io::Result<Arc<OpenFile>>, Unwind> {
        let options = OpenOptions::new().write(true).create(true).append(append).truncate(!append);
        self.session.open(name, options, true)
    }

    /// Writes to standard output, as a program does: the error is returned, and a closed pipe does not end the shell.
    ///
    /// # Errors
    /// As `write(2)`.
    pub fn write_output(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.session.write(1, bytes).map(drop)
    }

    /// Returns the open file of a file descriptor.
    #[must_use]
    pub fn file(&self, number: u32) -> Option<Arc<OpenFile>> {
        self.session.open_files.get(number).cloned()
    }

    /// Checks for cancellation and runs the traps of signals that have arrived.
    ///
    /// # Errors
    /// If the session is being stopped, or a signal ends it.
    pub fn check_signals(&mut self) -> Result<(), Unwind> {
        self.check()?;
        match self.session.has_pending_signals() {
            true => self.session.run_signal_traps().map(drop),
            false => Ok(()),
        }
    }

    /// Checks for cancellation. Cheap enough for every iteration of a loop.
    ///
    /// # Errors
    /// If the session is being stopped.
    pub fn check(&self) -> Result<(), Unwind> {
        self.session.check()
    }
}

impl Context<'_> {
    /// The options of `set` and `shopt`.
    #[inline]
    pub(crate) fn options(&self) -> &ShellOptions {
        &self.session.options
    }
}

/// Methods that return one part of the session, to be read or changed.
macro_rules! parts {
    ($($(#[$doc:meta])* $part:ident, $part_mut:ident: $type:ty;)*) => {
        impl Context<'_> {
            $(
                $(#[$doc])*
                #[inline]
                pub(crate) fn $part(&self) -> &$type {
                    &self.session.$part
                }

                $(#[$doc])*
                #[inline]
                pub(crate) fn $part_mut(&mut self) -> &mut $type {
                    &mut self.session.$part
                }
            )*
        }
    };
}

parts! {
    /// The variables.
    variables, variables_mut: Variables;
    /// The background jobs.
    jobs, jobs_mut: Jobs;
    /// The positional and special parameters.
    parameters, parameters_mut: Parameters;
    /// Functions, aliases, completions and disabled builtins.
    definitions, definitions_mut: Definitions;
    /// The working directory and the directory stack.
    working_directory, working_directory_mut: WorkingDirectory;
    /// The open files and the file mode mask.
    open_files, open_files_mut: OpenFiles;
    /// The position of the script: calls, loops, lines.
    calls, calls_mut: CallStack;
    /// The traps.
    traps, traps_mut: Traps;
    /// The table of `hash` and other caches.
    caches, caches_mut: Caches;
}
