//! Opening the targets of redirections: files, here-documents, descriptors of the session, network connections.

use std::io;
use std::sync::Arc;

use haft_fs::{File, OpenOptions};
use haft_lang::ast::{HereDocument, RedirectKind, Word};
use haft_process::{CancelToken, is_withheld};
use haft_text::Bytes;

use super::files::descriptor_number;
use super::network::ConnectionAddress;
use super::redirect::RedirectFailure;
use crate::flow::Unwind;
use crate::io::OpenFile;
use crate::options::SetOption;
use crate::session::Session;

impl Session {
    /// Opens the target of a redirection.
    pub(super) fn open_redirect(&mut self, kind: &RedirectKind) -> Result<Arc<OpenFile>, RedirectFailure> {
        match kind {
            RedirectKind::Read(word) => self.open_target(word, OpenOptions::new().read(true), true),
            RedirectKind::Write(word) => {
                let guarded = self.options.has(SetOption::NoClobber);
                self.open_target(word, writing(false), !guarded)
            }
            RedirectKind::Clobber(word) => self.open_target(word, writing(false), true),
            RedirectKind::Append(word) => self.open_target(word, writing(true), true),
            RedirectKind::ReadWrite(word) => {
                self.open_target(word, OpenOptions::new().read(true).write(true).create(true), true)
            }
            RedirectKind::HereString(word) => {
                let mut text = self.expand_string(word)?.into_vec();
                text.push(b'\n');
                self.open_text(&text)
            }
            RedirectKind::HereDocument(document) => self.open_document(document),
            _ => Err(RedirectFailure::Reported),
        }
    }

    fn open_document(&mut self, document: &HereDocument) -> Result<Arc<OpenFile>, RedirectFailure> {
        let body = document.body();
        if let Some(error) = document.error().filter(|error| error.opened.is_some_and(|at| at.what == "$(")) {
            let source = self.calls.source_text().cloned().unwrap_or_default();
            let (message, _) = error.bash_message(&source);
            let lines = body.literal().map_or(0, |text| memchr::memchr_iter(b'\n', text).count());
            let line = self.calls.line().saturating_add(u32::try_from(lines).unwrap_or(0) + 1);
            self.calls.set_line(line);
            self.report_labelled("command substitution", message);
            return self.open_text(b"\n");
        }
        let text = match body.literal() {
            Some(text) => text.into(),
            None => self.expand_document(body.parts())?,
        };
        self.open_text(&text)
    }

