//! Commands that an embedder adds, and tools beyond the machine.

use std::fmt::Debug;

use crate::builtins::Context;
use crate::bytes::Bytes;
use crate::flow::Flow;

/// A command that runs in this process. It is found after functions and the shell's own builtins, and before scripts and
/// programs.
///
/// ```
/// use haft_kernel::builtins::Context;
/// use haft_kernel::{Bytes, Command, Flow, Kernel, Session};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Answer;
///
/// impl Command for Answer {
///     fn name(&self) -> &str {
///         "answer"
///     }
///
///     fn run(&self, context: &mut Context<'_>, _: &[Bytes]) -> Flow {
///         context.print(b"42\n")
///     }
/// }
///
/// let kernel = Kernel::builder().command(Arc::new(Answer)).build();
/// let mut session = Session::new(kernel);
/// session.familiarize([("PATH", "/usr/bin:/bin")]);
/// assert_eq!(session.run_main(b"x=$(answer); [[ $x -eq 42 ]]"), Ok(0));
/// ```
pub trait Command: Debug + Send + Sync {
    /// The name it is called by.
    fn name(&self) -> &str;

    /// Runs it with its arguments, without its name.
    ///
    /// # Errors
    /// A reason to leave what encloses it.
    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow;
}

/// Tools that are neither in this process nor programs of the machine: looked for last.
pub trait Backend: Debug + Send + Sync {
    /// Calls the tool that the first word names.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] if there is no such tool; then the command is not found.
    fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError>;

    /// Where on this machine a path of the session is, for tools that need to know; `None` if it is nowhere.
    fn resolve_real_path(&self, path: &[u8]) -> Option<Vec<u8>>;
}

/// Why a tool was not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no tool of this name.
    #[error("tool not found: {0}")]
    NotFound(Bytes),
}
