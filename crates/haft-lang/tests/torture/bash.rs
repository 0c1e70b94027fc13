//! The oracle: `bash -n`.

#![expect(clippy::disallowed_types, reason = "the oracle is a program to compare with, not a part of haft")]

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The result of `bash -n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BashResult {
    /// The script is valid.
    Accepted,
    /// The script is valid, but a here-document has no delimiter.
    Warned,
    /// The script is invalid, with the error message.
    Refused(String),
    /// Unknown: bash treated the file as binary or crashed.
    Unknown,
}

impl BashResult {
    pub(crate) fn accepted(&self) -> Option<bool> {
        match self {
            Self::Accepted | Self::Warned => Some(true),
            Self::Refused(_) => Some(false),
            Self::Unknown => None,
        }
    }
}

/// A bash of the version that this crate follows.
pub(crate) struct BashOracle {
    directory: TempDir,
}

impl BashOracle {
    /// Finds bash. Prints the reason and returns `None` if there is none of the right version.
    pub(crate) fn find() -> Option<Self> {
        let output =
            Command::new("bash").args(["-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"]).output();
        let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        match version.as_deref() {
            Ok("5.2") => Some(Self { directory: TempDir::new().expect("a directory for scripts") }),
            Ok(other) => {
                println!("skipped: this is bash {other}, and only 5.2 is compared with");
                None
            }
            Err(error) => {
                println!("skipped: there is no bash: {error}");
                None
            }
        }
    }

    /// Runs `bash -n` on a script.
    ///
    /// On some errors in `[[` and `for ((`, bash stops reading, sometimes silently and with status 0. To
    /// detect that, this function appends a syntax error: a bash that still succeeds did not read it.
    pub(crate) fn judge_closely(&self, script: &[u8], extglob: bool) -> BashResult {
        let verdict = self.judge(script, extglob);
        let longer = [script, b"\n)\n"].concat();
        match verdict {
            BashResult::Accepted if self.judge(&longer, extglob) == BashResult::Accepted => {
                BashResult::Refused("(stops reading silently)".to_owned())
            }
            _ => verdict,
        }
    }

    /// Runs `bash -n` on a script once.
    pub(crate) fn judge(&self, script: &[u8], extglob: bool) -> BashResult {
        let thread = format!("{:?}", std::thread::current().id());
        let path = self.directory.path().join(thread);
        std::fs::write(&path, script).expect("the script is written");
        judge_file(&path, extglob)
    }

    /// Runs `bash -n` on many scripts, on all processors.
    pub(crate) fn judge_all(&self, scripts: &[(Vec<u8>, bool)]) -> Vec<BashResult> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let share = scripts.len().div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            let judge = |share| move || -> Vec<BashResult> { self.judge_share(share) };
            let threads: Vec<_> = scripts.chunks(share).map(|share| scope.spawn(judge(share))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("bash could be asked")).collect()
        })
    }

    fn judge_share(&self, scripts: &[(Vec<u8>, bool)]) -> Vec<BashResult> {
        scripts.iter().map(|(script, extglob)| self.judge(script, *extglob)).collect()
    }
}

/// Runs `bash -n` on a file.
fn judge_file(path: &Path, extglob: bool) -> BashResult {
    let mut command = Command::new("bash");
    if extglob {
        command.args(["-O", "extglob"]);
    }
    command.arg("-n").arg("--").arg(path).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    let output = command.output().expect("bash runs");
    let message = String::from_utf8_lossy(&output.stderr);
    let name = String::from_utf8_lossy(path.as_os_str().as_bytes());
    bash_result(output.status.code(), &message.replace(&*name, "bash"))
}

fn bash_result(code: Option<i32>, message: &str) -> BashResult {
    // A message spans several lines if the quoted text does.
    let mut messages = message.lines().filter(|line| line.starts_with("bash: "));
    match code {
        Some(0) if message.is_empty() => BashResult::Accepted,
        Some(0) if messages.all(|message| message.contains(": warning: ")) => BashResult::Warned,
        Some(0..=2) => BashResult::Refused(message.trim_end().to_owned()),
        _ => BashResult::Unknown,
    }
}
