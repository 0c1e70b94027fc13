//! The oracle: what `bash -n` says about a script.

#![expect(clippy::disallowed_types, reason = "the oracle is a program to compare with, not a part of haft")]

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What bash says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is a program.
    Accepted,
    /// It is, though a here-document has no end.
    Warned,
    /// It is not, for this reason.
    Refused(String),
    /// Nothing: it took the file for a binary, or died of it.
    Nothing,
}

impl Verdict {
    pub(crate) fn accepted(&self) -> Option<bool> {
        match self {
            Self::Accepted | Self::Warned => Some(true),
            Self::Refused(_) => Some(false),
            Self::Nothing => None,
        }
    }
}

/// A bash of the version this crate follows.
pub(crate) struct Bash {
    directory: TempDir,
}

impl Bash {
    /// `None`, with the reason printed, if there is no such bash here.
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

    /// What bash says about a script.
    ///
    /// On some errors in `[[` and `for ((` bash stops reading, at times without a word, and ends with status 0. That it did
    /// shows when something wrong is added at the end and bash is still content.
    pub(crate) fn judge_closely(&self, script: &[u8], extglob: bool) -> Verdict {
        let verdict = self.judge(script, extglob);
        let longer = [script, b"\n)\n"].concat();
        match verdict {
            Verdict::Accepted if self.judge(&longer, extglob) == Verdict::Accepted => {
                Verdict::Refused("(stops reading without a word)".to_owned())
            }
            _ => verdict,
        }
    }

    /// What bash says about a script at a glance.
    pub(crate) fn judge(&self, script: &[u8], extglob: bool) -> Verdict {
        let thread = format!("{:?}", std::thread::current().id());
        let path = self.directory.path().join(thread);
        std::fs::write(&path, script).expect("the script is written");
        judge_file(&path, extglob)
    }

    /// The same for many, in turn, on all processors.
    pub(crate) fn judge_all(&self, scripts: &[(Vec<u8>, bool)]) -> Vec<Verdict> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let share = scripts.len().div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            let judge = |share| move || -> Vec<Verdict> { self.judge_share(share) };
            let threads: Vec<_> = scripts.chunks(share).map(|share| scope.spawn(judge(share))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("bash could be asked")).collect()
        })
    }

    fn judge_share(&self, scripts: &[(Vec<u8>, bool)]) -> Vec<Verdict> {
        scripts.iter().map(|(script, extglob)| self.judge(script, *extglob)).collect()
    }
}

/// What bash says about a file.
fn judge_file(path: &Path, extglob: bool) -> Verdict {
    let mut command = Command::new("bash");
    if extglob {
        command.args(["-O", "extglob"]);
    }
    command.arg("-n").arg("--").arg(path).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    let output = command.output().expect("bash runs");
    let message = String::from_utf8_lossy(&output.stderr);
    let name = String::from_utf8_lossy(path.as_os_str().as_bytes());
    verdict(output.status.code(), &message.replace(&*name, "bash"))
}

fn verdict(code: Option<i32>, message: &str) -> Verdict {
    // A message goes on over further lines if what it quotes does.
    let mut messages = message.lines().filter(|line| line.starts_with("bash: "));
    match code {
        Some(0) if message.is_empty() => Verdict::Accepted,
        Some(0) if messages.all(|message| message.contains(": warning: ")) => Verdict::Warned,
        Some(0..=2) => Verdict::Refused(message.trim_end().to_owned()),
        _ => Verdict::Nothing,
    }
}
