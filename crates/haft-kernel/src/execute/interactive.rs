//! The interface of a session for an interactive shell.

use haft_lang::Script;
use haft_text::Bytes;

use super::dispatch::CommandTarget;
use crate::flow::{Flow, Unwind};
use crate::options::ShellOption;
use crate::session::{ErrexitContext, Session};
use crate::variables;

/// The kind of command a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// An alias.
    Alias,
    /// A function.
    Function,
    /// A builtin.
    Builtin,
    /// An added command.
    Added,
    /// A script on the script path.
    Script,
    /// A program.
    Program,
    /// A tool of the backend.
    Tool,
}

impl Session {
    /// Makes the session interactive: aliases are expanded, and errors that end a script end only the line.
    pub fn set_interactive(&mut self) {
        self.interactive.enable();
        self.options.put_shell(ShellOption::ExpandAliases, true);
        self.options.put(crate::options::SetOption::HistoryExpand, true);
        self.set_option(crate::options::SetOption::History, true);
    }

    /// Sets the numbers that prompts show: the next history entry, `\!`, and the next command, `\#`.
    pub fn set_prompt_numbers(&mut self, entry: usize, command: usize) {
        self.interactive.set_prompt_numbers(entry, command);
    }

    /// The entries of the history, the latest last.
    #[must_use]
    pub fn history_entries(&self) -> Vec<Bytes> {
        self.history().entries().iter().map(|entry| entry.line.clone()).collect()
    }

    /// Adds an entry to the history, unless `HISTCONTROL` or `HISTIGNORE` exclude it. Returns whether it was added.
    pub fn remember(&mut self, text: &[u8]) -> bool {
        self.start_history_entry();
        let is_added = self.add_history_entry(text);
        let history = self.history_mut();
        history.last.is_added = is_added;
        history.last.has_first_line = is_added;
        is_added
    }

    /// Stops remembering the lines of the program.
    pub fn stop_remembering(&mut self) {
        self.history_mut().is_remembering = false;
    }

    /// Turns job control on: every job gets a process group of its own.
    pub fn control_jobs(&mut self) {
        self.options.put(crate::options::SetOption::Monitor, true);
    }

    /// Runs a line that was entered. Errors end only the line. A cancelled line has the status of Ctrl-C.
    ///
    /// # Errors
    /// `exit`, or a signal that ends the shell.
    pub fn run_line(&mut self, line: &Script) -> Flow {
        let status = match self.run_part(line, 0, true) {
            Ok(status) => status,
            Err(unwind @ (Unwind::Exit(_) | Unwind::Signal(_))) => {
                let _ = self.flush();
                return Err(unwind);
            }
            Err(Unwind::Break(_) | Unwind::Continue(_)) => self.parameters.status(),
            Err(unwind) => unwind.status(),
        };
        self.report_memory_hit();
        let _ = self.flush();
        self.parameters.set_status(status);
        self.open_files.set_broken_pipe(false);
        self.calls.set_errexit(ErrexitContext::Active);
        Ok(status)
    }

    /// Runs commands between lines, such as `PROMPT_COMMAND`. `$?` is unchanged.
    ///
    /// # Errors
    /// `exit`, or a signal that ends the shell.
    pub fn run_between_lines(&mut self, source: &[u8]) -> Result<(), Unwind> {
        let (status, statuses) = (self.parameters.status(), self.parameters.pipe_status().to_vec());
        self.run_line(&Script::new(source))?;
        self.parameters.set_status(status);
        self.parameters.set_pipe_statuses(statuses);
        Ok(())
    }

    /// Runs a file in this session, as `source` does. A missing file counts as empty.
    ///
    /// # Errors
    /// `exit`, or a signal that ends the shell.
    pub fn run_file(&mut self, path: &[u8]) -> Flow {
        let Ok(text) = self.read_file(path)? else { return Ok(0) };
        match self.source_file(path, &text, None) {
            Err(unwind @ (Unwind::Exit(_) | Unwind::Signal(_))) => Err(unwind),
            Err(unwind) => Ok(unwind.status()),
            ran => ran,
        }
    }

