//! Adds a backend: a source of tools that are looked up after all other commands.

use std::sync::Arc;

use haft_kernel::builtins::Context;
use haft_kernel::{Backend, Bytes, Flow, Kernel, Session, ToolError};

/// Provides the tool `weather CITY`.
#[derive(Debug)]
struct Weather;

impl Backend for Weather {
    fn has_tool(&self, name: &[u8]) -> bool {
        name == b"weather"
    }

    fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError> {
        Ok(context.print(format!("clear in {}\n", words[1]).as_bytes()))
    }

    fn resolve_real_path(&self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// Runs the example.
pub(crate) fn main() {
    let kernel = Kernel::builder().external(false).backend(Arc::new(Weather)).build();
    let mut session = Session::hermetic(kernel);
    let flow = session.run_main(b"text=$(weather Delft); [[ $text == 'clear in Delft' ]]");
    assert_eq!(flow, Ok(0));
}
