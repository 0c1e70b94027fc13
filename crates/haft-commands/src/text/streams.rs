//! The input and output of a text command.

mod choice;
mod input;
mod wording;

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Unwind};
use haft_process::Signals;

use super::name::quoted_value;
use crate::arguments::CommandArguments;
use crate::descriptor::CommandDescriptor;
use crate::rows::{JsonCell, JsonRows};
use crate::status::SIGNAL_BASE;
pub(crate) use choice::Choices;
pub(crate) use input::TextInput;
pub(crate) use wording::Wording;

/// How much output is collected before it is written.
const WRITE_BYTES: usize = 64 * 1024;

/// A running text command: its output, its messages and its exit status.
pub(crate) struct TextRun<'c, 's> {
    pub(crate) context: &'c mut Context<'s>,
    output: Vec<u8>,
    /// Whether standard output is a terminal, which shows output before the command waits for input.
    has_terminal: bool,
    status: i32,
    wording: Wording,
    /// The results, with `--json`. Other output is dropped then.
    rows: Option<JsonRows>,
}

/// Why a text command ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// With this exit status.
    Exit(i32),
    /// The session ends.
    Unwind(Unwind),
}

impl From<Unwind> for Stop {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

/// Runs a text command and returns its exit status.
pub(crate) fn run_text(
    context: &mut Context<'_>,
    work: impl FnOnce(&mut TextRun<'_, '_>) -> Result<(), Stop>,
) -> Flow {
    run_worded(context, Wording::Plain, work)
}

/// The same, with other messages about files.
pub(crate) fn run_worded(
    context: &mut Context<'_>,
    wording: Wording,
    work: impl FnOnce(&mut TextRun<'_, '_>) -> Result<(), Stop>,
) -> Flow {
    let has_terminal = context.file(1).is_some_and(|output| output.is_terminal());
    let mut run = TextRun { context, output: Vec::new(), has_terminal, status: 0, wording, rows: None };
    match work(&mut run).and_then(|()| run.write_rows()).and_then(|()| run.flush()) {
        Ok(()) => Ok(run.status),
        Err(Stop::Exit(status)) => {
            let _ = run.flush();
            Ok(status)
        }
        Err(Stop::Unwind(unwind)) => Err(unwind),
    }
}

impl TextRun<'_, '_> {
    /// Collects results as JSON if `--json` asks for it.
    pub(crate) fn collect_rows(&mut self, descriptor: &CommandDescriptor, arguments: &CommandArguments) {
        self.rows = JsonRows::new(descriptor, arguments);
    }

    /// Whether results are collected.
    pub(crate) fn collects_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// Adds a result, if results are collected.
    pub(crate) fn row(&mut self, cells: impl FnOnce() -> Vec<JsonCell>) {
        if let Some(rows) = &mut self.rows {
            rows.add(cells());
        }
    }

    fn write_rows(&mut self) -> Result<(), Stop> {
        match self.rows.take() {
            Some(rows) => {
                let text = rows.finish(self.context);
                self.write(&text)
            }
            None => Ok(()),
        }
    }

    /// Writes output.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        if self.rows.is_some() {
            return Ok(());
        }
        if self.output.len() + bytes.len() > WRITE_BYTES {
            self.flush()?;
            if bytes.len() > WRITE_BYTES {
                return self.write_now(bytes);
            }
        }
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes output at once.
    pub(crate) fn write_through(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.flush()?;
        if bytes.is_empty() { Ok(()) } else { self.write_now(bytes) }
    }