    /// Runs the file that the expanded value of a variable names, as bash does with `BASH_ENV` before a script.
    ///
    /// # Errors
    /// `exit`, or a signal that ends the shell.
    pub fn run_file_named_by(&mut self, variable: &[u8]) -> Flow {
        let Some(text) = self.value(variable).filter(|text| !text.is_empty()) else { return Ok(0) };
        match self.expand_text(&text) {
            Ok(path) => self.run_file(&path),
            Err(unwind) => Ok(unwind.status()),
        }
    }

    /// Runs the `EXIT` trap of a program that ended with a status; returns the final status.
    pub fn end_with(&mut self, status: i32) -> i32 {
        let ended = self.run_exit_trap(status).unwrap_or_else(Unwind::status);
        let _ = self.flush();
        ended & 0xff
    }

    /// The status of the last command.
    #[must_use]
    pub fn last_status(&self) -> i32 {
        self.parameters.status()
    }

    /// Sets the status of the last command.
    pub fn set_last_status(&mut self, status: i32) {
        self.parameters.set_status(status);
    }

    /// Returns the kind of command a name means. `None` if there is none.
    #[must_use]
    pub fn kind_of(&self, name: &[u8]) -> Option<NameKind> {
        if self.options.shell(ShellOption::ExpandAliases) && self.definitions.aliases().contains_key(name) {
            return Some(NameKind::Alias);
        }
        Some(match self.resolve_name(name) {
            CommandTarget::Function(_) => NameKind::Function,
            CommandTarget::Builtin(_) => NameKind::Builtin,
            CommandTarget::Added(_) | CommandTarget::StandIn(_) => NameKind::Added,
            CommandTarget::Script(_) => NameKind::Script,
            CommandTarget::Tool => NameKind::Tool,
            CommandTarget::External => {
                let path = self.value(b"PATH");
                let found = self.search_path(name, path.as_deref().or(Some(b""))).is_some();
                match found {
                    true => NameKind::Program,
                    false if self.kernel.backend.as_ref().is_some_and(|tools| tools.has_tool(name)) => {
                        NameKind::Tool
                    }
                    false => return None,
                }
            }
        })
    }

    /// The names of all commands except programs.
    #[must_use]
    pub fn command_names(&self) -> Vec<Bytes> {
        let functions = self.definitions.functions().keys().cloned();
        let builtins = self
            .kernel
            .builtins
            .all()
            .iter()
            .filter(|builtin| !self.definitions.disabled_builtins().contains(&builtin.name));
        let builtins = builtins.map(|builtin| Bytes::from(builtin.name));
        let added = self.kernel.all_added().into_iter().map(|command| Bytes::from(command.name()));
        let tools = self.kernel.backend.iter().flat_map(|backend| backend.tool_names()).map(Bytes::from);
        functions
            .chain(self.definitions.aliases().keys().cloned())
            .chain(builtins)
            .chain(added)
            .chain(tools)
            .collect()
    }

    /// The prefixes that arguments of this command can have, for completion.
    #[must_use]
    pub fn parameters_of(&self, name: &[u8]) -> Vec<String> {
        match (self.resolve_name(name), &self.kernel.backend) {
            (CommandTarget::Added(command), _) => command.parameters(),
            (CommandTarget::Tool | CommandTarget::External, Some(backend)) => backend.tool_parameters(name),
            _ => Vec::new(),
        }
    }

    /// Unsets a variable, unless it is read-only.
    pub fn unset_variable(&mut self, name: &[u8]) {
        let _ = self.variables.unset(name, false);
    }

    /// The names of all variables that have a value.
    #[must_use]
    pub fn variable_names(&self) -> Vec<Bytes> {
        let set = self.variables.iter().filter(|(name, variable)| {
            variables::is_name(name) && (variable.is_set() || variable.is(variables::Attributes::DYNAMIC))
        });
        set.map(|(name, _)| name.clone()).collect()
    }

    /// The elements of an array, or the value of another variable.
    #[must_use]
    pub fn values(&self, name: &[u8]) -> Vec<Bytes> {
        match self.lookup(name).map(|variable| variable.value.clone()) {
            Some(variables::VariableValue::Indexed(array)) => {
                array.iter().map(|(_, value)| value.clone()).collect()
            }
            _ => self.value(name).into_iter().collect(),
        }
    }
}
