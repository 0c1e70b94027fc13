//! `nice`: writes the niceness, or runs a command.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::status::WRAPPER_FAILED;
use crate::text::number::{IntegerError, parse_integer};
use crate::text::streams::{Stop, TextRun, run_text};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "nice",
    summary: "Write the niceness, or run a command.",
    style: ArgumentStyle::Gnu(&["[COMMAND", "[ARGUMENT]...]"]),
    parameters: &[CommandParameter::new(
        "adjustment",
        ParameterKind::Text,
        "Add N to the niceness instead of 10.",
    )
    .letter('n')
    .with_value_name("N")],
    details: &["COMMAND runs in the process of the session, which keeps its niceness."],
    statuses: &[
        ("125", "`nice` itself failed"),
        ("126", "COMMAND cannot be run"),
        ("127", "COMMAND was not found"),
        ("other", "the exit status of COMMAND"),
    ],
    examples: &[Example { summary: "Run a command", script: "nice -n 5 seq 2", output: "1\n2\n", status: 0 }],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    usage_status: WRAPPER_FAILED,
    rewrite: Some(rewrite),
    ..gnu_command(&DESCRIPTOR, run)
};

/// Rewrites the old form `nice -5 COMMAND`.
fn rewrite(words: &[Bytes]) -> Option<Vec<Bytes>> {
    let (first, rest) = words.split_first()?;
    let number = first.strip_prefix(b"-")?;
    let digits = number.strip_prefix(b"-").or(number.strip_prefix(b"+")).unwrap_or(number);
    let is_number = digits.first().is_some_and(u8::is_ascii_digit);
    is_number.then(|| [&[Bytes::from("-n"), number.into()], rest].concat())
}

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    let command = &words[arguments.option_words..];
    if command.is_empty() {
        return run_text(context, |run| {
            check_adjustment(run, arguments)?;
            if arguments.get("adjustment").is_some() {
                let _ = run.usage::<()>("a command must be given with an adjustment");
                return Err(Stop::Exit(WRAPPER_FAILED));
            }
            let niceness = rustix::process::getpriority_process(None).unwrap_or(0);
            run.write(format!("{niceness}\n").as_bytes())
        });
    }
    match run_text(context, |run| check_adjustment(run, arguments))? {
        0 => {
            let child = context.session_mut().fork();
            context.run_in_subshell(child, command)
        }
        status => Ok(status),
    }
}

fn check_adjustment(run: &mut TextRun<'_, '_>, arguments: &CommandArguments) -> Result<(), Stop> {
    let Some(text) = arguments.text("adjustment") else { return Ok(()) };
    if parse_integer(text) == Err(IntegerError::Invalid) {
        let shown = run.quote(text);
        run.complain(format_args!("invalid adjustment {shown}"));
        return Err(Stop::Exit(WRAPPER_FAILED));
    }
    Ok(())
}
