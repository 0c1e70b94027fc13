//! `nohup`: runs a command that ignores `SIGHUP`.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};
use crate::group::gnu_command;
use crate::status::WRAPPER_FAILED;
use crate::text::streams::{Stop, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "nohup",
    summary: "Run a command that ignores `SIGHUP`.",
    style: ArgumentStyle::Gnu(&["COMMAND", "[ARGUMENT]..."]),
    parameters: &[],
    details: &[
        "COMMAND runs in the process of the session, which gets no `SIGHUP` for it. If standard output is a terminal, `nohup` \
         fails: redirect it.",
    ],
    statuses: &[
        ("125", "`nohup` itself failed"),
        ("126", "COMMAND cannot be run"),
        ("127", "COMMAND was not found"),
        ("other", "the exit status of COMMAND"),
    ],
    examples: &[Example {
        summary: "Run a command in the background",
        script: "nohup seq 2 > numbers & wait; cat numbers",
        output: "1\n2\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { usage_status: WRAPPER_FAILED, ..gnu_command(&DESCRIPTOR, run) };

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let command = &words[arguments.option_words..];
    let terminal = context.file(1).is_some_and(|file| file.is_terminal());
    if command.is_empty() || terminal {
        return run_text(context, |run| {
            match terminal {
                true => run.complain("standard output is a terminal: redirect it to a file"),
                false => drop(run.usage::<()>("missing operand")),
            }
            Err(Stop::Exit(WRAPPER_FAILED))
        });
    }
    let child = context.session_mut().fork();
    context.run_in_subshell(child, command)
}
