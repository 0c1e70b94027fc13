//! Redirections.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use haft_fs::OpenOptions;
use haft_lang::ast::{Descriptor, Duplicate, HereDocument, Redirect, RedirectKind, Word};
use haft_process::CancelToken;
use rustix::fs::{Mode, OFlags};

use super::network::Address;
use crate::bytes::Bytes;
use crate::flow::Unwind;
use crate::io::OpenFile;
use crate::options::{SetOption, ShellOption};
use crate::session::Session;
use crate::text;

/// What redirections have changed, to be put back.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    /// Whether standard input was redirected before.
    stdin_redirected: bool,
    /// Whether they are carried out as if in a child. Elsewhere `3>&4-` closes the 4 for good.
    in_child: bool,
    /// The numbers with what was open under them, in the order in which they were changed.
    saved: Vec<(u32, Option<Arc<OpenFile>>)>,
}

/// Why a redirection failed: it has been reported, or control goes elsewhere.
enum Failure {
    Reported,
    Unwind(Unwind),
}

impl From<Unwind> for Failure {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

impl Session {
    /// Carries out redirections in their order. `None` says that one failed and was reported; everything is as before
    /// then.
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> Result<Option<Undo>, Unwind> {
        self.redirect_all(redirects, false)
    }

    pub(super) fn redirect_all(
        &mut self,
        redirects: &[Redirect],
        in_child: bool,
    ) -> Result<Option<Undo>, Unwind> {
        let mut undo = Undo { stdin_redirected: self.stdin_redirected, in_child, ..Undo::default() };
        for redirect in redirects {
            match self.redirect_one(redirect, &mut undo) {
                Ok(()) => {}
                Err(Failure::Reported) => {
                    self.restore(undo);
                    return Ok(None);
                }
                Err(Failure::Unwind(unwind)) => {
                    self.restore(undo);
                    return Err(unwind);
                }
            }
        }
        Ok(Some(undo))
    }

    /// Carries out the redirections of a program. They are expanded as if in the child that becomes the program: what they
    /// assign is gone afterwards, and what would end the shell only fails the command, with the status that is yielded.
    pub(crate) fn redirect_program(
        &mut self,
        redirects: &[Redirect],
    ) -> Result<std::result::Result<Undo, i32>, Unwind> {
        self.variables.lend();
        let before = self.variables.clone();
        let result = self.redirect_all(redirects, true);
        self.variables = before;
        match result {
            Ok(undo) => Ok(undo.ok_or(1)),
            Err(Unwind::Exit(status) | Unwind::Abort(status)) => Ok(Err(status)),
            Err(unwind) => Err(unwind),
        }
    }

    /// Puts back what redirections have changed. Yields whether everything held back could be written.
    pub(crate) fn restore(&mut self, undo: Undo) -> bool {
        if undo.saved.is_empty() {
            return true;
        }
        self.stdin_redirected = undo.stdin_redirected;
        let flushed = match self.flush() {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => true,
            Err(error) => {
                self.report(format_args!("write error: {}", haft_fs::message(&error)));
                false
            }
        };
        for (number, file) in undo.saved.into_iter().rev() {
            match file {
                Some(file) => drop(self.descriptors.set(number, file)),
                None => drop(self.descriptors.close(number)),
            }
        }
        flushed
    }

    /// Lets redirections stay.
    pub(crate) fn forget(&mut self, undo: Undo) {
        let _ = self.flush();
        for (number, _) in &undo.saved {
            self.follow_standard(*number);
        }
        drop(undo);
    }

    /// Has the process of a plain shell let go of a standard descriptor that its session has no longer: who reads the
    /// other end of it shall see that.
    fn follow_standard(&self, number: u32) {
        use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
        if !self.kernel.plain_shell || self.subshell > 0 || number > 2 {
            return;
        }
        let replace = |file: BorrowedFd<'_>| match number {
            0 => dup2_stdin(file),
            1 => dup2_stdout(file),
            _ => dup2_stderr(file),
        };
        match self.descriptors.get(number).and_then(|file| file.descriptor()) {
            Some(file) => drop(replace(file)),
            None => {
                if let Ok(null) = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                {
                    let _ = replace(null.as_fd());
                }
            }
        }
    }

