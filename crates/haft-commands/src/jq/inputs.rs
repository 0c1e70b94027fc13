//! The inputs of a filter: values of the files, one after the other.

use haft_kernel::Bytes;

use super::reader::{Found, JsonReader, ReadMode};
use super::value::Value;
use crate::text::streams::{Stop, TextInput, TextRun, Wording};

/// The longest piece of a line that is read at once.
const PIECE_BYTES: usize = 4095;

/// How the text of the files is read.
enum Form {
    Json(Box<JsonReader>),
    Lines,
}

/// The files, and the place in them.
pub(super) struct Inputs {
    files: std::vec::IntoIter<Bytes>,
    current: Option<TextInput>,
    name: Option<Bytes>,
    lines: usize,
    form: Form,
    /// Everything that was read so far, if it is one input.
    collected: Option<Collected>,
    /// The number of files that could not be read.
    pub(super) failures: usize,
    piece: Vec<u8>,
    is_last: bool,
}

enum Collected {
    Values(Vec<Value>),
    Text(Vec<u8>),
}

/// The next input.
pub(super) enum NextInput {
    Value(Value),
    /// Text that is not valid.
    Invalid(String),
    End,
}

impl Inputs {
    pub(super) fn new(files: Vec<Bytes>, mode: ReadMode, raw: bool, slurp: bool) -> Self {
        let files = if files.is_empty() { vec![Bytes::from("-")] } else { files };
        Self {
            files: files.into_iter(),
            current: None,
            name: None,
            lines: 0,
            form: if raw { Form::Lines } else { Form::Json(Box::new(JsonReader::new(mode))) },
            collected: match (slurp, raw) {
                (false, _) => None,
                (true, true) => Some(Collected::Text(Vec::new())),
                (true, false) => Some(Collected::Values(Vec::new())),
            },
            failures: 0,
            piece: Vec::new(),
            is_last: false,
        }
    }

    /// The name of the current file.
    pub(super) fn name(&self) -> Option<&Bytes> {
        self.name.as_ref()
    }

    /// How many lines of the current file were read.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// Where the input is, for error messages.
    pub(super) fn position(&self) -> String {
        match &self.name {
            None => "<unknown>".to_owned(),
            Some(name) if *name == "-" => format!("<stdin>:{}", self.lines),
            Some(name) => format!("{}:{}", name.lossy(), self.lines),
        }
    }

    /// Reads the next piece: a line, or a part of one.
    fn read_piece(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        self.piece.clear();
        if self.current.is_none() {
            self.open_next(run)?;
        }
        if let Some(input) = &mut self.current {
            let is_complete = read_line_part(input, run, &mut self.piece)?;
            if is_complete {
                self.lines += 1;
            } else if self.piece.len() < PIECE_BYTES {
                self.failures += usize::from(input.has_failed());
                self.current = None;
            }
        }
        self.is_last = self.current.is_none() && self.files.as_slice().is_empty();
        Ok(())
    }

    fn open_next(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        self.name = None;
        self.lines = 0;
        let Some(name) = self.files.next() else { return Ok(()) };
        if name == "-" {
            self.current = Some(run.standard_input().worded(Wording::Jq));
        } else {
            match run.try_open(&name)? {
                Ok(input) => self.current = Some(input.worded(Wording::Jq)),
                Err(error) => {
                    let reason = haft_fs::message(&error);
                    let name = name.lossy();
                    run.complain(format_args!("error: Could not open file {name}: {reason}"));
                    self.failures += 1;
                }
            }
        }
        self.name = Some(name);
        Ok(())
    }

    /// Forgets the name of the last file when something is read after its end.
    fn leave_last_file(&mut self) {
        if self.is_last {
            self.name = None;
            self.lines = 0;
        }
    }

    /// The next input.
    pub(super) fn next(&mut self, run: &mut TextRun<'_, '_>) -> Result<NextInput, Stop> {
        match &self.form {
            Form::Lines => self.next_line(run),
            Form::Json(_) => self.next_json(run),
        }
    }

    fn next_line(&mut self, run: &mut TextRun<'_, '_>) -> Result<NextInput, Stop> {
        let mut line = Vec::new();
        self.leave_last_file();
        while !self.is_last {
            self.read_piece(run)?;
            match &mut self.collected {
                Some(Collected::Text(text)) => text.extend_from_slice(&self.piece),
                _ => {
                    line.extend_from_slice(&self.piece);
                    if line.last() == Some(&b'\n') {
                        line.pop();
                        return Ok(NextInput::Value(text_value(&line)));
                    }
                }
            }
        }
        match self.collected.take() {
            Some(Collected::Text(text)) => Ok(NextInput::Value(text_value(&text))),
            _ if line.is_empty() => Ok(NextInput::End),
            _ => Ok(NextInput::Value(text_value(&line))),
        }
    }

    fn next_json(&mut self, run: &mut TextRun<'_, '_>) -> Result<NextInput, Stop> {
        loop {
            let Form::Json(reader) = &mut self.form else { return Ok(NextInput::End) };
            if !reader.has_rest() && self.is_last {
                self.leave_last_file();
            } else if !reader.has_rest() {
                self.read_piece(run)?;
                let Form::Json(reader) = &mut self.form else { return Ok(NextInput::End) };
                reader.set_piece(&self.piece, self.is_last);
            }
            let Form::Json(reader) = &mut self.form else { return Ok(NextInput::End) };
            match (reader.next(), &mut self.collected) {
                (Found::Value(value), Some(Collected::Values(values))) => {
                    values.push(value);
                    // With `--stream`, a closing event may be left. It is an input of its own.
                    if self.is_last && !reader.has_rest() {
                        let values = std::mem::take(values);
                        self.collected = None;
                        return Ok(NextInput::Value(values.into()));
                    }
                }
                (Found::Value(value), _) => return Ok(NextInput::Value(value)),
                (Found::Error(message), _) => return Ok(NextInput::Invalid(message)),
                (Found::Nothing, _) if !self.is_last => {}
                (Found::Nothing, _) => {
                    return Ok(match self.collected.take() {
                        Some(Collected::Values(values)) => NextInput::Value(values.into()),
                        _ => NextInput::End,
                    });
                }
            }
        }
    }
}

/// Reads up to the end of the line, but not more than a piece. Returns whether the line is complete.
fn read_line_part(
    input: &mut TextInput,
    run: &mut TextRun<'_, '_>,
    piece: &mut Vec<u8>,
) -> Result<bool, Stop> {
    while piece.len() < PIECE_BYTES {
        let available = input.fill(run)?;
        if available.is_empty() {
            return Ok(false);
        }
        let room = available.len().min(PIECE_BYTES - piece.len());
        let end = memchr::memchr(b'\n', &available[..room]);
        let count = end.map_or(room, |at| at + 1);
        piece.extend_from_slice(&available[..count]);
        input.consume(count);
        if end.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn text_value(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into_owned().into()
}
