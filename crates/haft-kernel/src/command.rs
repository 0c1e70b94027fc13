//! Commands that an embedder adds, and tools beyond the machine.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use haft_text::Bytes;

use crate::builtins::Context;
use crate::fan::{FanOut, Role};
use crate::flow::Flow;
use crate::session::Session;

/// A command that runs in this process. It is found after functions and the shell's own builtins, and before scripts and
/// programs.
///
/// ```
/// use haft_kernel::builtins::Context;
/// use haft_kernel::{Bytes, Command, Flow, Kernel, Session, TypedArgument};
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
///
/// One that takes values sees those of JSON words; every other command sees the words that bash makes of them.
///
/// ```
/// use haft_kernel::builtins::Context;
/// use haft_kernel::{Bytes, Command, Flow, Kernel, Session};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Count;
///
/// impl Command for Count {
///     fn name(&self) -> &str {
///         "count"
///     }
///
///     fn takes_values(&self, _: &mut Session, _: &[Bytes]) -> bool {
///         true
///     }
///
///     fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
///         let count = context.typed(arguments).find_map(|argument| match argument {
///             TypedArgument::Value { name: b"of", value } => value.as_array().map(Vec::len),
///             _ => None,
///         });
///         context.print(format!("{}\n", count.unwrap_or(0)).as_bytes())
///     }
/// }
///
/// let mut session = Session::new(Kernel::builder().command(Arc::new(Count)).build());
/// session.familiarize([("PATH", "/usr/bin:/bin")]);
/// assert_eq!(session.run_main(b"x=2; [[ $(count of=[1, \"a $x\", null]) == 3 ]]"), Ok(0));
/// ```
pub trait Command: Debug + Send + Sync {
    /// The name it is called by.
    fn name(&self) -> &str;

    /// Runs it with its arguments, without its name.
    ///
    /// # Errors
    /// A reason to leave what encloses it.
    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow;

    /// Whether a JSON word after these arguments is a value to it, rather than words. A command that runs another asks
    /// for that one: [`Session::takes_values`].
    fn takes_values(&self, _session: &mut Session, _before: &[Bytes]) -> bool {
        false
    }

    /// Whether, with these arguments, a program of the same name is to run in its place if there is one.
    fn steps_aside(&self, _session: &mut Session, _arguments: &[Bytes]) -> bool {
        false
    }

    /// What it is to the stages of a pipeline around it.
    fn role(&self) -> Role {
        Role::Stage
    }

    /// Runs a fan-out that it opens.
    ///
    /// # Errors
    /// A reason to leave what encloses it.
    fn fan_out(&self, _context: &mut Context<'_>, _fan: &FanOut<'_>) -> Flow {
        Ok(2)
    }

    /// What its arguments may begin with, for whoever completes what a person types: `limit=`, `--text`.
    fn parameters(&self) -> Vec<String> {
        Vec::new()
    }

    /// One line that says how it is called, for `help`.
    fn synopsis(&self) -> String {
        self.name().to_owned()
    }

    /// One line that says what it does, for `help`.
    fn summary(&self) -> &str {
        ""
    }

    /// All there is to say of it, for `help`.
    fn help(&self) -> String {
        format!("{}\n    {}\n", self.synopsis(), self.summary())
    }
}

/// A command that was added to a kernel.
#[derive(Clone, Debug)]
pub(crate) enum Added {
    Shared(Arc<dyn Command>),
    Static(&'static dyn Command),
}

impl Deref for Added {
    type Target = dyn Command;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Shared(command) => &**command,
            Self::Static(command) => *command,
        }
    }
}

/// Tools that are neither in this process nor programs of the machine: looked for last.
pub trait Backend: Debug + Send + Sync {
    /// Whether there is a tool of this name. A JSON word given to it is a value: see [`Context::typed`].
    fn has_tool(&self, name: &[u8]) -> bool;

    /// Calls the tool that the first word names.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] if there is no such tool; then the command is not found.
    fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError>;

    /// The names of the tools there are, as far as they are known without asking anybody, for whoever completes what a person
    /// types.
    fn tool_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the arguments of a tool may begin with, for the same: `path=`.
    fn tool_parameters(&self, _name: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// Where on this machine a path is that the session's files have in no real place: what programs and tools get to see of
    /// a virtual directory. `None` if it is nowhere.
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
