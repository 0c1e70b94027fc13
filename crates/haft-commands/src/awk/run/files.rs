//! Files and commands that `print` writes to and `getline` reads from.

use std::collections::HashMap;
use std::sync::Arc;

use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;
use haft_kernel::jobs::Member;

use super::input::RecordReader;
use super::{AwkRun, Evaluated};
use crate::awk::tree::{AwkPlace, AwkRedirection, GetlineSource, RedirectionKind};
use crate::awk::value::AwkValue;

/// How much output is collected per file.
const BUFFER_BYTES: usize = 64 * 1024;

/// The open files and pipes.
#[derive(Default)]
pub(super) struct AwkFiles {
    outputs: HashMap<Bytes, OutputFile>,
    inputs: HashMap<Bytes, InputFile>,
    /// The number of files that have been opened.
    opened: u64,
}

struct OutputFile {
    file: Arc<OpenFile>,
    buffer: Vec<u8>,
    /// The command that reads it.
    command: Option<Member>,
    /// Later ones are closed first.
    number: u64,
}

struct InputFile {
    reader: RecordReader,
    /// The command that writes it.
    command: Option<Member>,
}

impl AwkRun<'_, '_, '_> {
    /// Writes to standard output or to a file.
    pub(super) fn write_to(&mut self, text: &[u8], to: Option<&AwkRedirection>) -> Evaluated<()> {
        let Some(to) = to else { return Ok(self.run.write(text)?) };
        let name = self.text(&to.name)?;
        match name.as_bytes() {
            b"/dev/stdout" if to.kind != RedirectionKind::Command => return Ok(self.run.write(text)?),
            b"/dev/stderr" if to.kind != RedirectionKind::Command => {
                self.run.flush()?;
                self.run.context.print_error(text);
                self.run.context.flush();
                return Ok(());
            }
            b"" => {
                let operator = operator(to.kind);
                return self.fatal(format!("expression for `{operator}' redirection has null string value"));
            }
            _ => {}
        }
        if !self.files.outputs.contains_key(&name) {
            self.open_output(&name, to.kind)?;
        }
        let Some(output) = self.files.outputs.get_mut(&name) else { return Ok(()) };
        output.buffer.extend_from_slice(text);
        match output.buffer.len() > BUFFER_BYTES {
            true => self.flush_file(&name),
            false => Ok(()),
        }
    }

    fn open_output(&mut self, name: &Bytes, kind: RedirectionKind) -> Evaluated<()> {
        let (file, command) = match kind {
            RedirectionKind::Command => {
                let (file, command) = self.start_reader(name)?;
                (file, Some(command))
            }
            _ => match self.run.context.open_output(name, kind == RedirectionKind::Append)? {
                Ok(file) => (file, None),
                Err(error) => {
                    let (shown, reason) = (name.lossy(), haft_fs::message(&error));
                    return self.fatal(format!("cannot redirect to `{shown}': {reason}"));
                }
            },
        };
        self.files.opened += 1;
        let output = OutputFile { file, buffer: Vec::new(), command, number: self.files.opened };
        self.files.outputs.insert(name.clone(), output);
        Ok(())
    }

    fn flush_file(&mut self, name: &Bytes) -> Evaluated<()> {
        let Some(output) = self.files.outputs.get_mut(name) else { return Ok(()) };
        let buffer = std::mem::take(&mut output.buffer);
        if let Err(error) = output.file.write(&buffer, Some(self.run.context.cancel_token())) {
            self.run.context.check()?;
            let (shown, reason) = (name.lossy(), haft_fs::message(&error));
            return self.fatal(format!("print to \"{shown}\" failed: {reason}"));
        }
        Ok(())
    }

    /// Writes out what is collected for all files.
    pub(super) fn flush_all(&mut self) -> Evaluated<()> {
        let names: Vec<Bytes> = self.files.outputs.keys().cloned().collect();
        names.iter().try_for_each(|name| self.flush_file(name))?;
        Ok(self.run.flush()?)
    }

    /// Writes out and closes everything. Commands that read have ended then.
    pub(super) fn close_all(&mut self) -> Evaluated<()> {
        let result = self.flush_all();
        let mut outputs: Vec<OutputFile> = self.files.outputs.drain().map(|(_, output)| output).collect();
        outputs.sort_by_key(|output| std::cmp::Reverse(output.number));
        for OutputFile { file, command, .. } in outputs {
            drop(file);
            self.wait_for(command)?;
        }
        for (_, InputFile { reader, command }) in std::mem::take(&mut self.files.inputs) {
            drop(reader);
            self.wait_for(command)?;
        }
        result
    }

    /// Closes a file or a pipe. Returns the exit status of the command, or -1 if nothing of this name is open.
    pub(super) fn close(&mut self, name: &Bytes) -> Evaluated<f64> {
        self.flush_file(name)?;
        if let Some(OutputFile { file, command, .. }) = self.files.outputs.remove(name) {
            drop(file);
            self.run.flush()?;
            return self.wait_for(command);
        }
        match self.files.inputs.remove(name) {
            Some(InputFile { reader, command }) => {
                drop(reader);
                self.wait_for(command)
            }
            None => Ok(-1.0),
        }
    }

    /// Writes out a file. Returns -1 if it is not open.
    pub(super) fn flush_named(&mut self, name: &Bytes) -> Evaluated<f64> {
        let is_open = self.files.outputs.contains_key(name);
        self.flush_file(name)?;
        self.run.flush()?;
        Ok(if is_open || *name == "/dev/stdout" { 0.0 } else { -1.0 })
    }

    pub(super) fn getline(
        &mut self,
        place: Option<&AwkPlace>,
        source: Option<&GetlineSource>,
    ) -> Evaluated<AwkValue> {
        let record = match (source, place) {
            (None, None) => return Ok(AwkValue::truth(self.next_record()?)),
            (None, Some(_)) => self.next_record_text()?,
            (Some(source), _) => {
                let (GetlineSource::File(name) | GetlineSource::Command(name)) = source;
                let name = self.text(name)?;
                let is_command = matches!(source, GetlineSource::Command(_));
                if !self.open_reader(&name, is_command)? {
                    return Ok(AwkValue::Number(-1.0));
                }
                let record = self.read_file(&name)?;
                if is_command && record.is_some() {
                    self.special.nr += 1.0;
                }
                record
            }
        };
        let Some(record) = record else { return Ok(AwkValue::Number(0.0)) };
        match place {
            Some(place) => self.assign(place, AwkValue::Input(record))?,
            None => self.record.set_text(&record),
        }
        Ok(AwkValue::Number(1.0))
    }

    /// Opens a file, or starts a command, for `getline`. Returns whether that worked.
    fn open_reader(&mut self, name: &Bytes, is_command: bool) -> Evaluated<bool> {
        if self.files.inputs.contains_key(name) {
            return Ok(true);
        }
        if is_command {
            let (input, command) = self.start_writer(name)?;
            let input = InputFile { reader: RecordReader::new(input), command: Some(command) };
            self.files.inputs.insert(name.clone(), input);
            return Ok(true);
        }
        let session = self.run.context.session();
        if session.files().is_dir(haft_text::path(&session.resolve(name))) {
            return Ok(false);
        }
        let input = match *name == "-" {
            true => Ok(self.run.standard_input()),
            false => self.run.try_open(name)?,
        };
        let Ok(input) = input else { return Ok(false) };
        let input = InputFile { reader: RecordReader::new(input), command: None };
        self.files.inputs.insert(name.clone(), input);
        Ok(true)
    }

    fn read_file(&mut self, name: &Bytes) -> Evaluated<Option<Bytes>> {
        let Some(InputFile { reader, .. }) = self.files.inputs.get_mut(name) else { return Ok(None) };
        let (mut record, mut terminator) = (Vec::new(), Vec::new());
        let found = reader.read(self.run, &self.separator, &mut record, &mut terminator)?;
        self.special.rt = terminator.into();
        Ok(found.then(|| record.into()))
    }
}

fn operator(kind: RedirectionKind) -> &'static str {
    match kind {
        RedirectionKind::Truncate => ">",
        RedirectionKind::Append => ">>",
        RedirectionKind::Command => "|",
    }
}
