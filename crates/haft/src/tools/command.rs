//! `tool NAME`: a tool in a script, whatever else has its name.

use std::sync::Arc;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, Flow, Session};

use super::{SessionTools, backend};

/// The command `tool`.
#[derive(Debug)]
pub(crate) struct ToolCommand(pub(crate) Arc<SessionTools>);

impl Command for ToolCommand {
    fn name(&self) -> &str {
        "tool"
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        let Some((name, rest)) = arguments.split_first() else {
            context.error("usage: tool NAME [JSON | key=value… | --key value…]");
            return Ok(2);
        };
        let envelope = self.0.call(context, &String::from_utf8_lossy(name), rest);
        backend::show(context, envelope)
    }

    fn takes_values(&self, _: &mut Session, before: &[Bytes]) -> bool {
        !before.is_empty()
    }

    /// For a name that is not a tool, a program `tool` runs.
    fn steps_aside(&self, _: &mut Session, arguments: &[Bytes]) -> bool {
        let name = arguments.first().and_then(|name| std::str::from_utf8(name).ok());
        !name.is_some_and(|name| self.0.registry().has(name))
    }

    fn synopsis(&self) -> String {
        "tool NAME [JSON | key=value… | --key value…]".to_owned()
    }

    fn summary(&self) -> &str {
        "Call a tool; the word `tool` is optional where no other command has its name."
    }
}
