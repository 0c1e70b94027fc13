//! Searching a program in `PATH`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType};

use crate::error::{Error, ErrorKind};

/// The search path of the C library if `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Whether a file can be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executability {
    /// It can.
    Executable,
    /// It is a file without the permission.
    NotExecutable,
    /// There is no file, or it is a directory.
    Absent,
}

/// Finds the file to execute for `program`.
///
/// Returns a name with a slash unchanged. Searches any other name in the directories of `path`, and returns the first file
/// that is executable and not a directory. Relative directories are relative to `working_directory`.
///
/// # Errors
/// [`ErrorKind::NotFound`] if no file is found, [`ErrorKind::NotExecutable`] with its path if a file is not executable.
pub fn find_program(
    program: &OsStr,
    path: Option<&OsStr>,
    working_directory: Option<&Path>,
) -> Result<PathBuf, Error> {
    find_program_with(program, path, working_directory, executability)
}

/// Like [`find_program`], but on files that only `examine` can see. It gets absolute paths if there is a working directory.
///
/// # Errors
/// As [`find_program`].
pub fn find_program_with(
    program: &OsStr,
    path: Option<&OsStr>,
    working_directory: Option<&Path>,
    examine: impl Fn(&Path) -> Executability,
) -> Result<PathBuf, Error> {
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    if program.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "the program's name is empty"));
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut not_executable = None;
    for directory in path.as_bytes().split(|&byte| byte == b':') {
        let candidate = candidate(directory, program);
        let file = match working_directory {
            Some(base) if candidate.is_relative() => &base.join(&candidate),
            _ => &candidate,
        };
        match examine(file) {
            Executability::Executable => return Ok(candidate),
            Executability::NotExecutable => not_executable = not_executable.or(Some(candidate)),
            Executability::Absent => {}
        }
    }
    Err(not_executable.map_or_else(|| not_found_error(program, path), not_executable_error))
}

/// Joins an entry of `PATH` and a program's name. An empty entry means the working directory.
fn candidate(directory: &[u8], program: &OsStr) -> PathBuf {
    let directory = if directory.is_empty() { b"." } else { directory };
    let mut joined = OsString::from(OsStr::from_bytes(directory));
    if !directory.ends_with(b"/") {
        joined.push("/");
    }
    joined.push(program);
    PathBuf::from(joined)
}

fn executability(path: &Path) -> Executability {
    match rustix::fs::stat(path) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => Executability::Absent,
        Ok(_) if rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok() => {
            Executability::Executable
        }
        Ok(_) => Executability::NotExecutable,
        Err(_) => Executability::Absent,
    }
}

fn not_found_error(program: &OsStr, path: &OsStr) -> Error {
    Error::new(ErrorKind::NotFound, format!("program '{}' not found", program.display()))
        .with_hint(format!("PATH is '{}'", path.display()))
        .with_path(program)
}

fn not_executable_error(path: PathBuf) -> Error {
    Error::new(ErrorKind::NotExecutable, format!("cannot run '{}': permission denied", path.display()))
        .with_hint(format!("make it executable with `chmod +x {}`", path.display()))
        .with_path(path)
}
