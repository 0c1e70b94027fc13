//! The files that `sed` reads and edits.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_fs::{FileSystem, Metadata, OpenOptions};
use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::{PANIC, SedSettings};
use crate::text::streams::{Stop, TextInput, TextRun, Wording};

/// A file could not be read.
const BAD_INPUT: i32 = 2;

/// The mode of a temporary file.
const NEW_FILE_MODE: u32 = 0o600;

/// How much GNU's `sed` reads at once. It leaves the rest of a pipe to the next reader.
const BLOCK_BYTES: usize = 4096;

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
    /// Whether the next line is only read to know whether there is one. What cannot be read then is skipped.
    is_looking_ahead: bool,
    suffix: Option<Bytes>,
    end: u8,
    /// Whether the rest of standard input may be left to the next reader.
    may_quit: bool,
    /// The exit status after errors.
    pub(super) status: i32,
}

struct CurrentFile {
    input: TextInput,
    edited: Option<EditedFile>,
}

/// A file that is edited in place: its output goes to a temporary file.
struct EditedFile {
    name: Bytes,
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
    pub(super) fn new(operands: Vec<Bytes>, settings: &SedSettings, may_quit: bool) -> Self {
        let waiting = if operands.is_empty() { vec![Bytes::from("-")] } else { operands };
        Self {
            waiting: waiting.into(),
            current: None,
            ahead: None,
            name: Bytes::from("-"),
            is_separate: settings.is_separate,
            is_looking_ahead: false,
            suffix: settings.in_place.clone(),
            end: settings.end,
            may_quit,
            status: 0,
        }
    }

    /// The file that output goes to, if files are edited in place.
    pub(super) fn edited_output(&self) -> Option<Arc<OpenFile>> {
        self.current.as_ref()?.edited.as_ref().map(|edited| edited.output.clone())
    }

    /// The next line, in the memory of `spare`. The error is `spare` itself: there is no line.
    pub(super) fn next(
        &mut self,
        run: &mut TextRun<'_, '_>,
        spare: Vec<u8>,
    ) -> Result<Result<SedLine, Vec<u8>>, Stop> {
        if let Some(line) = self.ahead.take() {
            return Ok(Ok(line));
        }
        let (mut starts_file, mut text) = (false, spare);
        loop {
            if let Some(current) = &mut self.current {
                // The text stays as it is if there is no line.
                if !current.input.fill(run)?.is_empty() {
                    current.input.read_line(run, self.end, &mut text)?;
                    let is_complete = text.last() == Some(&self.end);
                    if is_complete {
                        text.pop();
                    }
                    return Ok(Ok(SedLine { text, is_complete, starts_file }));
                }
                if current.input.has_failed() && !self.is_looking_ahead {
                    return Err(Stop::Exit(PANIC));
                }
                self.close(run)?;
            }
            let Some(name) = self.waiting.pop_front() else { return Ok(Err(text)) };
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
        if let Some(current) = &mut self.current
            && !current.input.fill(run)?.is_empty()
        {
            return Ok(false);
        }
        if !self.waiting.is_empty() {
            self.is_looking_ahead = true;
            self.ahead = self.next(run, Vec::new())?.ok();
            self.is_looking_ahead = false;
        }
        Ok(self.ahead.is_none())
    }

    fn open(&mut self, run: &mut TextRun<'_, '_>, name: Bytes) -> Result<bool, Stop> {
        if name == "-" && self.suffix.is_none() {
            let input = match self.may_quit {
                true => run.standard_input().with_read_size(BLOCK_BYTES),
                false => run.standard_input(),
            };
            self.current = Some(CurrentFile { input, edited: None });
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
            true => Err(std::io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error())),
            false => run.try_open(&name)?,
        };
        match opened {
            Ok(mut input) => {
                if self.is_looking_ahead {
                    input = input.worded(Wording::Silent);
                }
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
        let metadata = files.metadata(&path).ok();
        let options = OpenOptions::new().write(true).create_new(true).mode(NEW_FILE_MODE);
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
                if let Some(metadata) = metadata {
                    keep_attributes(files, &temporary, &metadata);
                }
                Ok(EditedFile {
                    name: name.clone(),
                    path,
                    temporary,
                    output: Arc::new(OpenFile::opened(file)),
                })
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
        let Some(CurrentFile { mut input, edited }) = self.current.take() else { return Ok(()) };
        input.give_back();
        let Some(edited) = edited else { return Ok(()) };
        let cancel = run.context.cancel_token().clone();
        let suffix = self.suffix.clone().unwrap_or_default();
        let backup = (!suffix.is_empty() && suffix != "*").then(|| backup_name(&edited.name, &suffix));
        let backup = backup.map(|name| absolute(run, &name));
        let files = run.context.session().files();
        let result = edited.output.flush(Some(&cancel)).map_err(|error| (error, &*edited.name));
        let result = result.and_then(|()| match backup {
            Some(backup) => files.rename(&edited.path, &backup).map_err(|error| (error, &*edited.name)),
            None => Ok(()),
        });
        let temporary = edited.temporary.as_os_str().as_bytes();
        let result = result
            .and_then(|()| files.rename(&edited.temporary, &edited.path).map_err(|error| (error, temporary)));
        let Err((error, name)) = result else { return Ok(()) };
        let _ = files.remove(&edited.temporary);
        let reason = haft_fs::message(&error);
        run.complain_bytes(&[b"cannot rename ", name, b": ", reason.as_bytes()].concat());
        Err(Stop::Exit(PANIC))
    }
}

/// Gives a new file the owner and the mode of the old one, as far as the user may.
fn keep_attributes(files: &dyn FileSystem, path: &Path, old: &Metadata) {
    let is_owner = files.metadata(path).is_ok_and(|new| (new.uid, new.gid) == (old.uid, old.gid));
    if !is_owner && files.set_owner(path, Some(old.uid), Some(old.gid)).is_err() {
        let _ = files.set_owner(path, None, Some(old.gid));
    }
    let _ = files.set_permissions(path, old.mode);
}

/// The name of the old file. `*` in the suffix stands for its name.
fn backup_name(name: &[u8], suffix: &[u8]) -> Vec<u8> {
    match suffix.contains(&b'*') {
        true => suffix.split(|byte| *byte == b'*').collect::<Vec<_>>().join(name),
        false => [name, suffix].concat(),
    }
}

/// The absolute path of a name.
fn absolute(run: &TextRun<'_, '_>, name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&run.context.session().resolve(name)))
}
