//! Why a process could not be started, fed or ended.

use std::io;
use std::path::{Path, PathBuf};

use crate::sys::{Fault, Step};

/// A failure of the process layer. What a started program does is never one of these.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    path: Option<PathBuf>,
    #[source]
    source: Option<io::Error>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No such program, in `PATH` or at the path given.
    NotFound,
    /// The program is there, but it may not be executed.
    NotExecutable,
    /// The program may not be started: a [`StartPermission`](crate::StartPermission) denies it.
    Denied,
    /// The program is there, but the interpreter that it names is not.
    InterpreterNotFound,
    /// The program is of no format that the system can execute.
    ExecFormat,
    /// One argument or environment variable is longer than the system allows.
    ArgumentTooLong,
    /// All arguments and the environment together are longer than the system allows.
    ArgumentsTooLong,
    /// A string holds a NUL byte.
    NulByte,
    /// The working directory cannot be entered.
    WorkingDirectory,
    /// A descriptor to be passed on is not open, or its number is not possible.
    Descriptor,
    /// A resource limit or niceness was refused.
    Limit,
    /// The terminal cannot be made, or not be made the controlling one.
    Terminal,
    /// A control group could not be made or joined.
    Cgroup,
    /// A sandbox rule was refused.
    Sandbox,
    /// The system is out of processes, memory or descriptors.
    Exhausted,
    /// Anything else the system refused.
    System,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), hint: None, path: None, source: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_path(mut self, path: impl Into<PathBuf>) -> Error {
        self.path = Some(path.into());
        self
    }

    pub(crate) fn with_source(mut self, source: io::Error) -> Error {
        self.source = Some(source);
        self
    }

    /// A failed system call, with what was being done.
    pub fn system(doing: &str, error: impl Into<io::Error>) -> Error {
        let error = error.into();
        let kind = if is_exhaustion(&error) { ErrorKind::Exhausted } else { ErrorKind::System };
        Error::new(kind, format!("cannot {doing}: {}", reason(&error))).with_source(error)
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the user may do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The file that was tried, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The status a shell would report: 127 for what is not there, 126 for what cannot be run.
    pub fn exit_code(&self) -> i32 {
        match self.kind {
            ErrorKind::NotFound | ErrorKind::InterpreterNotFound => 127,
            _ => 126,
        }
    }
}

/// The system's words for an error, without its number, as they stand in the middle of a message.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn is_exhaustion(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE | libc::ENOSPC)
    )
}

/// What the error is about: the parts of a command that a fault may have to name.
pub(crate) struct Subject<'a> {
    pub(crate) program: &'a Path,
    pub(crate) working_directory: Option<&'a Path>,
    /// The child's numbers of the descriptors, in the order of the plan.
    pub(crate) descriptors: &'a [i32],
    /// Names of the limits, in the order of the plan.
    pub(crate) limits: &'a [&'static str],
}

/// Turns a child's fault into words.
pub(crate) fn from_fault(fault: Fault, subject: &Subject<'_>) -> Error {
    let why = reason(&fault.error);
    let error = match fault.step {
        Step::Exec => return exec_error(fault.error, subject),
        Step::None | Step::Clone => return Error::system("start a process", fault.error),
        Step::WorkingDirectory => {
            let directory = subject.working_directory.unwrap_or(Path::new("."));
            Error::new(
                ErrorKind::WorkingDirectory,
                format!("cannot enter working directory '{}': {why}", directory.display()),
            )
            .with_path(directory)
        }
        Step::Descriptor => {
            let number = subject.descriptors.get(fault.index).copied().unwrap_or(-1);
            Error::new(ErrorKind::Descriptor, format!("cannot pass on descriptor {number}: {why}"))
        }
        Step::Limit => {
            let name = subject.limits.get(fault.index).copied().unwrap_or("resource");
            Error::new(ErrorKind::Limit, format!("cannot set the {name} limit: {why}"))
                .with_hint("a limit can be lowered by anyone and raised only with privilege")
        }
        Step::Nice => Error::new(ErrorKind::Limit, format!("cannot set the niceness: {why}")),
        Step::Terminal => {
            Error::new(ErrorKind::Terminal, format!("cannot take the controlling terminal: {why}"))
        }
        Step::Cgroup => Error::new(ErrorKind::Cgroup, format!("cannot join the control group: {why}")),
        Step::NoNewPrivileges | Step::Landlock | Step::Seccomp => {
            Error::new(ErrorKind::Sandbox, format!("cannot apply the sandbox: {why}"))
        }
        Step::Group => Error::new(ErrorKind::System, format!("cannot make a process group: {why}")),
        Step::ParentDeath => {
            Error::new(ErrorKind::System, format!("cannot ask for the parent-death signal: {why}"))
        }
    };
    error.with_source(fault.error)
}

/// What `execve` meant by its errno, for this file.
pub(crate) fn exec_error(error: io::Error, subject: &Subject<'_>) -> Error {
    let shown = subject.program.display();
    let place =
        subject.working_directory.map_or_else(|| subject.program.into(), |base| base.join(subject.program));
    let built = match error.raw_os_error() {
        Some(libc::ENOENT) if place.exists() => Error::new(
            ErrorKind::InterpreterNotFound,
            format!("cannot run '{shown}': the interpreter or loader that it names does not exist"),
        )
        .with_hint("look at its first line (`#!…`), or at `file` for the loader it was built for"),
        Some(libc::ENOENT | libc::ENOTDIR) => {
            Error::new(ErrorKind::NotFound, format!("program '{shown}' not found"))
        }
        Some(libc::EACCES) if place.is_dir() => {
            Error::new(ErrorKind::NotExecutable, format!("cannot run '{shown}': it is a directory"))
        }
        Some(libc::EACCES) => {
            Error::new(ErrorKind::NotExecutable, format!("cannot run '{shown}': permission denied"))
                .with_hint(format!("make it executable with `chmod +x {shown}`"))
        }
        Some(libc::ENOEXEC) => Error::new(
            ErrorKind::ExecFormat,
            format!("cannot run '{shown}': not a format the system can execute"),
        )
        .with_hint("a script needs a first line such as `#!/bin/sh`"),
        Some(libc::E2BIG) => Error::new(
            ErrorKind::ArgumentsTooLong,
            format!("cannot run '{shown}': arguments and environment are larger than the system allows"),
        )
        .with_hint("pass large data by standard input or a file"),
        _ => Error::new(ErrorKind::NotExecutable, format!("cannot run '{shown}': {}", reason(&error))),
    };
    built.with_path(subject.program).with_source(error)
}
