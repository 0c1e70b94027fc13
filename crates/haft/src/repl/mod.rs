//! haft on a terminal: a shell for a person.
//!
//! A turn is: print_message what became of jobs, ask, run. The editor and what it is told live below; everything that runs, runs in
//! one session of the kernel.

mod assistant;
mod complete;
mod editor;
mod highlight;
mod history;
mod history_command;
mod places;
mod prompt;
mod reader;
mod recall;
mod signals;
mod slash;
mod startup;
mod syntax;
mod tool_commands;

use std::io::Write as _;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use haft_kernel::memory::MemoryLimit;
use haft_kernel::options::SetOption;
use haft_kernel::{CancelToken, Command, Flow, Session, SignalInbox, Terminal, Unwind};
use rustix::stdio::{stderr, stdin};

use assistant::SessionAssistant;
use editor::{Editor, Line, Prompts};
use history::{History, Rules};
use history_command::{HistoryCommand, Shared};
pub(crate) use places::Places;
use recall::Recalled;
use signals::Watch;
pub(crate) use startup::Setup;

use crate::tools::SessionTools;

/// A shell for a person.
pub(crate) struct Repl {
    session: Session,
    watch: Arc<Watch>,
    tools: Arc<SessionTools>,
    /// The terminal that is shared with jobs; without it there is no job control.
    terminal: Option<Arc<Terminal>>,
    history: Shared,
    /// Whether lines are edited, which a terminal must be able to show.
    editing: bool,
    colours: bool,
    /// How many texts were run.
    entered: usize,
    /// Whether it was said that leaving would end jobs, so that to leave again means it.
    warned: bool,
}

/// What comes after a turn.
enum Next {
    Turn,
    Leave(i32),
}

/// The commands that only an interactive shell has.
pub(crate) fn commands(history: &Shared) -> [Arc<dyn Command>; 1] {
    [Arc::new(HistoryCommand(history.clone()))]
}

/// A history that nothing has been entered into.
pub(crate) fn new_history() -> Shared {
    Shared::default()
}

impl Repl {
    /// Sets up a session and runs its start-up files.
    pub(crate) fn start(
        session: Session,
        history: Shared,
        inbox: Arc<SignalInbox>,
        tools: Arc<SessionTools>,
        setup: &Setup,
    ) -> std::io::Result<Self> {
        let watch = Watch::start(inbox)?;
        let mut repl = Self {
            session,
            watch,
            tools,
            terminal: setup.terminal.clone(),
            history,
            editing: setup.editing,
            colours: setup.colours,
            entered: 0,
            warned: false,
        };
        startup::prepare(&mut repl.session, setup);
        for file in setup.files() {
            let _ = repl.run_stoppable(|session| session.run_file(&file));
        }
        if let Some(path) = repl.history_file() {
            *repl.history.lock().unwrap_or_else(PoisonError::into_inner) = History::load(&path);
        }
        Ok(repl)
    }

    /// The session, for a text that was given and is not entered.
    pub(crate) fn into_session(self) -> Session {
        self.session
    }

    /// Reads and runs until somebody leaves; yields the status to exit with.
    pub(crate) fn run(mut self) -> i32 {
        loop {
            if let Next::Leave(status) = self.turn() {
                return self.leave(status);
            }
        }
    }

    fn turn(&mut self) -> Next {
        if let Some(next) = self.before_prompt() {
            return next;
        }
        match self.ask() {
            Ok(Line::Text(text)) => self.enter(&text),
            Ok(Line::Interrupted) => {
                self.session.set_last_status(130);
                Next::Turn
            }
            Ok(Line::End) => {
                let _ = std::io::stderr().write_all(b"exit\n");
                self.try_to_leave(self.session.last_status())
            }
            Ok(Line::Gone) | Err(_) => Next::Leave(129),
        }
    }

    /// Tells what became of jobs, and runs `PROMPT_COMMAND`.
    fn before_prompt(&mut self) -> Option<Next> {
        if self.watch.is_gone() {
            return Some(Next::Leave(129));
        }
        self.session.report_jobs();
        for command in self.session.values(b"PROMPT_COMMAND") {
            if let Err(unwind) = self.run_stoppable(|session| session.run_between_lines(&command).map(|()| 0))
            {
                return Some(self.unwound(unwind));
            }
        }
        self.watch.take_interrupted();
        None
    }

    fn ask(&mut self) -> std::io::Result<Line> {
        startup::set_window(&mut self.session, stderr());
        if let Some(terminal) = &self.terminal {
            terminal.mend();
        }
        let number = self.history.lock().unwrap_or_else(PoisonError::into_inner).next_number();
        self.session.set_prompt_numbers(number, self.entered + 1);
        let first = prompt::expand(&mut self.session, b"PS1");
        let next = prompt::expand(&mut self.session, b"PS2");
        let prompts = Prompts { first: &first, next: &next };
        let assistant = SessionAssistant::new(&self.session, self.colours);
        let (input, output): (BorrowedFd<'_>, BorrowedFd<'_>) = (stdin(), stderr());
        if !self.editing {
            return reader::read(input, output, &self.watch, &assistant, prompts);
        }
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        Editor::new(input, output, &self.watch, &assistant, history.entries(), prompts).read()
    }