    fn put(&mut self, number: u32, file: Arc<OpenFile>, undo: &mut Undo) {
        let old = self.descriptors.set(number, file);
        self.stdin_redirected |= number == 0;
        undo.saved.push((number, old));
    }

    fn redirect_one(&mut self, redirect: &Redirect, undo: &mut Undo) -> Result<(), Failure> {
        let default = match &redirect.kind {
            RedirectKind::Read(_)
            | RedirectKind::ReadWrite(_)
            | RedirectKind::HereString(_)
            | RedirectKind::HereDocument(_)
            | RedirectKind::DuplicateInput(_) => 0,
            _ => 1,
        };
        match &redirect.kind {
            RedirectKind::WriteBoth(word) | RedirectKind::AppendBoth(word) => {
                let append = matches!(redirect.kind, RedirectKind::AppendBoth(_));
                let guarded = !append && self.options.has(SetOption::NoClobber);
                let file = self.open_target(word, writing(append), !guarded)?;
                self.put(1, file.clone(), undo);
                self.put(2, file, undo);
                Ok(())
            }
            RedirectKind::DuplicateInput(duplicate) | RedirectKind::DuplicateOutput(duplicate) => {
                let number = self.redirected_number(&redirect.descriptor, default, duplicate)?;
                self.duplicate(number, default, &redirect.descriptor, duplicate, undo)
            }
            kind => {
                let file = self.open_redirect(kind)?;
                let number = self.number(&redirect.descriptor, default)?;
                self.open_as(&redirect.descriptor, number, file, undo);
                Ok(())
            }
        }
    }

    /// Opens a file under a number; one that went to a variable stays open after the command.
    fn open_as(&mut self, descriptor: &Descriptor, number: u32, file: Arc<OpenFile>, undo: &mut Undo) {
        let stays = matches!(descriptor, Descriptor::Variable { .. })
            && !self.options.shell(ShellOption::VariableRedirectClose);
        match stays {
            true => drop(self.descriptors.set(number, file)),
            false => self.put(number, file, undo),
        }
    }