    /// Writes out what was collected.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        if self.output.is_empty() {
            return Ok(());
        }
        let mut output = std::mem::take(&mut self.output);
        let result = self.write_now(&output);
        output.clear();
        self.output = output;
        result
    }

    fn write_now(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.context.check()?;
        match self.context.write_output(bytes) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(Stop::Exit(SIGNAL_BASE + Signals::PIPE))
            }
            Err(error) => {
                self.context.check()?;
                self.complain(format_args!("{}: {}", self.wording.write_failed(), haft_fs::message(&error)));
                Err(Stop::Exit(self.wording.failure()))
            }
        }
    }

    /// Prints a message with the name of the command, after its output so far.
    pub(crate) fn complain(&mut self, message: impl Display) {
        let _ = self.flush();
        let line = format!("{}: {message}\n", String::from_utf8_lossy(self.context.name));
        self.context.print_error(line.as_bytes());
        self.context.flush();
    }

    /// The same for a message that need not be text.
    pub(crate) fn complain_bytes(&mut self, message: &[u8]) {
        let _ = self.flush();
        let line = [self.context.name, b": ", message, b"\n"].concat();
        self.context.print_error(&line);
        self.context.flush();
    }

    /// Prints a message about a file, and makes the command fail.
    pub(crate) fn file_failed(&mut self, subject: impl Display, error: &io::Error) {
        // GNU's `tac` reads a directory at its end, which is another error.
        let reason = match (self.wording, error.kind()) {
            (Wording::Failed, io::ErrorKind::IsADirectory) => "Invalid argument".to_owned(),
            _ => haft_fs::message(error),
        };
        self.complain(format_args!("{subject}: {reason}"));
        self.status = self.wording.failure();
    }

    /// Prints a message and ends the command.
    pub(crate) fn fail<T>(&mut self, message: impl Display) -> Result<T, Stop> {
        self.complain(message);
        Err(Stop::Exit(self.wording.failure()))
    }

    /// Prints an error in the arguments, and ends the command.
    pub(crate) fn usage<T>(&mut self, message: impl Display) -> Result<T, Stop> {
        let name = String::from_utf8_lossy(self.context.name).into_owned();
        self.complain(format_args!("{message}\nTry '{name} --help' for more information."));
        Err(Stop::Exit(self.wording.failure()))
    }

    /// A value for a message, in quotes.
    pub(crate) fn quote(&self, value: &[u8]) -> String {
        quoted_value(value, self.context.session().encoding())
    }

    /// Prints an error about a surplus operand, and ends the command.
    pub(crate) fn extra_operand<T>(&mut self, operand: &[u8]) -> Result<T, Stop> {
        let shown = self.quote(operand);
        self.usage(format_args!("extra operand {shown}"))
    }

    /// Sets the exit status.
    pub(crate) fn set_status(&mut self, status: i32) {
        self.status = status;
    }

    /// Opens an operand; `-` means standard input. Prints the reason and returns `None` if it cannot be opened.
    pub(crate) fn open(&mut self, name: &Bytes) -> Result<Option<TextInput>, Stop> {
        if *name == "-" && !matches!(self.wording, Wording::Unquoted) {
            return Ok(Some(self.standard_input()));
        }
        match self.try_open(name)? {
            Ok(input) => Ok(Some(input)),
            Err(error) => {
                self.file_failed(self.wording.open_failed(name), &error);
                Ok(None)
            }
        }
    }

    /// Opens a file for reading.
    pub(crate) fn try_open(&mut self, name: &Bytes) -> Result<io::Result<TextInput>, Stop> {
        Ok(self.context.open_input(name)?.map(|file| TextInput::new(Some(file), name.clone())))
    }

    /// Standard input. If it is closed, reading fails.
    pub(crate) fn standard_input(&self) -> TextInput {
        TextInput::new(self.context.file(0), Bytes::from("-"))
    }

    /// Calls `work` with each operand that can be opened, or with standard input if there are none.
    pub(crate) fn each_input(
        &mut self,
        operands: &[Bytes],
        mut work: impl FnMut(&mut Self, &mut TextInput) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if operands.is_empty() {
            let mut input = self.standard_input();
            return work(self, &mut input);
        }
        for name in operands {
            if let Some(mut input) = self.open(name)? {
                work(self, &mut input)?;
            }
        }
        Ok(())
    }
}

/// The size of an operand, as far as it is known before it is read.
pub(crate) enum FileSize {
    Regular(u64),
    /// A pipe, a device or a directory.
    Unknown,
    Missing,
}

impl TextRun<'_, '_> {
    /// The size of an operand.
    pub(crate) fn file_size(&self, name: &Bytes) -> FileSize {
        if name.is_empty() {
            return FileSize::Missing;
        }
        let metadata = match *name == "-" {
            true => self
                .context
                .file(0)
                .map_or_else(|| Err(io::ErrorKind::NotFound.into()), |file| file.metadata()),
            false => {
                let session = self.context.session();
                session.files().metadata(OsStr::from_bytes(&session.resolve(name)).as_ref())
            }
        };
        match metadata {
            Ok(metadata) if metadata.is_file() => FileSize::Regular(metadata.size),
            Ok(_) => FileSize::Unknown,
            Err(_) => FileSize::Missing,
        }
    }
}
