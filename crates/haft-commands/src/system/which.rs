//! `which`: finds programs.

use haft_fs::AccessMode;
use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example};
use crate::group::gnu_command;
use crate::status::USAGE_ERROR;
use crate::step_aside::is_same_in_programs;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "which",
    summary: "Write the files of programs.",
    style: ArgumentStyle::Gnu(&["NAME..."]),
    parameters: &[CommandParameter::short_flag("a", 'a', "Write all files in `PATH`, not only the first.")],
    details: &["For a command of haft without a file in `PATH` it writes the name, as `command -v` does."],
    statuses: &[("0", "all were found"), ("1", "one was not found, or none was given"), ("2", "wrong usage")],
    examples: &[Example {
        summary: "A command and a name that nothing has",
        script: "which cat no-such-name",
        output: "cat\n",
        status: 1,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: USAGE_ERROR,
    steps_aside: Some(|session, arguments, _| steps_aside(session, arguments)),
    programs: &["which.debianutils"],
    ..gnu_command(&DESCRIPTOR, run)
};

/// Whether the program might look in other directories.
fn steps_aside(session: &mut Session, arguments: &CommandArguments) -> bool {
    let has_pattern = arguments.operands.iter().any(|name| name.iter().any(|byte| b"*?[\\".contains(byte)));
    has_pattern || !is_same_in_programs(session, "PATH")
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let names = &words[arguments.option_words..];
    run_text(context, |run| {
        if names.is_empty() {
            run.set_status(1);
        }
        for name in names {
            let session = run.context.session();
            let mut found = candidates(session, name);
            found.retain(|path| is_program(session, path));
            if found.is_empty() && session.has_command(name) {
                found.push(name.to_vec());
            }
            if !arguments.flag("a") {
                found.truncate(1);
            }
            if found.is_empty() {
                run.set_status(1);
            }
            for path in found {
                run.write(&[path.as_slice(), b"\n"].concat())?;
            }
        }
        Ok(())
    })
}

/// The paths that a name can mean.
fn candidates(session: &Session, name: &Bytes) -> Vec<Vec<u8>> {
    if name.contains(&b'/') {
        return vec![name.to_vec()];
    }
    let path = session.value(b"PATH").unwrap_or_default();
    if path.is_empty() {
        return Vec::new();
    }
    let directory = |element: &[u8]| if element.is_empty() { b".".to_vec() } else { element.to_vec() };
    path.split(|byte| *byte == b':')
        .map(|element| [&directory(element), b"/".as_slice(), name].concat())
        .collect()
}

fn is_program(session: &Session, path: &[u8]) -> bool {
    let resolved = session.resolve(path);
    let path = haft_text::path(&resolved);
    let is_file = session.files().metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && session.files().access(path, AccessMode::EXECUTE).is_ok()
}
