//! The input and output of a text command.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use haft_fs::Metadata;
use haft_kernel::builtins::Context;
use haft_kernel::io::OpenFile;
use haft_kernel::{Bytes, Flow, Unwind};
use haft_process::Signals;

use super::name::{quoted, quoted_always, quoted_value};
use crate::status::SIGNAL_BASE;

/// How much is read at once.
const READ_BYTES: usize = 128 * 1024;

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
}

/// How a command words that a file cannot be opened or read.
#[derive(Clone, Copy)]
pub(crate) enum Wording {
    /// `NAME: REASON`
    Plain,
    /// `cannot open 'NAME' for reading: REASON` and `error reading 'NAME': REASON`
    Reading,
    /// `failed to open 'NAME' for reading: REASON` and `NAME: read error: REASON`
    Failed,
    /// `NAME: REASON` and `error reading 'NAME'`
    NoReason,
    /// `cannot open NAME: REASON` and `NAME: LINE: REASON`
    Unquoted,
    /// `NAME: REASON` and `read error: REASON`
    ReadError,
    /// `NAME: REASON` and `NAME: read error`
    ChecksumList,
    /// `NAME: REASON`, with status 2.
    Grep,
    /// `can't read NAME: REASON` and `read error on NAME: REASON`, with status 4.
    Sed,
    /// No message, with status 2.
    Silent,
    /// `error: Could not open file NAME: REASON` and `error: REASON`, with status 2.
    Jq,
    /// `open failed: NAME: REASON` and `read failed: NAME: REASON`, with status 2.
    Sort,
}

impl Wording {
    fn open_failed(self, name: &[u8]) -> String {
        match self {
            Self::Plain | Self::NoReason | Self::ReadError | Self::ChecksumList => quoted(name),
            Self::Reading => format!("cannot open {} for reading", quoted_always(name)),
            Self::Failed => format!("failed to open {} for reading", quoted_always(name)),
            Self::Unquoted => format!("cannot open {}", String::from_utf8_lossy(name)),
            Self::Grep | Self::Silent => String::from_utf8_lossy(name).into_owned(),
            Self::Sed => format!("can't read {}", String::from_utf8_lossy(name)),
            Self::Jq => format!("error: Could not open file {}", String::from_utf8_lossy(name)),
            Self::Sort => format!("open failed: {}", quoted(name)),
        }
    }

    fn read_failed(self, name: &[u8]) -> String {
        let name = if name == b"-" && !matches!(self, Self::Sort) { b"standard input" } else { name };
        match self {
            Self::Plain => quoted(name),
            Self::Reading | Self::NoReason => format!("error reading {}", quoted_always(name)),
            Self::Failed | Self::ChecksumList => format!("{}: read error", quoted(name)),
            Self::ReadError => "read error".to_owned(),
            Self::Jq => "error".to_owned(),
            Self::Unquoted => format!("{}: 0", String::from_utf8_lossy(name)),
            Self::Sed => format!("read error on {}", String::from_utf8_lossy(name)),
            Self::Grep | Self::Silent => String::from_utf8_lossy(name).into_owned(),
            Self::Sort => format!("read failed: {}", quoted(name)),
        }
    }

    fn write_failed(self) -> &'static str {
        match self {
            Self::Sort => "write failed: 'standard output'",
            Self::Jq => "error: writing output failed",
            _ => "write error",
        }
    }

    /// The exit status after an error.
    fn failure(self) -> i32 {
        match self {
            Self::Sed => 4,
            Self::Sort | Self::Grep | Self::Silent | Self::Jq => 2,
            _ => 1,
        }
    }
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
    let mut run = TextRun { context, output: Vec::new(), has_terminal, status: 0, wording };
    match work(&mut run).and_then(|()| run.flush()) {
        Ok(()) => Ok(run.status),
        Err(Stop::Exit(status)) => {
            let _ = run.flush();
            Ok(status)
        }
        Err(Stop::Unwind(unwind)) => Err(unwind),
    }
}

impl TextRun<'_, '_> {
    /// Writes output.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
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

/// A file that is read in pieces or line by line.
pub(crate) struct TextInput {
    file: Option<Arc<OpenFile>>,
    pub(crate) name: Bytes,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ending: Option<InputEnd>,
    /// How a read error is worded, if not as other messages of the command.
    wording: Option<Wording>,
    read_size: usize,
}

/// Why an input has no more data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputEnd {
    EndOfFile,
    Error,
}

impl TextInput {
    fn new(file: Option<Arc<OpenFile>>, name: Bytes) -> Self {
        Self {
            file,
            name,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            ending: None,
            wording: None,
            read_size: READ_BYTES,
        }
    }

    /// A file that is open already.
    pub(crate) fn of_file(file: Arc<OpenFile>, name: Bytes) -> Self {
        Self::new(Some(file), name)
    }

    /// Sets how a read error is worded.
    pub(crate) fn worded(self, wording: Wording) -> Self {
        Self { wording: Some(wording), ..self }
    }

    /// Sets how much is read at once.
    pub(crate) fn with_read_size(self, read_size: usize) -> Self {
        Self { read_size, ..self }
    }

    /// Sets how much is read at once from here on.
    pub(crate) fn set_read_size(&mut self, read_size: usize) {
        self.read_size = read_size;
    }

