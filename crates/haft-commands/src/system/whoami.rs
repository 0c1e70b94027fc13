//! `whoami`: writes the name of the user.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use super::accounts::Accounts;
use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};
use crate::group::gnu_command;
use crate::step_aside::names_come_from_files;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "whoami",
    summary: "Write the name of the effective user.",
    style: ArgumentStyle::GnuMixed(&[]),
    parameters: &[],
    details: &["The name comes from `/etc/passwd`. An isolated session has no such file at first."],
    statuses: &[("0", "success"), ("1", "the user has no name")],
    examples: &[Example {
        summary: "The user of an isolated session",
        script: "whoami 2>&1",
        output: "whoami: cannot find name for user ID 1000\n",
        status: 1,
    }],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { steps_aside: Some(steps_aside), ..gnu_command(&DESCRIPTOR, run) };

/// The program knows users that are not in `/etc/passwd`.
fn steps_aside(session: &mut Session, _: &CommandArguments, _: &[Bytes]) -> bool {
    let user = session.host_identity().effective_user;
    !names_come_from_files(session, "passwd") || Accounts::read(session).user_name(user).is_none()
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if let Some(operand) = arguments.operands.first() {
            return run.extra_operand(operand);
        }
        let user = run.context.session().host_identity().effective_user;
        match Accounts::read(run.context.session()).user_name(user) {
            Some(name) => run.write(format!("{name}\n").as_bytes()),
            None => run.fail(format_args!("cannot find name for user ID {user}")),
        }
    })
}
