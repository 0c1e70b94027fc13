//! Input that is read in pieces or line by line.

use std::io;
use std::sync::Arc;

use haft_fs::Metadata;
use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::{Stop, TextRun, Wording};

/// How much is read at once.
const READ_BYTES: usize = 128 * 1024;

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
    pub(super) fn new(file: Option<Arc<OpenFile>>, name: Bytes) -> Self {
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
