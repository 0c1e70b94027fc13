//! Redirections.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use haft_lang::ast::{Duplicate, Redirect, RedirectDescriptor, RedirectKind, Word};
use haft_text::Bytes;
use rustix::fs::{Mode, OFlags};

use super::opening::writing;
use crate::flow::Unwind;
use crate::io::OpenFile;
use crate::options::{SetOption, ShellOption};
use crate::session::Session;

/// Descriptors that redirections replaced, to be restored afterwards.
#[derive(Debug, Default)]
pub(crate) struct RedirectUndo {
    /// Whether standard input was redirected before.
    stdin_redirected: bool,
    /// Whether the redirections are performed as if in a child. Otherwise `3>&4-` closes 4 permanently.
    in_child: bool,
    /// The numbers and what was open under them, in the order of the changes.
    saved: Vec<(u32, Option<Arc<OpenFile>>)>,
}

/// Why a redirection failed: it was reported, or control leaves the command.
pub(super) enum RedirectFailure {
    Reported,
    Unwind(Unwind),
}

impl From<Unwind> for RedirectFailure {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

impl Session {
    /// Performs redirections in order. `None` means that one failed and was reported; everything is as before then.
    pub(crate) fn redirect(&mut self, redirects: &[Redirect]) -> Result<Option<RedirectUndo>, Unwind> {
        self.redirect_all(redirects, false)
    }

    pub(super) fn redirect_all(
        &mut self,
        redirects: &[Redirect],
        in_child: bool,
    ) -> Result<Option<RedirectUndo>, Unwind> {
        let mut undo = RedirectUndo {
            stdin_redirected: self.open_files.is_stdin_redirected(),
            in_child,
            ..RedirectUndo::default()
        };
        for redirect in redirects {
            match self.redirect_one(redirect, &mut undo) {
                Ok(()) => {}
                Err(RedirectFailure::Reported) => {
                    self.restore(undo);
                    return Ok(None);
                }
                Err(RedirectFailure::Unwind(unwind)) => {
                    self.restore(undo);
                    return Err(unwind);
                }
            }
        }
        Ok(Some(undo))
    }

    /// Performs the redirections of a program. They are expanded as if in the child process: assignments are undone
    /// afterwards, and an error that would end the shell fails only the command. The inner error is its status.
    pub(crate) fn redirect_program(
        &mut self,
        redirects: &[Redirect],
    ) -> Result<std::result::Result<RedirectUndo, i32>, Unwind> {
        self.variables.share();
        let before = self.variables.clone();
        let result = self.redirect_all(redirects, true);
        self.variables = before;
        match result {
            Ok(undo) => Ok(undo.ok_or(1)),
            Err(Unwind::Exit(status) | Unwind::Abort(status)) => Ok(Err(status)),
            Err(unwind) => Err(unwind),
        }
    }

