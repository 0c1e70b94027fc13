//! The outputs of `sed`.

use std::sync::Arc;

use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::PANIC;
use crate::text::streams::{Stop, TextRun};

/// An output: standard output, standard error, or a file.
pub(super) struct SedOutput {
    target: OutputTarget,
    /// Whether the last line that was written has no end. The end is written before anything else.
    misses_end: bool,
}

enum OutputTarget {
    Stdout,
    Stderr,
    File(Bytes, Arc<OpenFile>),
}

/// Opens the files of the commands `w`.
pub(super) fn open_all(run: &mut TextRun<'_, '_>, names: &[Bytes]) -> Result<Vec<SedOutput>, Stop> {
    names.iter().map(|name| SedOutput::open(run, name)).collect()
}

impl SedOutput {
    /// Standard output.
    pub(super) fn standard() -> Self {
        Self { target: OutputTarget::Stdout, misses_end: false }
    }

    /// The file that takes the place of a file that is edited.
    pub(super) fn edited(name: Bytes, file: Arc<OpenFile>) -> Self {
        Self { target: OutputTarget::File(name, file), misses_end: false }
    }

    fn open(run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<Self, Stop> {
        let target = match &**name {
            b"/dev/stdout" => OutputTarget::Stdout,
            b"/dev/stderr" => OutputTarget::Stderr,
            _ => match run.context.open_output(name, false)? {
                Ok(file) => OutputTarget::File(name.clone(), file),
                Err(error) => {
                    let reason = haft_fs::message(&error);
                    run.complain(format_args!("couldn't open file {name}: {reason}"));
                    return Err(Stop::Exit(PANIC));
                }
            },
        };
        Ok(Self { target, misses_end: false })
    }

    /// Writes a line. Its end is written later if `is_complete` is false.
    pub(super) fn line(
        &mut self,
        run: &mut TextRun<'_, '_>,
        text: &[u8],
        end: u8,
        is_complete: bool,
    ) -> Result<(), Stop> {
        self.finish_line(run, end)?;
        match is_complete {
            true if matches!(self.target, OutputTarget::Stdout) => {
                run.write(text)?;
                run.write(&[end])?;
            }
            true => self.put(run, &[text, &[end]].concat())?,
            false => self.put(run, text)?,
        }
        self.misses_end = !is_complete;
        Ok(())
    }

    /// Writes text as it is.
    pub(super) fn text(&mut self, run: &mut TextRun<'_, '_>, text: &[u8], end: u8) -> Result<(), Stop> {
        self.finish_line(run, end)?;
        self.put(run, text)
    }

    /// Writes the end of the last line if it is missing.
    pub(super) fn finish_line(&mut self, run: &mut TextRun<'_, '_>, end: u8) -> Result<(), Stop> {
        match std::mem::take(&mut self.misses_end) {
            true => self.put(run, &[end]),
            false => Ok(()),
        }
    }

    fn put(&self, run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<(), Stop> {
        match &self.target {
            OutputTarget::Stdout => run.write(text),
            OutputTarget::Stderr => {
                run.context.print_error(text);
                Ok(())
            }
            OutputTarget::File(name, file) => {
                let cancel = run.context.cancel_token().clone();
                let result = file.write(text, Some(&cancel)).and_then(|_| file.flush(Some(&cancel)));
                result.or_else(|error| {
                    run.context.check()?;
                    let reason = haft_fs::message(&error);
                    run.complain(format_args!("couldn't write to {name}: {reason}"));
                    Err(Stop::Exit(PANIC))
                })
            }
        }
    }
}
