//! `scatter`.

use haft_kernel::builtins::Context;
use haft_kernel::{Argument, Bytes, FanOut, Flow, Role};

use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::{CommandDefinition, report_usage_error};
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::fan_out::{self, FanOutSettings, Halt};
use crate::gather;

/// The variable that holds the item if no other is named.
const VARIABLE: &str = "ITEM";

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "scatter",
    summary: "Runs the stages between it and `gather` once for each line of its input, several at a time.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new(
            "as",
            ParameterKind::Name,
            "The variable that holds the line; `ITEM` if not given.",
        ),
        CommandParameter::new(
            "limit",
            ParameterKind::Integer(1),
            "How many run at once; as many as there are processors if not given.",
        )
        .letter('j'),
        CommandParameter::new(
            "retries",
            ParameterKind::Integer(0),
            "How often an item that failed is tried again.",
        ),
        CommandParameter::new(
            "halt",
            ParameterKind::Halt,
            "What a failure stops: `never` anything, `soon` items that have not begun, `now` those that run too; `,fail=N` waits for N \
             failures.",
        ),
        CommandParameter::new(
            "null",
            ParameterKind::Flag,
            "ItemReader end with a NUL byte instead of a newline.",
        )
        .letter('0'),
    ],
    details: &[
        "Each item runs in a subshell of its own. The line is in the variable, and is also the standard input of the first stage. What the \
         stages write is collected and goes to `gather`; see there for what comes of it.",
        "An item that fails is a record like others, and the rest goes on. On a terminal, standard error shows how far it is.",
        "A pipeline with one of the two and not the other is refused before anything runs. A function of the name is \
         a function, as in bash.",
    ],
    statuses: &[("0", "all items succeeded"), ("123", "an item failed"), ("2", "wrong usage")],
    examples: &[
        Example {
            summary: "four at a time",
            script: "printf '%s\\n' a b c | scatter --as NAME --limit 4 | echo \"<$NAME>\" | gather --text",
            output: "<a>\n<b>\n<c>\n",
            status: 0,
        },
        Example {
            summary: "any stages, several of them",
            script: "seq 3 | scatter as=N | { read line; echo \"$line squared is $((N * N))\"; } | tr a-z A-Z | gather --text",
            output: "1 SQUARED IS 1\n2 SQUARED IS 4\n3 SQUARED IS 9\n",
            status: 0,
        },
        Example {
            summary: "stop at the first failure",
            script: "seq 5 | scatter limit=1 halt=soon | [ $ITEM -lt 2 ] | gather 2>/dev/null | wc -l",
            output: "2\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    role: Role::Opens("gather"),
    fan_out: Some(fan_out),
    ..CommandDefinition::new(&DESCRIPTOR, alone)
};

/// Called where it opens nothing.
fn alone(context: &mut Context<'_>, _: &CommandArguments, _: &[Bytes]) -> Flow {
    context.error("needs 'gather' after it in the same pipeline");
    Ok(2)
}

fn fan_out(context: &mut Context<'_>, fan_out: &FanOut<'_>) -> Flow {
    let opening = match CommandArguments::parse(&DESCRIPTOR, fan_out.opening.iter().map(Argument::Word)) {
        Ok(arguments) => arguments,
        Err(error) => {
            report_usage_error(context, &error);
            return Ok(2);
        }
    };
    let closing =
        match CommandArguments::parse(&gather::DESCRIPTOR, fan_out.closing.iter().map(Argument::Word)) {
            Ok(arguments) => arguments,
            Err(error) => {
                let mut context = Context::of(context.session, b"gather");
                report_usage_error(&mut context, &error);
                return Ok(2);
            }
        };
    for (arguments, descriptor) in [(&opening, &DESCRIPTOR), (&closing, &gather::DESCRIPTOR)] {
        if arguments.wants_help {
            return context.print(crate::help(descriptor).as_bytes());
        }
    }
    fan_out::run(context, fan_out, &settings(&opening, &closing))
}

fn settings(opening: &CommandArguments, closing: &CommandArguments) -> FanOutSettings {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let number = |name| opening.number(name).and_then(|number| usize::try_from(number).ok());
    FanOutSettings {
        variable: opening.text("as").cloned().unwrap_or_else(|| VARIABLE.into()),
        limit: number("limit").unwrap_or_else(cores),
        retries: opening.number("retries").unwrap_or(0),
        halt: match opening.get("halt") {
            Some(ArgumentValue::Halt(Some((failures, now)))) => Some(Halt { failures: *failures, now: *now }),
            _ => None,
        },
        separator: if opening.flag("null") { 0 } else { b'\n' },
        ordered: !closing.flag("unordered"),
        text: closing.flag("text"),
        joblog: closing.text("joblog").cloned(),
    }
}
