//! The files that `sed` reads and edits.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_fs::OpenOptions;
use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::{PANIC, SedSettings};
use crate::text::streams::{Stop, TextInput, TextRun};

/// A file could not be read.
const BAD_INPUT: i32 = 2;

/// How often a name for a temporary file is tried.
const MAX_TRIES: u32 = 1000;

/// All input files, as a stream of lines.
pub(super) struct SedFiles {
    waiting: VecDeque<Bytes>,
    current: Option<CurrentFile>,
    /// The next line, if it was read already.
    ahead: Option<SedLine>,
    pub(super) name: Bytes,
    is_separate: bool,
    suffix: Option<Bytes>,
    end: u8,
    /// The exit status after errors.
    pub(super) status: i32,
}

struct CurrentFile {
    input: TextInput,
    edited: Option<EditedFile>,
}

/// A file that is edited in place: its output goes to a temporary file.
struct EditedFile {
    path: PathBuf,
    temporary: PathBuf,
    output: Arc<OpenFile>,
}

/// A line without its end.
#[derive(Debug, Default)]
pub(super) struct SedLine {
    pub(super) text: Vec<u8>,
    /// Whether the line has its end.
    pub(super) is_complete: bool,
    /// Whether it is the first line of a file.
    pub(super) starts_file: bool,
}

impl SedFiles {
    pub(super) fn new(operands: Vec<Bytes>, settings: &SedSettings) -> Self {
        let waiting = if operands.is_empty() { vec![Bytes::from("-")] } else { operands };
        Self {
            waiting: waiting.into(),
            current: None,
            ahead: None,
            name: Bytes::from("-"),
            is_separate: settings.is_separate,
            suffix: settings.in_place.clone(),
            end: settings.end,
            status: 0,
        }
    }

    /// The file that output goes to, if files are edited in place.
    pub(super) fn edited_output(&self) -> Option<Arc<OpenFile>> {
        self.current.as_ref()?.edited.as_ref().map(|edited| edited.output.clone())
    }

    /// The next line. `None` if there is none.
    pub(super) fn next(&mut self, run: &mut TextRun<'_, '_>) -> Result<Option<SedLine>, Stop> {
        if let Some(line) = self.ahead.take() {
            return Ok(Some(line));
        }
        let mut starts_file = false;
        loop {
            if let Some(current) = &mut self.current {
                let mut text = Vec::new();
                if current.input.read_line(run, self.end, &mut text)? {
                    let is_complete = text.last() == Some(&self.end);
                    if is_complete {
                        text.pop();
                    }
                    return Ok(Some(SedLine { text, is_complete, starts_file }));
                }
                if current.input.has_failed() {
                    return Err(Stop::Exit(PANIC));
                }
                self.close(run)?;
            }
            let Some(name) = self.waiting.pop_front() else { return Ok(None) };
            starts_file = self.open(run, name)?;
        }
    }

    /// Whether the line that was read last is the last one. With separate files, it is the last one of its file.
    pub(super) fn is_last(&mut self, run: &mut TextRun<'_, '_>) -> Result<bool, Stop> {
        if self.ahead.is_some() {
            return Ok(false);
        }
        if self.is_separate {
            let Some(current) = &mut self.current else { return Ok(true) };
            return Ok(current.input.fill(run)?.is_empty());
        }
        self.ahead = self.next_keeping_name(run)?;
        Ok(self.ahead.is_none())
    }

    fn next_keeping_name(&mut self, run: &mut TextRun<'_, '_>) -> Result<Option<SedLine>, Stop> {
        if let Some(current) = &mut self.current
            && !current.input.fill(run)?.is_empty()
        {
            return self.next(run);
        }
        if self.waiting.is_empty() {
            return Ok(None);
        }
        self.next(run)
    }

    fn open(&mut self, run: &mut TextRun<'_, '_>, name: Bytes) -> Result<bool, Stop> {
        if name == "-" && self.suffix.is_none() {
            self.current = Some(CurrentFile { input: run.standard_input(), edited: None });
            self.name = name;
            return Ok(true);
        }
        let path = absolute(run, &name);
        if self.suffix.is_some()
            && let Ok(metadata) = run.context.session().files().metadata(&path)
            && !metadata.is_file()
        {
            run.flush()?;
            run.complain(format_args!("couldn't edit {name}: not a regular file"));
            self.status = PANIC;
            return Ok(false);
        }
        let opened = match name.is_empty() {
            true => Err(std::io::ErrorKind::NotFound.into()),
            false => run.try_open(&name)?,
        };
        match opened {
            Ok(input) => {
                let edited = match self.suffix.is_some() {
                    true => Some(self.edit(run, &name, path)?),
                    false => None,
                };
                self.current = Some(CurrentFile { input, edited });
                self.name = name;
                Ok(true)
            }
            Err(error) => {
                run.flush()?;
                run.complain(format_args!("can't read {name}: {}", haft_fs::message(&error)));
                self.status = BAD_INPUT;
                Ok(false)
            }
        }
    }

    /// Opens the temporary file for a file that is edited.
    fn edit(&self, run: &mut TextRun<'_, '_>, name: &Bytes, path: PathBuf) -> Result<EditedFile, Stop> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let files = run.context.session().files();
        let mode = files.metadata(&path).map_or(0o600, |metadata| metadata.mode);
        let options = OpenOptions::new().write(true).create_new(true).mode(mode);
        let directory = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        let mut result = Err(std::io::ErrorKind::AlreadyExists.into());
        for _ in 0..MAX_TRIES {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = directory.join(format!("sed{:08x}{number:04x}", std::process::id()));
            result = files.open(&temporary, &options).map(|file| (file, temporary));
            if !result.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
                break;
            }
        }
        match result {
            Ok((file, temporary)) => {
                Ok(EditedFile { path, temporary, output: Arc::new(OpenFile::opened(file)) })
            }
            Err(error) => {
                let reason = haft_fs::message(&error);
                run.complain(format_args!("couldn't open temporary file for {name}: {reason}"));
                Err(Stop::Exit(PANIC))
            }
        }
    }

    /// Closes the current file. A file that was edited is replaced.
    pub(super) fn close(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let Some(CurrentFile { edited: Some(edited), .. }) = self.current.take() else { return Ok(()) };
        let cancel = run.context.cancel_token().clone();
        let suffix = self.suffix.clone().unwrap_or_default();
        let files = run.context.session().files();
        let result = edited.output.flush(Some(&cancel)).and_then(|()| {
            if !suffix.is_empty() {
                files.rename(&edited.path, &backup_path(&edited.path, &suffix))?;
            }
            files.rename(&edited.temporary, &edited.path)
        });
        match result {
            Ok(()) => Ok(()),
            Err(error) => {
                let reason = haft_fs::message(&error);
                run.complain(format_args!("cannot rename {}: {reason}", edited.temporary.display()));
                Err(Stop::Exit(PANIC))
            }
        }
    }
}

/// The name of the old file. `*` in the suffix stands for its name.
fn backup_path(path: &Path, suffix: &[u8]) -> PathBuf {
    let base = path.file_name().unwrap_or_default().as_bytes();
    let name = match suffix.contains(&b'*') {
        true => suffix.split(|byte| *byte == b'*').collect::<Vec<_>>().join(base),
        false => [base, suffix].concat(),
    };
    let directory = path.parent().unwrap_or(Path::new("/"));
    directory.join(OsStr::from_bytes(&name))
}

/// The absolute path of a name.
fn absolute(run: &TextRun<'_, '_>, name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&run.context.session().resolve(name)))
}
