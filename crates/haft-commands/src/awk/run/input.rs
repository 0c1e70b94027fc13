//! Reads records from files.

use std::rc::Rc;

use haft_kernel::Bytes;
use haft_text::regex::gnu::GnuRegex;

use super::{AwkRun, AwkStop, Evaluated};
use crate::awk::value::AwkValue;
use crate::text::streams::{Stop, TextInput, TextRun};

/// How much GNU's `awk` reads at once.
const BLOCK_BYTES: usize = 4096;

/// How records are separated.
#[derive(Clone, Debug)]
pub(super) enum RecordSeparator {
    Byte(u8),
    /// Empty lines.
    Paragraph,
    Regex(Rc<GnuRegex>),
}

/// A file that is read record by record.
pub(super) struct RecordReader {
    input: TextInput,
    /// Bytes that were read and belong to later records.
    pending: Vec<u8>,
}

/// The main input: the files of `ARGV`.
#[derive(Default)]
pub(super) struct AwkInput {
    reader: Option<RecordReader>,
    /// The index in `ARGV` of the next operand.
    next: usize,
    /// Whether a file was named. If none was, standard input is read.
    has_file: bool,
    is_finished: bool,
    /// The buffer for the next record.
    record: Vec<u8>,
    /// The text that ended the last record.
    terminator: Vec<u8>,
}

impl RecordReader {
    pub(super) fn new(input: TextInput) -> Self {
        Self { input, pending: Vec::new() }
    }

    /// Reads a record and the text that separates it from the next. Returns whether there was one.
    pub(super) fn read(
        &mut self,
        run: &mut TextRun<'_, '_>,
        separator: &RecordSeparator,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
    ) -> Result<bool, Stop> {
        terminator.clear();
        match separator {
            RecordSeparator::Byte(byte) if self.pending.is_empty() => {
                if !self.input.read_line(run, *byte, record)? {
                    return Ok(false);
                }
                if record.last() == Some(byte) {
                    record.pop();
                    terminator.push(*byte);
                }
                Ok(true)
            }
            RecordSeparator::Byte(byte) => self.read_pending(run, record, terminator, |text, _| {
                memchr::memchr(*byte, text).map(|at| (at, at + 1))
            }),
            RecordSeparator::Paragraph => self.read_paragraph(run, record, terminator),
            RecordSeparator::Regex(regex) => self.read_pending(run, record, terminator, |text, is_end| {
                let mut from = 0;
                loop {
                    let found = regex.find(text, from).ok()??;
                    if !found.is_empty() {
                        // More text could make the match longer.
                        let is_sure = is_end || found.end < text.len();
                        return is_sure.then_some((found.start, found.end));
                    }
                    from = found.end + 1;
                    if from > text.len() {
                        return None;
                    }
                }
            }),
        }
    }

    /// Reads more into the buffer. Returns whether there was more.
    fn read_more(&mut self, run: &mut TextRun<'_, '_>) -> Result<bool, Stop> {
        let more = self.input.fill(run)?;
        let count = more.len();
        self.pending.extend_from_slice(more);
        self.input.consume(count);
        Ok(count > 0)
    }

    fn read_paragraph(
        &mut self,
        run: &mut TextRun<'_, '_>,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
    ) -> Result<bool, Stop> {
        loop {
            let newlines = self.pending.iter().take_while(|byte| **byte == b'\n').count();
            self.pending.drain(..newlines);
            if !self.pending.is_empty() {
                break;
            }
            if !self.read_more(run)? {
                return Ok(false);
            }
        }
        self.read_pending(run, record, terminator, |text, is_end| {
            let at = text.windows(2).position(|pair| pair == b"\n\n");
            let at = at.or_else(|| (is_end && text.ends_with(b"\n")).then(|| text.len() - 1))?;
            let newlines = text[at..].iter().take_while(|byte| **byte == b'\n').count();
            (is_end || at + newlines < text.len()).then_some((at, at + newlines))
        })
    }

    /// Reads until `find` finds a separator. It is told whether the text is all there is.
    fn read_pending(
        &mut self,
        run: &mut TextRun<'_, '_>,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
        find: impl Fn(&[u8], bool) -> Option<(usize, usize)>,
    ) -> Result<bool, Stop> {
        record.clear();
        loop {
            if let Some((start, end)) = find(&self.pending, false) {
                return Ok(self.take(start, end, record, terminator));
            }
            if !self.read_more(run)? {
                if self.pending.is_empty() {
                    return Ok(false);
                }
                let (start, end) =
                    find(&self.pending, true).unwrap_or((self.pending.len(), self.pending.len()));
                return Ok(self.take(start, end, record, terminator));
            }
        }
    }

    fn take(&mut self, start: usize, end: usize, record: &mut Vec<u8>, terminator: &mut Vec<u8>) -> bool {
        record.extend_from_slice(&self.pending[..start]);
        terminator.extend_from_slice(&self.pending[start..end]);
        self.pending.drain(..end);
        true
    }
}