    /// Undoes redirections. Returns whether all held-back output could be written.
    pub(crate) fn restore(&mut self, undo: RedirectUndo) -> bool {
        if undo.saved.is_empty() {
            return true;
        }
        self.open_files.set_stdin_redirected(undo.stdin_redirected);
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
                Some(file) => drop(self.open_files.set(number, file)),
                None => drop(self.open_files.close(number)),
            }
        }
        flushed
    }

    /// Makes redirections permanent.
    pub(crate) fn make_permanent(&mut self, undo: RedirectUndo) {
        let _ = self.flush();
        for (number, _) in &undo.saved {
            self.follow_standard(*number);
        }
        drop(undo);
    }

    /// Closes a standard descriptor of a plain shell's process that its session has replaced, so that the reader of the
    /// other end sees the end of its input.
    fn follow_standard(&self, number: u32) {
        use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
        if !self.kernel.plain_shell || self.identity.is_subshell() || number > 2 {
            return;
        }
        let replace = |file: BorrowedFd<'_>| match number {
            0 => dup2_stdin(file),
            1 => dup2_stdout(file),
            _ => dup2_stderr(file),
        };
        match self.open_files.get(number).and_then(|file| file.descriptor()) {
            Some(file) => drop(replace(file)),
            None => {
                if let Ok(null) = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                {
                    let _ = replace(null.as_fd());
                }
            }
        }
    }

    fn put(&mut self, number: u32, file: Arc<OpenFile>, undo: &mut RedirectUndo) {
        let old = self.open_files.set(number, file);
        if number == 0 {
            self.open_files.set_stdin_redirected(true);
        }
        undo.saved.push((number, old));
    }

    fn redirect_one(&mut self, redirect: &Redirect, undo: &mut RedirectUndo) -> Result<(), RedirectFailure> {
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
                if matches!(redirect.descriptor, RedirectDescriptor::Variable { .. })
                    && !self.limits.has_room_for(self.open_files.free())
                {
                    return Err(self.refuse_descriptor(kind));
                }
                let number = self.number(&redirect.descriptor, default)?;
                self.open_as(&redirect.descriptor, number, file, undo);
                Ok(())
            }
        }
    }

    /// Opens a file under a number. One that `{name}` chose stays open after the command.
    fn open_as(
        &mut self,
        descriptor: &RedirectDescriptor,
        number: u32,
        file: Arc<OpenFile>,
        undo: &mut RedirectUndo,
    ) {
        let stays = matches!(descriptor, RedirectDescriptor::Variable { .. })
            && !self.options.shell(ShellOption::VariableRedirectClose);
        match stays {
            true => drop(self.open_files.set(number, file)),
            false => self.put(number, file, undo),
        }
    }

    /// The number that is redirected. For `{name}` it is a free one, which is assigned to the variable.
    fn number(&mut self, descriptor: &RedirectDescriptor, default: u32) -> Result<u32, RedirectFailure> {
        match descriptor {
            RedirectDescriptor::Default => Ok(default),
            RedirectDescriptor::Number(number) if self.limits.allows_descriptor(*number) => Ok(*number),
            RedirectDescriptor::Number(number) => {
                self.report(format_args!("{number}: Bad file descriptor"));
                Err(RedirectFailure::Reported)
            }
            RedirectDescriptor::Variable { name, subscript } => {
                let number = self.open_files.free();
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
                        Err(RedirectFailure::Reported)
                    }
                }
            }
        }
    }

    /// The number for a duplication. `{name}>&-` closes the number in the variable.
    fn redirected_number(
        &mut self,
        descriptor: &RedirectDescriptor,
        default: u32,
        duplicate: &Duplicate,
    ) -> Result<u32, RedirectFailure> {
        let (RedirectDescriptor::Variable { name, subscript }, Duplicate::Close) = (descriptor, duplicate)
        else {
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
            RedirectFailure::Reported
        })
    }

    fn duplicate(
        &mut self,
        number: u32,
        default: u32,
        descriptor: &RedirectDescriptor,
        duplicate: &Duplicate,
        undo: &mut RedirectUndo,
    ) -> Result<(), RedirectFailure> {
        match duplicate {
            Duplicate::Close => {
                let old = self.open_files.close(number);
                if !matches!(descriptor, RedirectDescriptor::Variable { .. }) {
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
                let is_output =
                    matches!(descriptor, RedirectDescriptor::Default | RedirectDescriptor::Number(1));
                if default == 1 && is_output {
                    let file = self.open_target(word, writing(false), true)?;
                    self.put(1, file.clone(), undo);
                    self.put(2, file, undo);
                    return Ok(());
                }
                Err(self.ambiguous(word))
            }
        }
    }

    /// Reports that `ulimit -n` allows no descriptor for `{name}`.
    fn refuse_descriptor(&mut self, kind: &RedirectKind) -> RedirectFailure {
        self.report_without_line("redirection error: cannot duplicate fd: Invalid argument");
        let name = match kind {
            RedirectKind::Read(word)
            | RedirectKind::Write(word)
            | RedirectKind::Clobber(word)
            | RedirectKind::Append(word)
            | RedirectKind::ReadWrite(word) => self.text_of(word.span),
            _ => "here-document".into(),
        };
        self.report(format_args!("{name}: Invalid argument"));
        RedirectFailure::Reported
    }

    /// Reports that the word of a redirection is not one file or descriptor.
    pub(super) fn ambiguous(&mut self, word: &Word) -> RedirectFailure {
        let written = self.text_of(word.span);
        self.report(format_args!("{written}: ambiguous redirect"));
        RedirectFailure::Reported
    }

    fn copy(
        &mut self,
        number: u32,
        from: u32,
        close: bool,
        written: Option<&Word>,
        descriptor: &RedirectDescriptor,
        undo: &mut RedirectUndo,
    ) -> Result<(), RedirectFailure> {
        let Some(file) = self.open_files.get(from).cloned() else {
            let shown =
                written.map_or_else(|| from.to_string(), |word| self.text_of(word.span).lossy().into_owned());
            self.report(format_args!("{shown}: Bad file descriptor"));
            return Err(RedirectFailure::Reported);
        };
        self.open_as(descriptor, number, file, undo);
        if close && from != number {
            let old = self.open_files.close(from);
            if undo.in_child {
                undo.saved.push((from, old));
            } else {
                self.follow_coprocess_descriptor(from);
            }
        }
        Ok(())
    }
}
