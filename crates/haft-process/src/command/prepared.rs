//! Converting a command for the system calls, and starting it.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::time::Duration;

use super::Command;
use crate::error::{self, Error, ErrorKind};
use crate::lookup::find_program;
use crate::reaper;
use crate::sys;

/// Starts the process, and retries while the program's file is open for writing (`ETXTBSY`). Another thread may just have
/// written the file; a child that a third thread is starting has a copy of its descriptor until exec.
pub(super) fn spawn_with_retries(plan: &sys::SpawnPlan<'_>) -> Result<sys::Spawned, sys::SpawnError> {
    const MAX_RETRIES: u32 = 6;
    let mut attempt = 0;
    loop {
        let result = reaper::register_child(|| sys::spawn(plan));
        let busy = result.as_ref().is_err_and(|failed| failed.error.raw_os_error() == Some(libc::ETXTBSY));
        if !busy || attempt == MAX_RETRIES {
            return result;
        }
        std::thread::sleep(Duration::from_millis(1 << attempt));
        attempt += 1;
    }
}

/// The strings of a command, NUL-terminated.
#[derive(Debug)]
pub(super) struct PreparedStrings {
    pub(super) path: CString,
    pub(super) argv: Vec<CString>,
    working_directory: Option<CString>,
    marker: Option<CString>,
}

impl PreparedStrings {
    pub(super) fn new(command: &Command) -> Result<PreparedStrings, Error> {
        let directory = command.working_directory.as_deref();
        c_string(&command.program, || "the program's name".to_owned())?;
        let path = find_program(&command.program, command.environment.get("PATH"), directory)
            .map_err(|error| prefer_directory_error(error, directory))?;
        let argv = command
            .argv()
            .enumerate()
            .map(|(index, argument)| c_string(argument, || format!("argument {index}")))
            .collect::<Result<_, _>>()?;
        Ok(PreparedStrings {
            path: c_string(path.as_os_str(), || "PATH".to_owned())?,
            argv,
            working_directory: directory
                .filter(|_| !command.shortcuts.same_directory)
                .map(|directory| c_string(directory.as_os_str(), || "the working directory".to_owned()))
                .transpose()?,
            marker: command.marking_scope().map(|scope| scope.marker(&command.environment)),
        })
    }

    pub(super) fn executable<'a>(
        &'a self,
        file: Option<RawFd>,
        environment: &'a [&'a CStr],
    ) -> sys::Executable<'a> {
        sys::Executable {
            path: &self.path,
            file,
            argv: &self.argv,
            environment,
            working_directory: self.working_directory.as_deref(),
        }
    }

    pub(super) fn environment<'a>(&'a self, command: &'a Command) -> Vec<&'a CStr> {
        match &self.marker {
            None => command.environment.entries().collect(),
            Some(marker) => {
                let others = command.environment.entries().filter(|entry| !crate::scope::is_marker(entry));
                others.chain([marker.as_c_str()]).collect()
            }
        }
    }
}

/// Replaces the error of a program search by that of the working directory, if the directory is missing.
fn prefer_directory_error(error: Error, directory: Option<&Path>) -> Error {
    match directory {
        Some(directory) if !directory.is_dir() => {
            let why = directory
                .read_dir()
                .err()
                .map_or_else(|| "not a directory".to_owned(), |why| error::reason(&why));
            Error::new(
                ErrorKind::WorkingDirectory,
                format!("cannot enter working directory '{}': {why}", directory.display()),
            )
            .with_path(directory)
        }
        _ => error,
    }
}

fn c_string(text: &OsStr, what: impl Fn() -> String) -> Result<CString, Error> {
    CString::new(text.to_os_string().into_vec())
        .map_err(|_| Error::new(ErrorKind::NulByte, format!("{} contains a NUL byte", what())))
}
