//! Running the `haft` program.
#![expect(clippy::disallowed_types, reason = "the tests of the supervisor are not supervised by it")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Finished, eventually, signal};

/// A run that takes longer than this has hung.
const LONGEST: Duration = Duration::from_secs(90);

/// A call of `haft`, to be run.
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
    /// A call of the program at this path, with no input.
    pub fn new(program: impl AsRef<OsStr>) -> Haft {
        Haft::by([program.as_ref()])
    }

    /// A call of the program by way of others, such as the `launch` mode of the child.
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

    /// Starts it in a directory.
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Haft {
        self.command.current_dir(directory);
        self
    }

    /// Gives it input, then the end.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Haft {
        self.input = Some(bytes.into());
        self.command.stdin(Stdio::piped());
        self
    }

    /// Gives it files for standard input, output and error.
    pub fn standard(mut self, files: [File; 3]) -> Haft {
        let [stdin, stdout, stderr] = files;
        self.command.stdin(stdin).stdout(stdout).stderr(stderr);
        self
    }

    /// Gives it a file for standard output.
    pub fn stdout_to(mut self, file: File) -> Haft {
        self.command.stdout(file);
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn start(mut self) -> Running {
        let call = format!("{:?}", self.command);
        let started = Instant::now();
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{error}: {call}"));
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.input) {
            // Whoever does not read it all is no problem of the test.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        Running { child: Some(child), call, started }
    }

    /// Runs it to its end.
    #[must_use = "a run that nobody looks at tests nothing"]
    #[track_caller]
    pub fn run(self) -> Finished {
        self.start().finish()
    }
}

/// A `haft` that runs. It is killed when it is dropped, so that a failed test leaves none.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
    call: String,
    started: Instant,
}

impl Running {
    /// Its number.
    pub fn pid(&self) -> i32 {
        self.child.as_ref().map_or(0, |child| child.id() as i32)
    }

    /// Sends it a signal.
    pub fn signal(&self, number: i32) -> &Running {
        signal(self.pid(), number);
        self
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| child.try_wait().is_ok_and(|status| status.is_some()))
    }

    /// Waits until it ends, while its output is read.
    #[must_use = "a run that nobody looks at tests nothing"]
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        let mut child = self.child.take().expect("it was not finished yet");
        let stdout = child.stdout.take().map(|pipe| std::thread::spawn(move || read_all(pipe)));
        let stderr = child.stderr.take().map(|pipe| std::thread::spawn(move || read_all(pipe)));
        let ended = eventually(LONGEST, || child.try_wait().is_ok_and(|status| status.is_some()));
        let duration = self.started.elapsed();
        if !ended {
            let _ = child.kill();
        }
        let status = child.wait().expect("nobody else waits for it");
        assert!(ended, "it hangs: {}", self.call);
        let text = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
            reader.map_or_else(Vec::new, |reader| reader.join().unwrap_or_default())
        };
        let (stdout, stderr) = (text(stdout), text(stderr));
        Finished { call: std::mem::take(&mut self.call), status, stdout, stderr, duration }
    }
}

impl Drop for Running {
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