    fn enter(&mut self, text: &str) -> Next {
        if text.trim().is_empty() {
            return Next::Turn;
        }
        let Some(recalled) = self.recall(text) else { return Next::Turn };
        let text = recalled.as_str();
        self.remember(text);
        self.entered += 1;
        if let Some(slash) = slash::parse(text) {
            let said = slash::run(
                slash,
                text,
                &mut self.session,
                &self.history.lock().unwrap_or_else(PoisonError::into_inner),
                &self.tools,
            );
            let _ = std::io::stdout().write_all(said.as_bytes());
            return Next::Turn;
        }
        let _ = std::io::stderr().write_all(prompt::expand(&mut self.session, b"PS0").as_bytes());
        match self.run_stoppable(|session| session.run_line(text.as_bytes())) {
            Ok(_) => {
                self.warned = false;
                Next::Turn
            }
            Err(unwind) => self.unwound(unwind),
        }
    }

    /// The text to run in place of the one that was entered, in which entries may be called by name; `None` if there is
    /// nothing to run.
    fn recall(&mut self, text: &str) -> Option<String> {
        if !self.session.options().has(SetOption::HistoryExpand) {
            return Some(text.to_owned());
        }
        let recalled = recall::recall(text, &self.history.lock().unwrap_or_else(PoisonError::into_inner));
        let (text, run) = match recalled {
            Ok(Recalled::Same) => return Some(text.to_owned()),
            Ok(Recalled::Text(text)) => (text, true),
            Ok(Recalled::Shown(text)) => (text, false),
            Err(problem) => {
                crate::failure::print_message(problem);
                return None;
            }
        };
        // What is about to run is something else than what stands there.
        let _ = writeln!(std::io::stderr(), "{text}");
        if !run {
            self.remember(&text);
        }
        run.then_some(text)
    }

    /// Runs something that Ctrl-C stops, and nothing else with it.
    fn run_stoppable(&mut self, run: impl FnOnce(&mut Session) -> Flow) -> Flow {
        let token = CancelToken::new();
        self.session.set_cancel_token(token.clone());
        self.session.memory().set_limit(MemoryLimit::Most);
        let _counted = self.session.memory().enter();
        self.watch.set_running(Some(token.clone()));
        if self.watch.take_interrupted() {
            token.cancel();
        }
        let result = run(&mut self.session);
        self.watch.set_running(None);
        if self.session.cancel_token().is_cancelled() && self.terminal.is_some() {
            // The terminal has shown "^C", and what was stopped has not ended its line.
            let _ = std::io::stderr().write_all(b"\n");
        }
        self.session.set_cancel_token(CancelToken::new());
        result
    }

    fn unwound(&mut self, unwind: Unwind) -> Next {
        match unwind {
            Unwind::Exit(status) => self.try_to_leave(status),
            unwind => Next::Leave(unwind.status()),
        }
    }

    /// Leaves, unless that would end jobs and was not said before.
    fn try_to_leave(&mut self, status: i32) -> Next {
        let (stopped, threads) = self.session.jobs_to_lose();
        if stopped + threads == 0 || self.warned {
            return Next::Leave(status);
        }
        self.warned = true;
        if stopped > 0 {
            crate::failure::print_message("there are stopped jobs, which end with the shell");
        }
        if threads > 0 {
            crate::failure::print_message(
                "there are jobs of functions or builtins, which end with the shell",
            );
        }
        let _ = std::io::stderr().write_all(b"hint: 'jobs' shows them; leave again to end them\n");
        Next::Turn
    }

    fn leave(mut self, status: i32) -> i32 {
        let status = match self.run_stoppable(|session| Ok(session.end_with(status))) {
            Ok(status) => status,
            Err(unwind) => unwind.status(),
        };
        self.session.leave_jobs(self.watch.is_gone());
        let _ = self.session.finish();
        if let Some(terminal) = &self.terminal {
            terminal.release();
        }
        status
    }

    /// Adds what was entered to the history, in memory and in the file.
    fn remember(&self, text: &str) {
        let rules = Rules::parse(&self.session.value(b"HISTCONTROL").unwrap_or_default());
        let added = self.history.lock().unwrap_or_else(PoisonError::into_inner).add(text, rules);
        if added && let Some(path) = self.history_file() {
            // A history that cannot be written is no reason not to run a command.
            let _ = history::append(&path, text);
        }
    }

    fn history_file(&self) -> Option<PathBuf> {
        let file = self.session.value(b"HISTFILE").filter(|file| !file.is_empty())?;
        Some(PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&file)))
    }
}