    fn open_redirect(&mut self, kind: &RedirectKind) -> Result<Arc<OpenFile>, Failure> {
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
        match text_file(bytes, &self.cancel) {
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
    fn open_target(
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
    fn target_name(&mut self, word: &Word) -> Result<Bytes, Failure> {
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
        if let Some(number) = own_descriptor(name) {
            return Ok(self.descriptors.get(number).cloned().ok_or_else(not_there));
        }
        if self.kernel.external
            && let Some(address) = Address::of(name)
        {
            let socket = self.connect(&address)?;
            return Ok(socket.map(|socket| Arc::new(OpenFile::real(socket))));
        }
        if name.is_empty() {
            return Ok(Err(not_there()));
        }
        let path = self.resolve(name);
        let mut options = options.mode(0o666 & !self.umask);
        if !clobber {
            let regular =
                self.kernel.files.metadata(text::path(&path)).map_or(true, |metadata| metadata.is_file());
            if regular {
                options = options.truncate(false).create_new(true);
            }
        }
        let file = match self.waits_to_open(&path) {
            Some(real) => self.open_fifo(&real, path, options)?,
            None => self.kernel.files.open(text::path(&path), &options),
        };
        Ok(file.map(|file| Arc::new(OpenFile::opened(file))))
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
            match file.read(&mut buffer, None, &self.cancel) {
                Ok(0) => return Ok(Ok(bytes)),
                Ok(length) => bytes.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.check()?;
                    self.run_signal_traps()?;
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// The number that is redirected; a fresh one for `{name}`, which is assigned.
    fn number(&mut self, descriptor: &Descriptor, default: u32) -> Result<u32, Failure> {
        match descriptor {
            Descriptor::Default => Ok(default),
            Descriptor::Number(number) => Ok(*number),
            Descriptor::Variable { name, subscript } => {
                let number = self.descriptors.free();
                let value = Bytes::from(number.to_string());
                let result = match subscript {
                    None => self.assign(name, value, false),
                    Some(subscript) => {
                        let subscript = self.expand_subscript(subscript)?;
                        self.assign_element(name, &subscript, value, false)
                    }
                };
                match result {
                    Ok(()) => Ok(number),
                    Err(error) => {
                        self.report(error);
                        self.report(format_args!("{name}: cannot assign fd to variable"));
                        Err(Failure::Reported)
                    }
                }
            }
        }
    }

    /// The number for a duplication: `{name}>&-` closes the one that the variable holds.
    fn redirected_number(
        &mut self,
        descriptor: &Descriptor,
        default: u32,
        duplicate: &Duplicate,
    ) -> Result<u32, Failure> {
        let (Descriptor::Variable { name, subscript }, Duplicate::Close) = (descriptor, duplicate) else {
            return self.number(descriptor, default);
        };
        let value = match subscript {
            None => self.value(name),
            Some(subscript) => {
                let subscript = self.expand_subscript(subscript)?;
                self.element_value(name, &subscript)?
            }
        };
        let held = value.and_then(|value| value.lossy().parse().ok());
        held.ok_or_else(|| {
            self.report(format_args!("{name}: ambiguous redirect"));
            Failure::Reported
        })
    }

    fn duplicate(
        &mut self,
        number: u32,
        default: u32,
        descriptor: &Descriptor,
        duplicate: &Duplicate,
        undo: &mut Undo,
    ) -> Result<(), Failure> {
        match duplicate {
            Duplicate::Close => {
                let old = self.descriptors.close(number);
                if !matches!(descriptor, Descriptor::Variable { .. }) {
                    undo.saved.push((number, old));
                }
                Ok(())
            }
            Duplicate::Descriptor { number: from, close } => {
                self.copy(number, *from, *close, None, descriptor, undo)
            }
            Duplicate::Word(word) => {
                let target = self.target_name(word)?;
                let (digits, close) = match target.strip_suffix(b"-") {
                    Some(digits) => (digits, true),
                    None => (target.as_bytes(), false),
                };
                if digits.is_empty() && close {
                    return self.duplicate(number, default, descriptor, &Duplicate::Close, undo);
                }
                if let Ok(from) = String::from_utf8_lossy(digits).parse() {
                    return self.copy(number, from, close, Some(word), descriptor, undo);
                }
                if default == 1 && matches!(descriptor, Descriptor::Default) {
                    let file = self.open_target(word, writing(false), true)?;
                    self.put(1, file.clone(), undo);
                    self.put(2, file, undo);
                    return Ok(());
                }
                self.report(format_args!("{target}: ambiguous redirect"));
                Err(Failure::Reported)
            }
        }
    }

    fn copy(
        &mut self,
        number: u32,
        from: u32,
        close: bool,
        written: Option<&Word>,
        descriptor: &Descriptor,
        undo: &mut Undo,
    ) -> Result<(), Failure> {
        let Some(file) = self.descriptors.get(from).cloned() else {
            let shown =
                written.map_or_else(|| from.to_string(), |word| self.text_of(word.span).lossy().into_owned());
            self.report(format_args!("{shown}: Bad file descriptor"));
            return Err(Failure::Reported);
        };
        self.open_as(descriptor, number, file, undo);
        if close && from != number {
            let old = self.descriptors.close(from);
            if undo.in_child {
                undo.saved.push((from, old));
            }
        }
        Ok(())
    }
}

fn writing(append: bool) -> OpenOptions {
    let options = OpenOptions::new().write(true).create(true);
    if append { options.append(true) } else { options.truncate(true) }
}

/// The descriptor that a name such as `/dev/fd/3` or `/dev/stdin` means.
fn own_descriptor(name: &[u8]) -> Option<u32> {
    match name {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => std::str::from_utf8(name.strip_prefix(b"/dev/fd/")?).ok()?.parse().ok(),
    }
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
