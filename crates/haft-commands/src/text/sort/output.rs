//! The output of `sort`.

use std::sync::Arc;

use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::super::name::quoted;
use super::super::streams::{Stop, TextRun};

/// How much is written to a file at once.
const WRITE_BYTES: usize = 64 << 10;

/// Standard output, or a file.
pub(super) struct SortOutput {
    file: Option<(Bytes, Arc<OpenFile>)>,
    buffer: Vec<u8>,
    /// Whether everything is kept until the end, because an input may be the same file.
    is_held_back: bool,
}

impl SortOutput {
    pub(super) fn standard() -> Self {
        Self { file: None, buffer: Vec::new(), is_held_back: false }
    }

    pub(super) fn to_file(name: Bytes, file: Arc<OpenFile>) -> Self {
        Self { file: Some((name, file)), ..Self::standard() }
    }

    /// An output that keeps everything until [`finish`](Self::finish).
    pub(super) fn held_back() -> Self {
        Self { is_held_back: true, ..Self::standard() }
    }

    /// Writes a line and its end.
    pub(super) fn line(&mut self, run: &mut TextRun<'_, '_>, line: &[u8], end: u8) -> Result<(), Stop> {
        if self.file.is_none() && !self.is_held_back {
            run.write(line)?;
            return run.write(&[end]);
        }
        self.buffer.extend_from_slice(line);
        self.buffer.push(end);
        match self.buffer.len() >= WRITE_BYTES && !self.is_held_back {
            true => self.flush(run),
            false => Ok(()),
        }
    }

    /// The file to write to, once all inputs have been read.
    pub(super) fn release(&mut self, name: Bytes, file: Arc<OpenFile>) {
        self.is_held_back = false;
        self.file = Some((name, file));
    }

    /// Writes out what was collected.
    pub(super) fn finish(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        self.flush(run)
    }

    fn flush(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let Some((name, file)) = &self.file else { return Ok(()) };
        let cancel = run.context.cancel_token().clone();
        let result = file.write(&self.buffer, Some(&cancel)).and_then(|_| file.flush(Some(&cancel)));
        self.buffer.clear();
        result.or_else(|error| {
            run.context.check()?;
            let reason = haft_fs::message(&error);
            run.fail(format_args!("write failed: {}: {reason}", quoted(name)))
        })
    }
}