    /// Sets the name for messages.
    pub(crate) fn named(self, name: &[u8]) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Whether reading has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.ending == Some(InputEnd::Error)
    }

    /// Returns unread bytes, and reads some if there are none. Empty at the end of the file, and after an error, which is reported.
    pub(crate) fn fill(&mut self, run: &mut TextRun<'_, '_>) -> Result<&[u8], Stop> {
        if self.start == self.end && self.ending.is_none() {
            self.buffer.resize(self.read_size, 0);
            (self.start, self.end) = (0, 0);
            self.end = self.read(run)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn read(&mut self, run: &mut TextRun<'_, '_>) -> Result<usize, Stop> {
        if run.has_terminal {
            run.flush()?;
        }
        run.context.flush();
        loop {
            run.context.check()?;
            let result = match &self.file {
                Some(file) => file.read(&mut self.buffer, None, run.context.cancel_token()),
                None => Err(io::Error::from_raw_os_error(rustix::io::Errno::BADF.raw_os_error())),
            };
            match result {
                Ok(length) => {
                    self.ending = (length == 0).then_some(InputEnd::EndOfFile);
                    return Ok(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => run.context.check_signals()?,
                Err(error) => {
                    self.ending = Some(InputEnd::Error);
                    let wording = self.wording.unwrap_or(run.wording);
                    let subject = wording.read_failed(&self.name);
                    match wording {
                        Wording::Silent => {}
                        Wording::NoReason | Wording::ChecksumList => run.complain(subject),
                        _ => run.file_failed(subject, &error),
                    }
                    run.status = run.wording.failure();
                    return Ok(0);
                }
            }
        }
    }

    /// Whether a command that writes to this file would read its own output.
    pub(crate) fn reads_into(&self, output: &Metadata) -> bool {
        let input = self.file.as_ref().and_then(|file| file.metadata().ok());
        input.is_some_and(|input| input.same_file(output) && input.size > 0)
    }

    /// The open file, for a command that follows it.
    pub(crate) fn file(&self) -> Option<&Arc<OpenFile>> {
        self.file.as_ref()
    }

    /// Lets the input be read again after its end, for data that was added since.
    pub(crate) fn resume(&mut self) {
        if self.ending == Some(InputEnd::EndOfFile) {
            self.ending = None;
        }
    }

    pub(crate) fn is_seekable(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.is_seekable())
    }

    /// Whether the part of the file after the current position has a hole.
    pub(crate) fn has_hole(&self) -> bool {
        use rustix::fs::{SeekFrom, seek, tell};
        let Some(file) = &self.file else { return false };
        let size = file.metadata().ok().filter(Metadata::is_file).map_or(0, |metadata| metadata.size);
        let Some(descriptor) = file.descriptor() else { return false };
        let Some(at) = tell(descriptor).ok().filter(|at| *at < size) else { return false };
        let hole = seek(descriptor, SeekFrom::Hole(at));
        let is_restored = seek(descriptor, SeekFrom::Start(at)).is_ok();
        is_restored && hole.is_ok_and(|hole| hole < size)
    }

    /// Marks bytes that [`fill`](Self::fill) returned as read.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Reads up to and including the next delimiter, or to the end of the file. Returns whether there was anything.
    pub(crate) fn read_line(
        &mut self,
        run: &mut TextRun<'_, '_>,
        delimiter: u8,
        line: &mut Vec<u8>,
    ) -> Result<bool, Stop> {
        line.clear();
        loop {
            let available = self.fill(run)?;
            if available.is_empty() {
                return Ok(!line.is_empty());
            }
            let found = memchr::memchr(delimiter, available);
            let count = found.map_or(available.len(), |at| at + 1);
            line.extend_from_slice(&available[..count]);
            self.consume(count);
            if found.is_some() {
                return Ok(true);
            }
        }
    }

    /// The next line with its delimiter, without a copy if it has been read as a whole. `None` at the end.
    pub(crate) fn next_line<'l>(
        &'l mut self,
        run: &mut TextRun<'_, '_>,
        delimiter: u8,
        line: &'l mut Vec<u8>,
    ) -> Result<Option<&'l [u8]>, Stop> {
        if let Some(at) = memchr::memchr(delimiter, self.fill(run)?) {
            let start = self.start;
            self.consume(at + 1);
            return Ok(Some(&self.buffer[start..self.start]));
        }
        Ok(self.read_line(run, delimiter, line)?.then_some(line.as_slice()))
    }

    /// Reads the rest.
    pub(crate) fn read_all(&mut self, run: &mut TextRun<'_, '_>) -> Result<Vec<u8>, Stop> {
        let mut all = Vec::new();
        loop {
            let available = self.fill(run)?;
            if available.is_empty() {
                return Ok(all);
            }
            all.extend_from_slice(available);
            let count = available.len();
            self.consume(count);
        }
    }

    /// Moves the position of a seekable file back to the first byte that was not consumed, for the next reader of the file.
    pub(crate) fn give_back(&mut self) {
        self.give_back_more(0);
    }

    /// The same, with bytes before that one.
    pub(crate) fn give_back_more(&mut self, consumed: usize) {
        let count = self.end - self.start + consumed;
        if let Some(file) = self.file.as_ref().filter(|file| count > 0 && file.is_seekable()) {
            let _ = file.unread(count);
        }
        self.start = self.end;
    }
}
