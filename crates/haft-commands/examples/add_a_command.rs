//! Adds an in-process command to a shell: `repeat`, which prints a text several times.
//!
//! Run it with `cargo run -p haft-commands --example add_a_command`.

use std::sync::Arc;

use haft_commands::{
    ArgumentStyle, CommandArguments, CommandDescriptor, CommandParameter, Example, ParameterKind,
};
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Command, Flow, Kernel, Session};

/// The descriptor yields the argument parser and the help text.
static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "repeat",
    summary: "Print a text several times.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new("text", ParameterKind::Text, "The text.").required(),
        CommandParameter::new("count", ParameterKind::Integer(1), "How many times to print it (default: 2).")
            .letter('n'),
    ],
    details: &[],
    statuses: &[("0", "success"), ("2", "wrong usage")],
    examples: &[Example {
        summary: "Print a line three times",
        script: "repeat text=hello -n 3",
        output: "hello\nhello\nhello\n",
        status: 0,
    }],
};

#[derive(Debug)]
struct Repeat;

impl Command for Repeat {
    fn name(&self) -> &str {
        DESCRIPTOR.name
    }

    fn run(&self, context: &mut Context<'_>, words: &[Bytes]) -> Flow {
        let arguments = match CommandArguments::parse(&DESCRIPTOR, context.typed(words)) {
            Ok(arguments) if arguments.wants_help => return context.print(self.help().as_bytes()),
            Ok(arguments) => arguments,
            Err(error) => {
                context.error(error);
                return Ok(2);
            }
        };
        let text = arguments.text("text").cloned().unwrap_or_default();
        for _ in 0..arguments.number("count").unwrap_or(2) {
            context.print(&[&text[..], b"\n"].concat())?;
        }
        Ok(0)
    }

    fn help(&self) -> String {
        haft_commands::help(&DESCRIPTOR)
    }
}

/// Runs the new command next to the commands of this crate. Panics if a script fails.
pub(crate) fn main() {
    let kernel = Kernel::builder().commands(haft_commands::TABLE).command(Arc::new(Repeat)).build();
    let mut session = Session::new(kernel);
    session.import_environment([("PATH", "/usr/bin:/bin")]);

    // It works wherever a command can stand: in a substitution, in a pipeline, after `timeout`.
    assert_eq!(session.run_main(b"[[ $(repeat text='a b' -n 2) == $'a b\\na b' ]]"), Ok(0));
    assert_eq!(session.run_main(b"repeat text=x count=3 | { read -r line; [[ $line == x ]]; }"), Ok(0));
    assert_eq!(session.run_main(b"timeout 5 repeat text=x > /dev/null"), Ok(0));
    assert_eq!(session.run_main(b"repeat count=0 text=x 2> /dev/null"), Ok(2));
    assert_eq!(session.run_main(b"[[ $(help repeat) == *'Print a text several times.'* ]]"), Ok(0));
}
