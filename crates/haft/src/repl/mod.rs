//! The interactive shell.
//!
//! Each turn reports finished jobs, reads an entry and runs it, all in one session of the kernel.

mod assistant;
mod bindings;
mod complete;
mod editor;
mod highlight;
mod history_file;
mod places;
mod prompt;
mod reader;
mod signals;
mod slash;
mod startup;
mod syntax;
mod tool_commands;

use std::io::Write as _;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;

use haft_kernel::memory::MemoryLimit;
use haft_kernel::options::SetOption;
use haft_kernel::{CancelToken, Flow, Script, Session, SignalInbox, Terminal, Unwind};
use rustix::stdio::{stderr, stdin};

use assistant::SessionAssistant;
use editor::{EditResult, Editor, KeyBindings, Prompts};
pub(crate) use places::{StartupPaths, profiles};
use signals::TerminalEvents;
pub(crate) use startup::ReplSetup;

use crate::tools::SessionTools;

/// The exit status of a shell whose terminal has hung up.
const HANGUP_STATUS: i32 = 128 + haft_process::Signals::HUP;

/// An interactive shell.
pub(crate) struct Repl {
    session: Session,
    events: Arc<TerminalEvents>,
    tools: Arc<SessionTools>,
    /// The terminal that is shared with jobs. Without one there is no job control.
    terminal: Option<Arc<Terminal>>,
    /// Whether the line editor is used.
    editing: bool,
    colours: bool,
    /// The number of entries that were run.
    entered: usize,
    /// Whether the user was warned that leaving ends jobs.
    warned: bool,
}

/// Whether the terminal echoes what is typed. If not, a program types, and an editor would only confuse it.
pub(crate) fn echoes(terminal: BorrowedFd<'_>) -> bool {
    rustix::termios::tcgetattr(terminal)
        .is_ok_and(|settings| settings.local_modes.contains(rustix::termios::LocalModes::ECHO))
}

/// Runs something that Ctrl-C cancels.
fn run_cancellable<T>(
    session: &mut Session,
    events: &TerminalEvents,
    run: impl FnOnce(&mut Session) -> T,
) -> T {
    let token = CancelToken::new();
    session.set_cancel_token(token.clone());
    session.memory().set_limit(MemoryLimit::Most);
    let memory = session.memory().clone();
    let _counted = memory.enter();
    events.set_running(Some(token.clone()));
    if events.take_interrupted() {
        token.cancel();
    }
    let result = run(session);
    events.set_running(None);
    session.set_cancel_token(CancelToken::new());
    result
}

/// How a turn ends.
enum TurnEnd {
    Turn,
    Leave(i32),
}

impl Repl {
    /// Sets up the session and runs its startup files.
    ///
    /// # Errors
    /// If signals cannot be handled.
    pub(crate) fn start(
        session: Session,
        inbox: Arc<SignalInbox>,
        tools: Arc<SessionTools>,
        setup: &ReplSetup,
    ) -> std::io::Result<Self> {
        let events = TerminalEvents::start(inbox)?;
        let mut repl = Self {
            session,
            events,
            tools,
            terminal: setup.terminal.clone(),
            editing: setup.editing,
            colours: setup.colours,
            entered: 0,
            warned: false,
        };
        startup::prepare(&mut repl.session, setup);
        for file in setup.files() {
            let _ = repl.run_cancellable(|session| session.run_file(&file));
        }
        if let Some(path) = repl.history_file() {
            let text = history_file::load(&path);
            repl.session.add_history_text(&text, 0);
        }
        Ok(repl)
    }

    /// The session, to run a script that was given on the command line.
    pub(crate) fn into_session(mut self) -> Session {
        self.session.stop_remembering();
        self.session
    }

    /// Reads and runs entries until the user leaves. Returns the exit status.
    pub(crate) fn run(mut self) -> i32 {
        loop {
            if let TurnEnd::Leave(status) = self.turn() {
                return self.leave(status);
            }
        }
    }

    fn turn(&mut self) -> TurnEnd {
        if let Some(next) = self.before_prompt() {
            return next;
        }
        match self.ask() {
            Ok((EditResult::Text(text), script)) => self.enter(&text, script),
            Ok((EditResult::Interrupted, _)) => {
                self.session.set_last_status(haft_process::CANCELLED);
                TurnEnd::Turn
            }
            Ok((EditResult::End, _)) => {
                let _ = std::io::stderr().write_all(b"exit\n");
                self.try_to_leave(self.session.last_status())
            }
            Ok((EditResult::Gone, _)) | Err(_) => TurnEnd::Leave(HANGUP_STATUS),
        }
    }

    /// Reports changed jobs, and runs `PROMPT_COMMAND`.
    fn before_prompt(&mut self) -> Option<TurnEnd> {
        if self.events.is_hung_up() {
            return Some(TurnEnd::Leave(HANGUP_STATUS));
        }
        self.session.report_jobs();
        for command in self.session.values(b"PROMPT_COMMAND") {
            if let Err(unwind) =
                self.run_cancellable(|session| session.run_between_lines(&command).map(|()| 0))
            {
                return Some(self.unwound(unwind));
            }
        }
        self.events.take_interrupted();
        None
    }

