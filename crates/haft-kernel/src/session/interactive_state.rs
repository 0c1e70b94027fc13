//! The state of an interactive shell, and the history.

use std::sync::Arc;

use haft_text::Bytes;

use super::completion::CompletionSpec;
use super::history::CommandHistory;
use super::readline::ReadlineState;

/// The state of an interactive shell, and the history, which scripts can have too.
#[derive(Clone, Debug)]
pub(crate) struct InteractiveState {
    /// Whether a person enters the commands.
    is_interactive: bool,
    /// `\!` in a prompt, if it is not the number of the next history entry.
    history_number: Option<usize>,
    /// `\#` in a prompt: the number of the next command.
    command_number: usize,
    history: Arc<CommandHistory>,
    /// The bindings of the line editor, once they were needed.
    readline: Option<Arc<ReadlineState>>,
    /// The command whose argument is being completed, and its specification.
    completing: Option<(Bytes, CompletionSpec)>,
}

impl InteractiveState {
    /// The state of a shell that runs a script.
    pub(super) fn new() -> Self {
        Self {
            is_interactive: false,
            history_number: None,
            command_number: 1,
            history: Arc::default(),
            readline: None,
            completing: None,
        }
    }

    /// Whether a person enters the commands.
    #[inline]
    pub(crate) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Says that a person enters the commands.
    pub(crate) fn enable(&mut self) {
        self.is_interactive = true;
    }

    /// Sets the numbers that prompts show.
    pub(crate) fn set_prompt_numbers(&mut self, history: usize, command: usize) {
        (self.history_number, self.command_number) = (Some(history), command);
    }

    /// `\!` in a prompt, if it was set.
    pub(crate) fn history_number(&self) -> Option<usize> {
        self.history_number
    }

    /// `\#` in a prompt.
    pub(crate) fn command_number(&self) -> usize {
        self.command_number
    }

    #[inline]
    pub(super) fn history(&self) -> &CommandHistory {
        &self.history
    }

    pub(super) fn history_mut(&mut self) -> &mut Arc<CommandHistory> {
        &mut self.history
    }

    /// The bindings of the line editor, if they were needed.
    pub(crate) fn readline(&self) -> Option<&ReadlineState> {
        self.readline.as_deref()
    }

    /// The bindings of the line editor, to be changed. The first call makes them.
    pub(crate) fn readline_mut(&mut self, make: impl FnOnce() -> ReadlineState) -> &mut ReadlineState {
        Arc::make_mut(self.readline.get_or_insert_with(|| Arc::new(make())))
    }

    /// The completion that is under way.
    pub(crate) fn completing(&self) -> Option<&(Bytes, CompletionSpec)> {
        self.completing.as_ref()
    }

    /// The completion that is under way, to be changed.
    pub(crate) fn completing_mut(&mut self) -> &mut Option<(Bytes, CompletionSpec)> {
        &mut self.completing
    }
}
