//! `env`: runs a command in a modified environment.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::variables::is_name;
use haft_kernel::{Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonKind, ParameterKind,
};
use crate::rows::{JsonRows, column, json_option};
use crate::status::WRAPPER_FAILED;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "env",
    summary: "Run a haft command or a tool in a modified environment. For programs, GNU `env` runs instead.",
    style: ArgumentStyle::Gnu(&["[NAME=VALUE]...", "[COMMAND", "[ARGUMENT]...]"]),
    parameters: &[
        CommandParameter::new(
            "ignore-environment",
            ParameterKind::Flag,
            "Start with an empty environment. `-` does the same.",
        )
        .letter('i'),
        CommandParameter::new("unset", ParameterKind::List, "Remove the variable NAME. May be repeated.")
            .letter('u')
            .with_value_name("NAME"),
        CommandParameter::new("chdir", ParameterKind::Text, "Change to the directory DIR first.")
            .letter('C')
            .with_value_name("DIR"),
        json_option(&[
            column("name", JsonKind::Text, "The name of a variable."),
            column("value", JsonKind::Text, "Its value."),
        ]),
    ],
    details: &[
        "Without COMMAND, `env` prints the environment.",
        "If COMMAND is a program, or an option is not listed here, the machine's own `env` runs. As in GNU `env`, COMMAND \
         is never a function or a builtin.",
    ],
    statuses: &[
        ("125", "`env` itself failed"),
        ("126", "COMMAND cannot be run"),
        ("127", "COMMAND was not found"),
        ("other", "the exit status of COMMAND"),
    ],
    examples: &[
        Example {
            summary: "Set one variable and remove another",
            script: r#"env -u B A=1 spawn command=sh argv=["-c", "echo \u0024{A-unset} \u0024{B-unset}"]"#,
            output: "1 unset\n",
            status: 0,
        },
        Example {
            summary: "Run in another directory",
            script: "env -C / spawn command=pwd",
            output: "/\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: WRAPPER_FAILED,
    command_at,
    steps_aside: Some(steps_aside),
    ..CommandDefinition::new(&DESCRIPTOR, run)
};

/// The command follows `-` and the assignments.
fn command_at(operands: &[Bytes]) -> usize {
    let dash = usize::from(operands.first().is_some_and(|first| *first == "-"));
    dash + operands[dash..].iter().take_while(|word| word.contains(&b'=')).count()
}

/// GNU's `env` runs programs, and sets variables whose names a shell cannot hold.
fn steps_aside(session: &mut Session, _: &CommandArguments, operands: &[Bytes]) -> bool {
    let (assignments, command) = operands.split_at(command_at(operands));
    let unusual = |word: &Bytes| *word != "-" && !is_name(split_assignment(word).0);
    assignments.iter().any(unusual) || !session.runs_in_process(command)
}

/// Splits `NAME=VALUE`.
fn split_assignment(word: &Bytes) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'=', word).unwrap_or(word.len());
    (&word[..end], word.get(end + 1..).unwrap_or_default())
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let operands = &words[arguments.option_words..];
    let (assignments, command) = operands.split_at(command_at(operands));
    let mut child = context.session_mut().fork();
    set_variables(&mut child, arguments, assignments);
    if let Some(path) = arguments.text("chdir")
        && let Err(reason) = change_directory(&mut child, path)
    {
        context.error(format_args!("cannot change directory to '{path}': {reason}"));
        return Ok(WRAPPER_FAILED);
    }
    if command.is_empty() {
        print_environment(context, arguments, &mut child)
    } else {
        context.run_in_subshell(child, command)
    }
}

fn set_variables(child: &mut Session, arguments: &CommandArguments, assignments: &[Bytes]) {
    let dash = assignments.first().is_some_and(|first| *first == "-");
    if dash || arguments.flag("ignore-environment") {
        for (name, _) in child.environment().iter() {
            child.remove_variable(name.as_bytes());
        }
    }
    arguments.list("unset").iter().for_each(|name| child.remove_variable(name));
    for (name, value) in assignments.iter().filter(|word| **word != "-").map(split_assignment) {
        child.set_exported(name, value);
    }
}

/// Returns the reason if the directory cannot be entered.
fn change_directory(child: &mut Session, path: &[u8]) -> Result<(), String> {
    let absolute = child.resolve(path);
    match child.files().metadata(OsStr::from_bytes(&absolute).as_ref()) {
        Ok(metadata) if metadata.is_dir() => {
            child.set_directory(OsStr::from_bytes(&absolute));
            Ok(())
        }
        Ok(_) => Err("Not a directory".to_owned()),
        Err(error) => Err(haft_fs::message(&error)),
    }
}

fn print_environment(context: &mut Context<'_>, arguments: &CommandArguments, child: &mut Session) -> Flow {
    if let Some(mut rows) = JsonRows::new(&DESCRIPTOR, arguments) {
        for (name, value) in child.environment().iter() {
            rows.add(vec![name.as_bytes().into(), value.as_bytes().into()]);
        }
        let text = rows.finish(context);
        return context.print(&text);
    }
    let mut text = Vec::new();
    for (name, value) in child.environment().iter() {
        text.extend_from_slice(&[name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat());
    }
    context.print(&text)
}
