//! A shell on a terminal of its own.

use std::time::Duration;

use haft_process::capture::OutputView;
use haft_process::{Command, Environment, Host, Input, JobHandle, JobOutcome, Streams, Task, TerminalSize};
use haft_test_support::{Scratch, eventually, process, signal};

/// The longest time to wait for a text.
const SOON: Duration = Duration::from_secs(30);

const SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };

/// The home directory of a shell.
pub(crate) struct Home {
    pub(crate) scratch: Scratch,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home { scratch: Scratch::new() }
    }

    /// Writes a file and its parent directories.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.scratch.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Starts a shell with the prompt `% `.
    pub(crate) fn shell(&self) -> Shell {
        self.start(&[], &[("PS1", "% ")])
    }

    /// Starts a shell with arguments and variables, without waiting for the prompt.
    pub(crate) fn start(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Shell {
        let mut environment = Environment::new();
        let path = std::env::split_paths("/usr/bin:/bin").next().unwrap();
        let path = format!("{}:/bin", path.display());
        let home = self.scratch.path().display().to_string();
        let base = [
            ("HOME", home.as_str()),
            ("PATH", &path),
            ("TERM", "xterm"),
            ("LC_ALL", "C.UTF-8"),
            ("INPUTRC", "/dev/null"),
        ];
        for (name, value) in base.iter().chain(variables) {
            environment.set(*name, *value).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        // The length of the name does not depend on the build directory.
        command.argument_zero("haft").arguments(arguments.iter().copied()).environment(environment);
        command.working_directory(self.scratch.path());
        let task = Task::new(command).streams(Streams::Terminal(SIZE)).input(Input::Pipe);
        let handle = task
            .timeout(Duration::from_secs(120))
            .grace(Duration::ZERO)
            .start(&Host::plain())
            .unwrap()
            .background()
            .unwrap();
        Shell { handle, size: SIZE }
    }
}

/// A running shell.
pub(crate) struct Shell {
    handle: JobHandle,
    size: TerminalSize,
}

impl Shell {
    /// Presses keys, given as bytes.
    pub(crate) fn press(&self, keys: &str) -> &Shell {
        self.handle.controller().write(keys.as_bytes());
        self
    }

    /// Waits for the prompt and enters a line.
    #[track_caller]
    pub(crate) fn enter(&self, line: &str) -> &Shell {
        self.prompt().press(line).press("\r")
    }

    /// Waits until the last line is an empty prompt.
    #[track_caller]
    pub(crate) fn prompt(&self) -> &Shell {
        self.shows(|screen| screen.lines().next_back() == Some("%"))
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) -> &Shell {
        self.shows(|screen| screen.contains(text))
    }

    /// Waits until the screen fulfils a condition.
    #[track_caller]
    pub(crate) fn shows(&self, wanted: impl Fn(&str) -> bool) -> &Shell {
        let come = eventually(SOON, || wanted(&self.screen()));
        assert!(come, "the screen is:\n{}", self.screen());
        self
    }

    /// The text on the screen, and the position of the cursor.
    fn picture(&self) -> (String, (u16, u16)) {
        let output = self.handle.controller().captured().output.clone().unwrap();
        let bytes = output.slice(&OutputView::HeadAndTail, 4 << 20).unwrap().to_bytes();
        let (rows, columns) = (self.size.rows.try_into().unwrap(), self.size.columns.try_into().unwrap());
        let mut parser = vt100::Parser::new(rows, columns, 0);
        parser.process(&bytes);
        let rows = parser.screen().rows(0, self.size.columns);
        let lines: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        (lines.join("\n").trim_end().to_owned(), parser.screen().cursor_position())
    }

    /// Waits for the prompt, enters a line, and waits until it runs, with the cursor below it.
    #[track_caller]
    pub(crate) fn run(&self, line: &str) -> &Shell {
        self.enter(line);
        let runs = eventually(SOON, || {
            let (screen, (row, column)) = self.picture();
            screen.lines().any(|shown| line.starts_with(shown.trim_start_matches("% ")) && shown.len() > 2)
                && column == 0
                && screen.lines().count() <= usize::from(row)
        });
        assert!(runs, "the screen is:\n{}", self.screen());
        self
    }

    /// The text on the screen, without trailing blanks.
    pub(crate) fn screen(&self) -> String {
        self.picture().0
    }

    /// Waits until a process group other than the shell's has the terminal.
    #[track_caller]
    pub(crate) fn until_in_foreground(&self) -> &Shell {
        let other = |group: i32| group != self.pid();
        assert!(eventually(SOON, || process::foreground(self.pid()).is_some_and(other)), "{}", self.screen());
        self
    }

    /// Changes the window size.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) -> &Shell {
        self.size = TerminalSize { rows, columns };
        self.handle.controller().resize(self.size);
        self
    }

    /// The shell's process id.
    pub(crate) fn pid(&self) -> i32 {
        self.handle.controller().pid()
    }

    /// Sends the shell a signal.
    pub(crate) fn signal(&self, number: i32) -> &Shell {
        signal(self.pid(), number);
        self
    }

    /// Waits until the shell has ended.
    #[track_caller]
    pub(crate) fn finish(self) -> JobOutcome {
        assert!(self.handle.wait_for(SOON), "the shell goes on:\n{}", self.screen());
        self.handle.wait().unwrap()
    }
}
