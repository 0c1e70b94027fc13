//! `env`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::variables::is_name;
use haft_kernel::{Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "env",
    summary: "Runs a command of haft or a tool with other variables; everything else is GNU's `env`.",
    style: ArgumentStyle::Gnu(&["[NAME=VALUE]...", "[COMMAND", "[ARGUMENT]...]"]),
    parameters: &[
        CommandParameter::new(
            "ignore-environment",
            ParameterKind::Flag,
            "Begins with no variables; so does `-`.",
        )
        .letter('i'),
        CommandParameter::new("unset", ParameterKind::List, "Takes a variable away.").letter('u'),
        CommandParameter::new("chdir", ParameterKind::Text, "The directory to run in.").letter('C'),
    ],
    details: &[
        "A program, and an option that is not listed here, is left to the machine's own `env`, if there is one. As there, COMMAND is neither a \
         function nor a builtin.",
    ],
    statuses: &[
        ("125", "`env` itself failed"),
        ("126", "COMMAND cannot be run"),
        ("127", "there is no such COMMAND"),
        ("else", "that of COMMAND"),
    ],
    examples: &[Example {
        summary: "variables for a command of haft",
        script: r#"env -u B A=1 spawn command=sh argv=["-c", "echo \u0024{A-unset} \u0024{B-unset}"]"#,
        output: "1 unset\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage: 125,
    command_at,
    steps_aside: Some(steps_aside),
    ..CommandDefinition::new(&DESCRIPTOR, run)
};

/// After `-` and the assignments.
fn command_at(operands: &[Bytes]) -> usize {
    let dash = usize::from(operands.first().is_some_and(|first| *first == "-"));
    dash + operands[dash..].iter().take_while(|word| word.contains(&b'=')).count()
}

/// GNU's own runs what is not in this process.
fn steps_aside(session: &mut Session, _: &CommandArguments, operands: &[Bytes]) -> bool {
    let (variables, command) = operands.split_at(command_at(operands));
    let odd = |word: &Bytes| *word != "-" && !is_name(split(word).0);
    variables.iter().any(odd) || !session.runs_here(command)
}

fn split(word: &Bytes) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'=', word).unwrap_or(word.len());
    (&word[..end], word.get(end + 1..).unwrap_or_default())
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let operands = &words[arguments.options..];
    let (variables, command) = operands.split_at(command_at(operands));
    let mut child = context.session.fork();
    let clear = arguments.flag("ignore-environment") || variables.first().is_some_and(|first| *first == "-");
    if clear {
        for (name, _) in child.environment().iter() {
            child.withhold(name.as_bytes());
        }
    }
    arguments.list("unset").iter().for_each(|name| child.withhold(name));
    for (name, value) in variables.iter().filter(|word| **word != "-").map(split) {
        child.set_exported(name, value);
    }
    if let Some(path) = arguments.text("chdir") {
        let absolute = child.resolve(path);
        match child.files().metadata(OsStr::from_bytes(&absolute).as_ref()) {
            Ok(metadata) if metadata.is_dir() => child.set_directory(OsStr::from_bytes(&absolute)),
            Ok(_) => {
                context.error(format_args!("cannot change directory to '{path}': Not a directory"));
                return Ok(125);
            }
            Err(error) => {
                let reason = haft_fs::message(&error);
                context.error(format_args!("cannot change directory to '{path}': {reason}"));
                return Ok(125);
            }
        }
    }
    if !command.is_empty() {
        return context.run_apart(child, command);
    }
    let mut text = Vec::new();
    for (name, value) in child.environment().iter() {
        text.extend_from_slice(&[name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat());
    }
    context.print(&text)
}
