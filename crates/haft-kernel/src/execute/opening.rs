//! Opening what redirections name: files, texts, descriptors of one's own, connections.

use std::io;
use std::sync::Arc;

use haft_fs::{File, OpenOptions};
use haft_lang::ast::{HereDocument, RedirectKind, Word};
use haft_process::{CancelToken, is_withheld};
use haft_text::Bytes;

use super::files::descriptor_number;
use super::network::Address;
use super::redirect::Failure;
use crate::flow::Unwind;
use crate::io::OpenFile;
use crate::options::SetOption;
use crate::session::Session;

impl Session {
    /// What a redirection to or from a file or text opens.
    pub(super) fn open_redirect(&mut self, kind: &RedirectKind) -> Result<Arc<OpenFile>, Failure> {
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
            _ => Err(Failure::Reported),
        }
    }

    fn open_document(&mut self, document: &HereDocument) -> Result<Arc<OpenFile>, Failure> {
        let body = document.body();
        let text = match body.literal() {
            Some(text) => text.into(),
            None => self.expand_document(body.parts())?,
        };
        self.open_text(&text)
    }

    /// A file that holds a text, to be read.
    fn open_text(&mut self, bytes: &[u8]) -> Result<Arc<OpenFile>, Failure> {
        match text_file(bytes, self.limits.cancel()) {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) => {
                self.check_cancelled()?;
                self.report(format_args!(
                    "cannot create temp file for here-document: {}",
                    haft_fs::message(&error)
                ));
                Err(Failure::Reported)
            }
        }
    }

    /// Opens the file that a word names. Unless `clobber`, a regular file that exists is refused.
    pub(super) fn open_target(
        &mut self,
        word: &Word,
        options: OpenOptions,
        clobber: bool,
    ) -> Result<Arc<OpenFile>, Failure> {
        let name = self.target_name(word)?;
        match self.open(&name, options, clobber)? {
            Ok(file) => Ok(file),
            Err(error) => {
                self.check_cancelled()?;
                let why = match error.kind() {
                    io::ErrorKind::AlreadyExists if !clobber => "cannot overwrite existing file".to_owned(),
                    _ => haft_fs::message(&error),
                };
                self.report(format_args!("{name}: {why}"));
                Err(Failure::Reported)
            }
        }
    }

    /// The one name that the word of a redirection expands to.
    pub(super) fn target_name(&mut self, word: &Word) -> Result<Bytes, Failure> {
        if let Some(text) = word.literal() {
            return Ok(text.into());
        }
        let mut names = Vec::new();
        self.expand_fields(word, &mut names)?;
        match names.as_slice() {
            [name] => Ok(name.clone()),
            _ => {
                let shown = self.expand_string(word)?;
                self.report(format_args!("{shown}: ambiguous redirect"));
                Err(Failure::Reported)
            }
        }
    }

    /// Opens a file by name, from the session's working directory and with its mask. Names such as `/dev/fd/3` mean the
    /// session's own descriptors, names such as `/dev/tcp/host/80` connections.
    ///
    /// # Errors
    /// The outer one is cancellation, or what a trap wants that has run while the file was waited for.
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
            && let Some(address) = Address::of(name)
        {
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
        let file = match self.waits_to_open(&path) {
            Some(real) => self.open_fifo(&real, path, options)?,
            None => self.kernel.files.open(haft_text::path(&path), &options),
        };
        Ok(file.and_then(refuse_withheld).map(|file| Arc::new(OpenFile::opened(file))))
    }

    /// The whole content of a file.
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

/// Refuses a file of the process that runs this script, such as the pipe to the client of a server.
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

/// A file that holds a text: a pipe if it fits into one, else a file in memory.
fn text_file(bytes: &[u8], cancel: &CancelToken) -> io::Result<OpenFile> {
    use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
    const PIPE: usize = 4096;
    const SOME: usize = 1 << 20;
    if bytes.len() <= PIPE {
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
        let written = rustix::io::write(&file, &rest[..rest.len().min(SOME)])?;
        rest = &rest[written..];
    }
    seek(&file, SeekFrom::Start(0))?;
    Ok(OpenFile::real(file))
}
