//! RunningHaft the `haft` program.
#![expect(clippy::disallowed_types, reason = "tests of the supervisor must not depend on it")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{FinishedHaft, child, eventually, signal};

/// A call that takes longer fails its test.
const RUN_TIMEOUT: Duration = Duration::from_secs(90);

/// A call of `haft`.
///
/// ```no_run
/// # use haft_test_support::Haft;
/// let program = "/path/to/haft";
/// Haft::new(program).args(["spawn", "--", "echo", "hello"]).run().status(0).stdout("hello\n");
/// ```
#[must_use = "a call does nothing until it is run"]
#[derive(Debug)]
pub struct Haft {
    command: Command,
    input: Option<Vec<u8>>,
}

impl Haft {
    /// Makes a call of the program at this path, without input.
    pub fn new(program: impl AsRef<OsStr>) -> Haft {
        Haft::by([program.as_ref()])
    }

    /// Makes a call through other programs, such as the `launch` mode of the child.
    pub fn by<A: AsRef<OsStr>>(words: impl IntoIterator<Item = A>) -> Haft {
        let words: Vec<OsString> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Haft { command, input: None }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Haft {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Haft {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Haft {
        self.command.env(name, value);
        self
    }

    /// Sets the directory for temporary files.
    pub fn temporary(self, directory: &Path) -> Haft {
        self.env("TMPDIR", directory)
    }

    /// Sets the working directory.
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Haft {
        self.command.current_dir(directory);
        self
    }

    /// Sets the input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Haft {
        self.input = Some(bytes.into());
        self.command.stdin(Stdio::piped());
        self
    }

    /// Sets the files for standard input, output and error.
    pub fn standard(mut self, files: [File; 3]) -> Haft {
        let [stdin, stdout, stderr] = files;
        self.command.stdin(stdin).stdout(stdout).stderr(stderr);
        self
    }

    /// Sets the file for standard output.
    pub fn stdout_to(mut self, file: File) -> Haft {
        self.command.stdout(file);
        self
    }

    /// Starts the program.
    #[track_caller]
    pub fn start(mut self) -> RunningHaft {
        self.keep_files_apart();
        let call = format!("{:?}", self.command);
        let started = Instant::now();
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{error}: {call}"));
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.input) {
            // The program need not read all of it.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        RunningHaft { child: Some(child), call, started }
    }

    /// Keeps stored outputs and records out of the developer's directories, unless the test sets a home or these directories.
    fn keep_files_apart(&mut self) {
        for (name, value) in separate_directories() {
            let is_set = |name: &str| self.command.get_envs().any(|(key, _)| key == name);
            if !is_set("HOME") && !is_set(name) {
                self.command.env(name, value);
            }
        }
    }

    /// Runs the program and waits for its end.
    #[must_use = "check the result"]
    #[track_caller]
    pub fn run(self) -> FinishedHaft {
        self.start().finish()
    }
}

/// Variables that keep the files of tests out of the developer's cache and state directories.
pub fn separate_directories() -> [(&'static str, PathBuf); 2] {
    let beside = |name: &str| Path::new(child()).with_file_name(name);
    [("XDG_CACHE_HOME", beside("test-cache")), ("XDG_STATE_HOME", beside("test-state"))]
}

/// A running `haft`. Dropping it kills the process, so that a failed test leaves none.
#[derive(Debug)]
pub struct RunningHaft {
    child: Option<Child>,
    call: String,
    started: Instant,
}

impl RunningHaft {
    /// Returns the pid.
    pub fn pid(&self) -> i32 {
        self.child.as_ref().map_or(0, |child| child.id() as i32)
    }

    /// Sends a signal.
    pub fn signal(&self, number: i32) -> &RunningHaft {
        signal(self.pid(), number);
        self
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| child.try_wait().is_ok_and(|status| status.is_some()))
    }

    /// Reads the output and waits for the end.
    #[must_use = "check the result"]
    #[track_caller]
    pub fn finish(mut self) -> FinishedHaft {
        let mut child = self.child.take().expect("not finished yet");
        let stdout = child.stdout.take().map(|pipe| std::thread::spawn(move || read_all(pipe)));
        let stderr = child.stderr.take().map(|pipe| std::thread::spawn(move || read_all(pipe)));
        let ended = eventually(RUN_TIMEOUT, || child.try_wait().is_ok_and(|status| status.is_some()));
        let duration = self.started.elapsed();
        if !ended {
            let _ = child.kill();
        }
        let status = child.wait().expect("only this waits for the child");
        assert!(ended, "the program hangs: {}", self.call);
        let text = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
            reader.map_or_else(Vec::new, |reader| reader.join().unwrap_or_default())
        };
        let (stdout, stderr) = (text(stdout), text(stderr));
        FinishedHaft { call: std::mem::take(&mut self.call), status, stdout, stderr, duration }
    }
}

impl Drop for RunningHaft {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn read_all(mut pipe: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.read_to_end(&mut bytes);
    bytes
}