    /// A readable file that contains a text.
    fn open_text(&mut self, bytes: &[u8]) -> Result<Arc<OpenFile>, RedirectFailure> {
        match text_file(bytes, self.limits.cancel()) {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) => {
                self.check_cancelled()?;
                self.report(format_args!(
                    "cannot create temp file for here-document: {}",
                    haft_fs::message(&error)
                ));
                Err(RedirectFailure::Reported)
            }
        }
    }

    /// Opens the file that a word names. Unless `clobber` is set, an existing regular file is refused.
    pub(super) fn open_target(
        &mut self,
        word: &Word,
        options: OpenOptions,
        clobber: bool,
    ) -> Result<Arc<OpenFile>, RedirectFailure> {
        let name = self.target_name(word)?;
        if self.is_restricted() && options.writes() {
            self.report(format_args!("{name}: restricted: cannot redirect output"));
            return Err(RedirectFailure::Reported);
        }
        match self.open(&name, options, clobber)? {
            Ok(file) => Ok(file),
            Err(error) => {
                self.check_cancelled()?;
                let why = match error.kind() {
                    io::ErrorKind::AlreadyExists if !clobber => "cannot overwrite existing file".to_owned(),
                    _ => haft_fs::message(&error),
                };
                self.report(format_args!("{name}: {why}"));
                Err(RedirectFailure::Reported)
            }
        }
    }

    /// Expands the word of a redirection to one name.
    pub(super) fn target_name(&mut self, word: &Word) -> Result<Bytes, RedirectFailure> {
        if let Some(text) = word.literal() {
            return Ok(text.into());
        }
        let names = self.expand_target(word)?;
        match names.as_slice() {
            [name] => Ok(name.clone()),
            _ => Err(self.ambiguous(word)),
        }
    }

    /// Opens a file by name, relative to the session's working directory and with its mask. `/dev/fd/3` means the session's
    /// own descriptor, `/dev/tcp/host/80` a connection.
    ///
    /// # Errors
    /// The outer error is cancellation, or a trap that ran during the wait and leaves the command.
    pub(crate) fn open(
        &mut self,
        name: &[u8],
        options: OpenOptions,
        clobber: bool,
    ) -> Result<io::Result<Arc<OpenFile>>, Unwind> {
        let _ = self.flush();
        let not_there = || io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error());
        if let Some(number) = descriptor_number(name) {
            return Ok(self.open_files.get(number).cloned().ok_or_else(not_there));
        }
        if self.kernel.allows_programs()
            && let Some(address) = ConnectionAddress::of(name)
        {
            if let Some(gate) = &self.kernel.gate
                && let Err(reason) = gate.check_connection(address.host_name(), address.port())
            {
                return Ok(Err(io::Error::new(io::ErrorKind::PermissionDenied, reason)));
            }
            let socket = self.connect(&address)?;
            return Ok(socket.map(|socket| Arc::new(OpenFile::real(socket))));
        }
        if name.is_empty() {
            return Ok(Err(not_there()));
        }
        let path = self.resolve(name);
        let mut options = options.mode(0o666 & !self.open_files.umask());
        if !clobber {
            let regular = self
                .kernel
                .files
                .metadata(haft_text::path(&path))
                .map_or(true, |metadata| metadata.is_file());
            if regular {
                options = options.truncate(false).create_new(true);
            }
        }
        let file = match self.is_blocking_fifo(&path) {
            true => self.open_fifo(&path, options)?,
            false => self.kernel.files.open(haft_text::path(&path), &options),
        };
        Ok(file.and_then(refuse_withheld).map(|file| Arc::new(OpenFile::opened(file))))
    }

    /// The content of a file.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub(crate) fn read_file(&mut self, name: &[u8]) -> Result<io::Result<Vec<u8>>, Unwind> {
        let file = match self.open(name, OpenOptions::new().read(true), true)? {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer, None, self.limits.cancel()) {
                Ok(0) => return Ok(Ok(bytes)),
                Ok(length) => {
                    bytes.extend_from_slice(&buffer[..length]);
                    self.memory.note_growth(length);
                    self.check()?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.check()?;
                    self.run_signal_traps()?;
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

/// Refuses a private file of this process, such as the pipe to the client of a server.
fn refuse_withheld(file: File) -> io::Result<File> {
    match &file {
        File::Real(descriptor) if is_withheld(descriptor) => {
            Err(io::Error::from_raw_os_error(rustix::io::Errno::ACCESS.raw_os_error()))
        }
        _ => Ok(file),
    }
}

pub(super) fn writing(append: bool) -> OpenOptions {
    let options = OpenOptions::new().write(true).create(true);
    if append { options.append(true) } else { options.truncate(true) }
}

/// A readable file that contains a text: a pipe if the text fits into it, else a file in memory.
fn text_file(bytes: &[u8], cancel: &CancelToken) -> io::Result<OpenFile> {
    use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
    const MAX_PIPE_BYTES: usize = 4096;
    const WRITE_CHUNK_BYTES: usize = 1 << 20;
    if bytes.len() <= MAX_PIPE_BYTES {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::write(&writer, rest)?;
            rest = &rest[written..];
        }
        return Ok(OpenFile::real(reader));
    }
    let file = memfd_create("here-document", MemfdFlags::CLOEXEC)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        if cancel.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let written = rustix::io::write(&file, &rest[..rest.len().min(WRITE_CHUNK_BYTES)])?;
        rest = &rest[written..];
    }
    seek(&file, SeekFrom::Start(0))?;
    Ok(OpenFile::real(file))
}