    /// Prompts for an entry and reads it. Also returns its script.
    fn ask(&mut self) -> std::io::Result<(EditResult, Script)> {
        startup::set_window(&mut self.session, stderr());
        if let Some(terminal) = &self.terminal {
            terminal.mend();
        }
        self.session.set_prompt_numbers(self.session.history_number(), self.entered + 1);
        let first = prompt::expand(&mut self.session, b"PS1");
        let next = prompt::expand(&mut self.session, b"PS2");
        let prompts = Prompts { first: &first, next: &next };
        let (input, output): (BorrowedFd<'_>, BorrowedFd<'_>) = (stdin(), stderr());
        let edits = self.editing && echoes(input);
        let bindings = if edits { bindings::of(&mut self.session) } else { KeyBindings::default() };
        let history = self.session.history_entries();
        let assistant = SessionAssistant::new(&mut self.session, &self.events, self.colours);
        let entered = if edits {
            let history: Vec<String> = history.iter().map(|entry| entry.lossy().into_owned()).collect();
            Editor::new(input, output, &self.events, &assistant, &history, prompts, &bindings).read()?
        } else {
            reader::read(input, output, &self.events, &assistant, prompts)?
        };
        let script = match &entered {
            EditResult::Text(text) => assistant.into_script(text),
            _ => Script::default(),
        };
        Ok((entered, script))
    }

    fn enter(&mut self, text: &str, script: Script) -> TurnEnd {
        if text.trim().is_empty() {
            return TurnEnd::Turn;
        }
        let Some(recalled) = self.recall(text) else { return TurnEnd::Turn };
        let script = if recalled == text { script } else { Script::new(recalled.as_bytes()) };
        let text = recalled.as_str();
        self.remember(text);
        self.entered += 1;
        if let Some(slash) = slash::parse(text) {
            let said = slash::run(slash, text, &mut self.session, &self.tools);
            let _ = std::io::stdout().write_all(said.as_bytes());
            return TurnEnd::Turn;
        }
        let _ = std::io::stderr().write_all(prompt::expand(&mut self.session, b"PS0").as_bytes());
        match self.run_cancellable(|session| session.run_line(&script)) {
            Ok(_) => {
                self.warned = false;
                TurnEnd::Turn
            }
            Err(unwind) => self.unwound(unwind),
        }
    }

    /// Performs history expansion. Returns the text to run, if there is one.
    fn recall(&mut self, text: &str) -> Option<String> {
        if !self.session.options().has(SetOption::HistoryExpand) {
            return Some(text.to_owned());
        }
        let expanded = match self.session.expand_history(text.as_bytes()) {
            Ok(None) => return Some(text.to_owned()),
            Ok(Some(expanded)) => expanded,
            Err(problem) => {
                crate::failure::print_message(String::from_utf8_lossy(&problem));
                return None;
            }
        };
        let text = String::from_utf8_lossy(&expanded.text).into_owned();
        let run = !expanded.is_printed_only;
        // The expanded text differs from the entered one.
        let _ = writeln!(std::io::stderr(), "{text}");
        if !run {
            self.remember(&text);
        }
        run.then_some(text)
    }

    /// Runs something that Ctrl-C cancels.
    fn run_cancellable(&mut self, run: impl FnOnce(&mut Session) -> Flow) -> Flow {
        run_cancellable(&mut self.session, &self.events, |session| {
            let result = run(session);
            if session.cancel_token().is_cancelled() && self.terminal.is_some() {
                // The cursor is after the "^C" that the terminal has echoed.
                let _ = std::io::stderr().write_all(b"\n");
            }
            result
        })
    }

    fn unwound(&mut self, unwind: Unwind) -> TurnEnd {
        match unwind {
            Unwind::Exit(status) => self.try_to_leave(status),
            unwind => TurnEnd::Leave(unwind.status()),
        }
    }

    /// Leaves, but warns first if that would end jobs.
    fn try_to_leave(&mut self, status: i32) -> TurnEnd {
        let (stopped, threads) = self.session.jobs_to_lose();
        if stopped + threads == 0 || self.warned {
            return TurnEnd::Leave(status);
        }
        self.warned = true;
        if stopped > 0 {
            crate::failure::print_message("stopped jobs will end with the shell");
        }
        if threads > 0 {
            crate::failure::print_message("jobs of functions or builtins will end with the shell");
        }
        let _ = std::io::stderr().write_all(b"hint: 'jobs' lists them; leave again to end them\n");
        TurnEnd::Turn
    }

    fn leave(mut self, status: i32) -> i32 {
        let status = match self.run_cancellable(|session| Ok(session.end_with(status))) {
            Ok(status) => status,
            Err(unwind) => unwind.status(),
        };
        self.session.leave_jobs(self.events.is_hung_up());
        let _ = self.session.finish();
        if let Some(terminal) = &self.terminal {
            terminal.release();
        }
        status
    }

    /// Adds an entry to the history, in memory and in the file.
    fn remember(&mut self, text: &str) {
        if self.session.options().has(SetOption::History)
            && self.session.remember(text.as_bytes())
            && let Some(path) = self.history_file()
        {
            // A history file that cannot be written does not stop the command.
            let _ = history_file::append(&path, &self.session.history_text(1));
            self.session.mark_history_saved();
        }
    }

    fn history_file(&self) -> Option<PathBuf> {
        let file = self.session.value(b"HISTFILE").filter(|file| !file.is_empty())?;
        Some(PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&file)))
    }
}
