//! Finding a program the way the child would: by the `PATH` of its own environment, from its own directory.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType};

use crate::error::{Error, ErrorKind};

/// Where the C library looks when there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// What a file is to somebody who wants to run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Runnable,
    Forbidden,
    Absent,
}

/// Finds the file to execute for `program`.
///
/// A name with a slash is taken as it is. Another one is looked for in each directory of `path`; the first that may
/// be executed wins, and a directory is never a program. Relative directories count from `working_directory`.
///
/// # Errors
/// [`ErrorKind::NotFound`] if it is nowhere, [`ErrorKind::NotExecutable`] with the path if it is somewhere but may
/// not be executed.
pub fn find_program(
    program: &OsStr,
    path: Option<&OsStr>,
    working_directory: Option<&Path>,
) -> Result<PathBuf, Error> {
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    if program.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "the program's name is empty"));
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut forbidden = None;
    for directory in path.as_bytes().split(|&byte| byte == b':') {
        let candidate = candidate(directory, program);
        match judge(&candidate, working_directory) {
            Verdict::Runnable => return Ok(candidate),
            Verdict::Forbidden => forbidden = forbidden.or(Some(candidate)),
            Verdict::Absent => {}
        }
    }
    Err(forbidden.map_or_else(|| not_found(program, path), not_executable))
}

/// An empty entry of `PATH` is the working directory.
fn candidate(directory: &[u8], program: &OsStr) -> PathBuf {
    let directory = if directory.is_empty() { b"." } else { directory };
    let mut joined = OsString::from(OsStr::from_bytes(directory));
    if !directory.ends_with(b"/") {
        joined.push("/");
    }
    joined.push(program);
    PathBuf::from(joined)
}

fn judge(candidate: &Path, working_directory: Option<&Path>) -> Verdict {
    let place = match working_directory {
        Some(base) if candidate.is_relative() => &base.join(candidate),
        _ => candidate,
    };
    match rustix::fs::stat(place) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => Verdict::Absent,
        Ok(_) if rustix::fs::accessat(CWD, place, Access::EXEC_OK, AtFlags::EACCESS).is_ok() => {
            Verdict::Runnable
        }
        Ok(_) => Verdict::Forbidden,
        Err(_) => Verdict::Absent,
    }
}

fn not_found(program: &OsStr, path: &OsStr) -> Error {
    Error::new(ErrorKind::NotFound, format!("program '{}' not found", program.display()))
        .with_hint(format!("PATH is '{}'", path.display()))
        .with_path(program)
}

fn not_executable(path: PathBuf) -> Error {
    Error::new(ErrorKind::NotExecutable, format!("cannot run '{}': permission denied", path.display()))
        .with_hint(format!("make it executable with `chmod +x {}`", path.display()))
        .with_path(path)
}
