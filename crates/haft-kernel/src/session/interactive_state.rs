//! State that only an interactive shell has.

/// The state of an interactive shell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InteractiveState {
    /// Whether a person enters the commands.
    is_interactive: bool,
    /// `\!` in a prompt: the number of the next history entry.
    history_number: usize,
    /// `\#` in a prompt: the number of the next command.
    command_number: usize,
}

impl InteractiveState {
    /// The state of a shell that runs a script.
    pub(super) fn new() -> Self {
        Self { is_interactive: false, history_number: 1, command_number: 1 }
    }

    /// Whether a person enters the commands.
    #[inline]
    pub(crate) fn is_interactive(self) -> bool {
        self.is_interactive
    }

    /// Says that a person enters the commands.
    pub(crate) fn enable(&mut self) {
        self.is_interactive = true;
    }

    /// Sets the numbers that prompts show.
    pub(crate) fn set_prompt_numbers(&mut self, history: usize, command: usize) {
        (self.history_number, self.command_number) = (history, command);
    }

    /// `\!` in a prompt.
    pub(crate) fn history_number(self) -> usize {
        self.history_number
    }

    /// `\#` in a prompt.
    pub(crate) fn command_number(self) -> usize {
        self.command_number
    }
}
