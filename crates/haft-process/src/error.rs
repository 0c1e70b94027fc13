//! Errors of the process layer.

use std::io;
use std::path::{Path, PathBuf};

use crate::sys::{SpawnError, SpawnStep};

/// A failure to start or supervise a process. The exit status of a program is never an error.
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

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program does not exist, in `PATH` or at its path.
    NotFound,
    /// The program exists but is not executable.
    NotExecutable,
    /// A [`StartPermission`](crate::StartPermission) denies the program.
    Denied,
    /// The interpreter or loader of the program does not exist.
    InterpreterNotFound,
    /// The system cannot execute the program's format.
    ExecFormat,
    /// An argument or environment variable exceeds the system's limit.
    ArgumentTooLong,
    /// Arguments and environment together exceed the system's limit.
    ArgumentsTooLong,
    /// A string contains a NUL byte.
    NulByte,
    /// The working directory does not exist or is not accessible.
    WorkingDirectory,
    /// A descriptor for the child is not open, or its number is out of range.
    Descriptor,
    /// The system refused a resource limit or niceness.
    Limit,
    /// A terminal cannot be created, or cannot become the controlling terminal.
    Terminal,
    /// A control group cannot be created or joined.
    Cgroup,
    /// A namespace cannot be created or joined.
    Namespace,
    /// The system refused a sandbox rule.
    Sandbox,
    /// The system has no processes, memory, descriptors or disk space left.
    Exhausted,
    /// Another system call failed.
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

    /// Makes an error for a failed system call. `doing` completes the message "cannot …".
    pub fn system(doing: &str, error: impl Into<io::Error>) -> Error {
        let error = error.into();
        let kind = if is_exhaustion(&error) { ErrorKind::Exhausted } else { ErrorKind::System };
        Error::new(kind, format!("cannot {doing}: {}", reason(&error))).with_source(error)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns a suggestion for the user.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the file that caused the error, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the exit status of a shell for this error: 127 if the program does not exist, else 126.
    pub fn exit_code(&self) -> i32 {
        match self.kind {
            ErrorKind::NotFound | ErrorKind::InterpreterNotFound => 127,
            _ => 126,
        }
    }
}

/// Returns the text of a system error for use within a message: in lower case, without the error number.
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

/// The parts of a command that an error message may name.
pub(crate) struct ErrorSubject<'a> {
    pub(crate) program: &'a Path,
    pub(crate) working_directory: Option<&'a Path>,
    /// The child's descriptor numbers, in the order of the plan.
    pub(crate) descriptors: &'a [i32],
    /// The names of the limits, in the order of the plan.
    pub(crate) limits: &'a [&'static str],
}

/// Makes an error from the step at which a child failed.
pub(crate) fn from_spawn_error(failed: SpawnError, subject: &ErrorSubject<'_>) -> Error {
    let why = reason(&failed.error);
    let error = match failed.step {
        SpawnStep::Exec => return exec_error(failed.error, subject),
        SpawnStep::None | SpawnStep::Clone => return Error::system("start a process", failed.error),
        SpawnStep::WorkingDirectory => {
            let directory = subject.working_directory.unwrap_or(Path::new("."));
            Error::new(
                ErrorKind::WorkingDirectory,
                format!("cannot enter working directory '{}': {why}", directory.display()),
            )
            .with_path(directory)
        }
        SpawnStep::Descriptor => {
            let number = subject.descriptors.get(failed.index).copied().unwrap_or(-1);
            Error::new(
                ErrorKind::Descriptor,
                format!("cannot pass descriptor {number} to the program: {why}"),
            )
        }
        SpawnStep::Limit => {
            let name = subject.limits.get(failed.index).copied().unwrap_or("resource");
            Error::new(ErrorKind::Limit, format!("cannot set the {name} limit: {why}"))
                .with_hint("only a privileged process can raise a hard limit")
        }
        SpawnStep::Nice => Error::new(ErrorKind::Limit, format!("cannot set the niceness: {why}")),
        SpawnStep::Terminal => {
            Error::new(ErrorKind::Terminal, format!("cannot set the controlling terminal: {why}"))
        }
        SpawnStep::Cgroup => Error::new(ErrorKind::Cgroup, format!("cannot join the control group: {why}")),
        SpawnStep::Namespace => Error::new(ErrorKind::Namespace, format!("cannot join the namespace: {why}")),
        SpawnStep::NoNewPrivileges | SpawnStep::Landlock | SpawnStep::Seccomp => {
            Error::new(ErrorKind::Sandbox, format!("cannot apply the sandbox: {why}"))
        }
        SpawnStep::Group => Error::new(ErrorKind::System, format!("cannot create a process group: {why}")),
        SpawnStep::ParentDeath => {
            Error::new(ErrorKind::System, format!("cannot set the parent-death signal: {why}"))
        }
    };
    error.with_source(failed.error)
}

/// Makes an error from the errno of `execve`.
fn exec_error(error: io::Error, subject: &ErrorSubject<'_>) -> Error {
    let shown = subject.program.display();
    let path =
        subject.working_directory.map_or_else(|| subject.program.into(), |base| base.join(subject.program));
    let built = match error.raw_os_error() {
        Some(libc::ENOENT) if path.exists() => Error::new(
            ErrorKind::InterpreterNotFound,
            format!("cannot run '{shown}': its interpreter or loader does not exist"),
        )
        .with_hint("check its first line (`#!…`), or the loader that `file` shows"),
        Some(libc::ENOENT | libc::ENOTDIR) => {
            Error::new(ErrorKind::NotFound, format!("program '{shown}' not found"))
        }
        Some(libc::EACCES) if path.is_dir() => {
            Error::new(ErrorKind::NotExecutable, format!("cannot run '{shown}': it is a directory"))
        }
        Some(libc::EACCES) => {
            Error::new(ErrorKind::NotExecutable, format!("cannot run '{shown}': permission denied"))
                .with_hint(format!("make it executable with `chmod +x {shown}`"))
        }
        Some(libc::ENOEXEC) => Error::new(
            ErrorKind::ExecFormat,
            format!("cannot run '{shown}': the system cannot execute this format"),
        )
        .with_hint("a script needs a first line such as `#!/bin/sh`"),
        Some(libc::E2BIG) => Error::new(
            ErrorKind::ArgumentsTooLong,
            format!("cannot run '{shown}': arguments and environment exceed the system's limit"),
        )
        .with_hint("pass large data through standard input or a file"),
        _ => Error::new(ErrorKind::NotExecutable, format!("cannot run '{shown}': {}", reason(&error))),
    };
    built.with_path(subject.program).with_source(error)
}
