//! Commands that run in this process: the table of builtins, added commands, and backends that provide tools.

mod builtin;
mod context;
mod gate;
mod stand_ins;

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use haft_text::Bytes;

use crate::fan::{FanOut, Role};
use crate::flow::Flow;
use crate::session::Session;

pub(crate) use builtin::BuiltinTable;
pub use builtin::{Builtin, BuiltinFunction, Operand};
pub use context::Context;
pub use gate::{CommandGate, GatedCommand, InProcessKind};
pub(crate) use stand_ins::StandIns;

/// A command that runs in this process. Functions and builtins take precedence over it; it takes precedence over scripts and
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
/// session.import_environment([("PATH", "/usr/bin:/bin")]);
/// assert_eq!(session.run_main(b"x=$(answer); [[ $x -eq 42 ]]"), Ok(0));
/// ```
///
/// A command that takes values gets those of JSON words. Other commands get the words that bash makes of them.
///
/// ```
/// use haft_kernel::builtins::Context;
/// use haft_kernel::{Bytes, Command, Flow, Kernel, Session, TypedArgument};
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
///             TypedArgument::Value { name: b"of", value, .. } => value.as_array().map(Vec::len),
///             _ => None,
///         });
///         context.print(format!("{}\n", count.unwrap_or(0)).as_bytes())
///     }
/// }
///
/// let mut session = Session::new(Kernel::builder().command(Arc::new(Count)).build());
/// session.import_environment([("PATH", "/usr/bin:/bin")]);
/// assert_eq!(session.run_main(b"x=2; [[ $(count of=[1, \"a $x\", null]) == 3 ]]"), Ok(0));
/// ```
pub trait Command: Debug + Send + Sync {
    /// The name of the command.
    fn name(&self) -> &str;

    /// Runs the command. The arguments do not include its name.
    ///
    /// # Errors
    /// A reason to leave the commands around it.
    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow;

    /// Whether it takes a JSON word after these arguments as a value. A command that runs another one forwards the question with
    /// [`Session::takes_values`].
    fn takes_values(&self, _session: &mut Session, _before: &[Bytes]) -> bool {
        false
    }

    /// Whether a program of the same name, if there is one, should run instead with these arguments.
    fn steps_aside(&self, _session: &mut Session, _arguments: &[Bytes]) -> bool {
        false
    }

    /// Names of the programs that it can stand in for. A symbolic link of its name may lead to one of them.
    fn programs(&self) -> &[&str] {
        &[]
    }

    /// Its role in the pipeline around it.
    fn role(&self) -> Role {
        Role::Stage
    }

    /// Runs a fan-out that it opens.
    ///
    /// # Errors
    /// A reason to leave the commands around it.
    fn fan_out(&self, _context: &mut Context<'_>, _fan: &FanOut<'_>) -> Flow {
        Ok(2)
    }

    /// Prefixes that its arguments can have, such as `limit=` and `--text`, for completion.
    fn parameters(&self) -> Vec<String> {
        Vec::new()
    }

    /// One line of syntax, for `help`.
    fn synopsis(&self) -> String {
        self.name().to_owned()
    }

    /// One line of description, for `help`.
    fn summary(&self) -> &str {
        ""
    }

    /// The complete help text.
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

/// A source of tools, which are looked up after all other commands.
pub trait Backend: Debug + Send + Sync {
    /// Whether there is a tool of this name. Tools take the values of JSON words; see [`Context::typed`].
    fn has_tool(&self, name: &[u8]) -> bool;

    /// Calls the tool that the first word names.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] if there is no such tool. The shell then reports that the command is not found.
    fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError>;

    /// The names of the tools that are known without a query, for completion.
    fn tool_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Prefixes that arguments of a tool can have, such as `path=`, for completion.
    fn tool_parameters(&self, _name: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// Ends what the backend has started, because the process is about to become another program. The backend starts it again if that
    /// fails and a tool is called.
    fn release(&self) {}

    /// The path on this machine of a virtual path of the session, for programs and tools. `None` if there is none.
    fn resolve_real_path(&self, path: &[u8]) -> Option<Vec<u8>>;
}

/// Why a tool was not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool has this name.
    #[error("tool not found: {0}")]
    NotFound(Bytes),
}
