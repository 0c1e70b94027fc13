//! Adds a command that runs in this process.

use std::sync::Arc;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, Flow, Kernel, Session};

/// `greet NAME…`
#[derive(Debug)]
struct Greet;

impl Command for Greet {
    fn name(&self) -> &str {
        "greet"
    }

    fn run(&self, context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        for name in arguments {
            context.print(format!("hello {name}\n").as_bytes())?;
        }
        Ok(0)
    }
}

/// Runs the example.
pub(crate) fn main() {
    let kernel = Kernel::builder().command(Arc::new(Greet)).build();
    let mut session = Session::hermetic(kernel);
    let flow = session.run_main(b"text=$(greet you); [[ $text == 'hello you' ]]");
    assert_eq!(flow, Ok(0));
}
