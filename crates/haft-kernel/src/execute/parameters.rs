//! How one command is executed.

/// State that a command inherits from its context. It is passed down the call tree, so nothing has to be reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExecutionParameters {
    /// The command is the last of the program, so the process may become it.
    pub(crate) may_replace_process: bool,
    /// The command is all that this subshell runs, so its parentheses do not start another one.
    pub(crate) is_whole_subshell: bool,
    /// The `DEBUG` trap has run for this command already.
    pub(crate) debug_trap_has_run: bool,
}

impl ExecutionParameters {
    /// The parameters of a command that the process may become.
    pub(crate) fn last_of_program() -> Self {
        Self { may_replace_process: true, ..Self::default() }
    }
}
