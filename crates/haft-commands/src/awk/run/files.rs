//! Files that `print` writes and `getline` reads.

use std::collections::HashMap;
use std::sync::Arc;

use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::input::RecordReader;
use super::{AwkRun, Evaluated};
use crate::awk::tree::{AwkExpression, AwkPlace, AwkRedirection};
use crate::awk::value::AwkValue;

/// How much output is collected per file.
const BUFFER_BYTES: usize = 64 * 1024;

/// The open files.
#[derive(Default)]
pub(super) struct AwkFiles {
    outputs: HashMap<Bytes, OutputFile>,
    inputs: HashMap<Bytes, RecordReader>,
}

struct OutputFile {
    file: Arc<OpenFile>,
    buffer: Vec<u8>,
}

impl AwkRun<'_, '_, '_> {
    /// Writes to standard output or to a file.
    pub(super) fn write_to(&mut self, text: &[u8], to: Option<&AwkRedirection>) -> Evaluated<()> {
        let Some(to) = to else { return Ok(self.run.write(text)?) };
        let name = self.text(&to.name)?;
        match name.as_bytes() {
            b"/dev/stdout" => return Ok(self.run.write(text)?),
            b"/dev/stderr" => {
                self.run.flush()?;
                self.run.context.print_error(text);
                self.run.context.flush();
                return Ok(());
            }
            b"" => return self.fatal("expression for `>' redirection has null string value"),
            _ => {}
        }
        if !self.files.outputs.contains_key(&name) {
            match self.run.context.open_output(&name, to.is_append)? {
                Ok(file) => {
                    self.files.outputs.insert(name.clone(), OutputFile { file, buffer: Vec::new() });
                }
                Err(error) => {
                    let (shown, reason) = (name.lossy(), haft_fs::message(&error));
                    return self.fatal(format!("cannot redirect to `{shown}': {reason}"));
                }
            }
        }
        let Some(output) = self.files.outputs.get_mut(&name) else { return Ok(()) };
        output.buffer.extend_from_slice(text);
        match output.buffer.len() > BUFFER_BYTES {
            true => self.flush_file(&name),
            false => Ok(()),
        }
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

    pub(super) fn close_all(&mut self) -> Evaluated<()> {
        let result = self.flush_all();
        self.files = AwkFiles::default();
        result
    }

    /// Closes a file. Returns -1 if it is not open.
    pub(super) fn close(&mut self, name: &Bytes) -> Evaluated<f64> {
        self.flush_file(name)?;
        let was_output = self.files.outputs.remove(name).is_some();
        let was_input = self.files.inputs.remove(name).is_some();
        Ok(if was_output || was_input { 0.0 } else { -1.0 })
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
        file: Option<&AwkExpression>,
    ) -> Evaluated<AwkValue> {
        let record = match (file, place) {
            (None, None) => return Ok(AwkValue::truth(self.next_record()?)),
            (None, Some(_)) => self.next_record_text()?,
            (Some(file), _) => {
                let name = self.text(file)?;
                if !self.open_reader(&name)? {
                    return Ok(AwkValue::Number(-1.0));
                }
                self.read_file(&name)?
            }
        };
        let Some(record) = record else { return Ok(AwkValue::Number(0.0)) };
        match place {
            Some(place) => self.assign(place, AwkValue::Input(record))?,
            None => self.record.set_text(&record),
        }
        Ok(AwkValue::Number(1.0))
    }

    /// Opens a file for `getline`. Returns whether that worked.
    fn open_reader(&mut self, name: &Bytes) -> Evaluated<bool> {
        if self.files.inputs.contains_key(name) {
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
        self.files.inputs.insert(name.clone(), RecordReader::new(input));
        Ok(true)
    }

    fn read_file(&mut self, name: &Bytes) -> Evaluated<Option<Bytes>> {
        let Some(reader) = self.files.inputs.get_mut(name) else { return Ok(None) };
        let (mut record, mut terminator) = (Vec::new(), Vec::new());
        let found = reader.read(self.run, &self.separator, &mut record, &mut terminator)?;
        self.special.rt = terminator.into();
        Ok(found.then(|| record.into()))
    }
}