impl AwkRun<'_, '_, '_> {
    /// Reads the next record of the main input into the record.
    pub(super) fn next_record(&mut self) -> Evaluated<bool> {
        loop {
            if self.input.reader.is_none() && !self.open_next()? {
                return Ok(false);
            }
            let Some(reader) = &mut self.input.reader else { continue };
            let (record, terminator) = (&mut self.input.record, &mut self.input.terminator);
            if reader.read(self.run, &self.separator, record, terminator)? {
                self.record.replace(record);
                self.count_record();
                return Ok(true);
            }
            self.end_file()?;
        }
    }

    fn count_record(&mut self) {
        if *self.special.rt != *self.input.terminator {
            self.special.rt = self.input.terminator.as_slice().into();
        }
        self.special.nr += 1.0;
        self.special.fnr += 1.0;
    }

    /// Reads the next record of the main input into a text.
    pub(super) fn next_record_text(&mut self) -> Evaluated<Option<Bytes>> {
        let mut record = Vec::new();
        loop {
            if self.input.reader.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some(reader) = &mut self.input.reader else { continue };
            if reader.read(self.run, &self.separator, &mut record, &mut self.input.terminator)? {
                self.count_record();
                return Ok(Some(record.into()));
            }
            self.end_file()?;
        }
    }

    /// Ends the current file.
    pub(super) fn end_file(&mut self) -> Evaluated<()> {
        if self.input.reader.take().is_some() {
            let program = self.program.clone();
            self.run_blocks(&program.end_file)?;
        }
        Ok(())
    }

    /// Opens the next file of `ARGV`. Returns whether there is one.
    fn open_next(&mut self) -> Evaluated<bool> {
        while !self.input.is_finished {
            let Some(operand) = self.next_operand() else {
                self.input.is_finished = true;
                if self.input.has_file {
                    return Ok(false);
                }
                self.input.reader = Some(RecordReader::new(self.standard_input()));
                self.begin_file(AwkValue::Text("-".into()))?;
                return Ok(true);
            };
            if operand.is_empty() || self.assign_operand(&operand)? {
                continue;
            }
            self.input.has_file = true;
            if self.open_file(&operand)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Standard input. If the program may end early, the rest is left to the next reader.
    fn standard_input(&self) -> TextInput {
        let input = self.run.standard_input();
        if self.program.can_exit { input.with_read_size(BLOCK_BYTES) } else { input }
    }

    fn next_operand(&mut self) -> Option<Bytes> {
        let argv = self.global_index("ARGV")?;
        let argc = self.global_index("ARGC").map_or(0.0, |index| self.globals[index].to_number());
        loop {
            self.input.next += 1;
            #[expect(clippy::cast_precision_loss, reason = "the count is small")]
            if self.input.next as f64 >= argc {
                return None;
            }
            let key = self.input.next.to_string();
            if let Some(value) = self.arrays[argv].borrow().get(key.as_bytes()) {
                return Some(value.to_text(b"%.6g"));
            }
        }
    }

    /// Runs an operand of the form `variable=value`.
    fn assign_operand(&mut self, operand: &[u8]) -> Evaluated<bool> {
        let Some(end) = memchr::memchr(b'=', operand) else { return Ok(false) };
        let name = &operand[..end];
        let is_name = name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if is_name {
            self.assign_named(&String::from_utf8_lossy(name), &operand[end + 1..])?;
        }
        Ok(is_name)
    }

    fn open_file(&mut self, name: &Bytes) -> Evaluated<bool> {
        let shown = name.lossy().into_owned();
        let opened = match *name == "-" {
            true => Ok(self.standard_input()),
            false => self.run.try_open(name)?,
        };
        let session = self.run.context.session();
        let is_directory = *name != "-" && session.files().is_dir(haft_text::path(&session.resolve(name)));
        if opened.is_err() || is_directory {
            if !self.program.begin_file.is_empty() {
                self.begin_file(AwkValue::Input(name.clone()))?;
            }
            self.run.flush()?;
        }
        let has_run = self.special.nr > 0.0 && !self.program.rules.is_empty()
            || !self.program.begin.is_empty()
            || !self.program.begin_file.is_empty();
        let line = self.line;
        let place = if has_run { format!("cmd. line:{line}: ") } else { String::new() };
        match opened {
            Err(error) => {
                let reason = haft_fs::message(&error);
                let message = format!("{place}fatal: cannot open file `{shown}' for reading: {reason}");
                self.run.complain(message);
                Err(AwkStop::Stop(Stop::Exit(2)))
            }
            Ok(_) if is_directory => {
                let message =
                    format!("{place}warning: command line argument `{shown}' is a directory: skipped");
                self.run.complain(message);
                Ok(false)
            }
            Ok(input) => {
                self.input.reader = Some(RecordReader::new(input));
                self.begin_file(AwkValue::Input(name.clone()))?;
                Ok(true)
            }
        }
    }

    fn begin_file(&mut self, name: AwkValue) -> Evaluated<()> {
        self.special.fnr = 0.0;
        self.special.filename = name;
        let program = self.program.clone();
        match self.run_blocks(&program.begin_file) {
            Err(AwkStop::NextFile) => self.end_file(),
            other => other,
        }
    }
}
