//! `scatter`: runs part of a pipeline once per input line, in parallel.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, FanOut, Flow, Role, TypedArgument};

use crate::arguments::CommandArguments;
use crate::definition::{CommandDefinition, report_usage_error};
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::fan_out::{self, Engine, FanOutSettings};
use crate::gather;
use crate::status::USAGE_ERROR;

/// The variable that holds the item unless `as` names another.
const DEFAULT_VARIABLE: &str = "ITEM";

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "scatter",
    summary: "Run the stages between `scatter` and `gather` once per input line, in parallel.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new(
            "as",
            ParameterKind::Name,
            "The variable that holds the line (default: `ITEM`).",
        ),
        CommandParameter::new(
            "on",
            ParameterKind::Text,
            "Where items run: `local` (the default), `ssh:HOST[=SLOTS][,HOST…]`, or `ssh:@FILE` with one host per line.",
        )
        .with_value_name("ENGINE"),
        CommandParameter::new(
            "bootstrap",
            ParameterKind::Flag,
            "Copy haft to hosts that do not have this version, once per version.",
        ),
        CommandParameter::new(
            "limit",
            ParameterKind::Integer(1),
            "Run at most N items at a time (default: the number of processors).",
        )
        .letter('j'),
        CommandParameter::new(
            "items",
            ParameterKind::List,
            "The items, as a JSON array of strings. Standard input is not read then.",
        ),
        CommandParameter::new(
            "timeout",
            ParameterKind::Duration,
            "Terminate an item after this time. Its status is 124.",
        ),
        CommandParameter::new("retries", ParameterKind::Integer(0), "Retry a failed item up to N times."),
        CommandParameter::new(
            "halt",
            ParameterKind::Halt,
            "What to do when an item fails: `never` stop (the default), `soon` start no further items, or `now` also \
             terminate running items. `soon,fail=N` and `now,fail=N` stop after N failures.",
        ),
        CommandParameter::new(
            "resume",
            ParameterKind::Text,
            "Keep the records of finished items in FILE, and do not run items again that FILE already has.",
        )
        .with_value_name("FILE"),
        CommandParameter::new("null", ParameterKind::Flag, "Items end with a NUL byte instead of a newline.")
            .letter('0'),
    ],
    details: &[
        "Each item runs in its own subshell. The variable holds the line, and the first stage also reads it from standard \
         input. The output of the stages goes to `gather`; see `help gather`.",
        "A failed item becomes a record like any other, and the remaining items run. On a terminal, standard error shows \
         the progress.",
        "With `on=ssh:…`, items run on other machines, over the user's `ssh` and its configuration. Variables, functions, options and \
         the working directory are the same there, and so are exported variables, except those with secrets and those that belong to \
         a machine (`HOME`, `USER`, `TMPDIR`, …). Open file descriptors, running jobs, coprocesses, overlays and virtual directories cannot travel; \
         `scatter` refuses them before it starts anything. Without SLOTS, a host runs as many items at a time as it has \
         processors. If a connection breaks, its items run again. See `docs/scale.md`.",
        "With `resume=FILE`, every record is also written to FILE. After a crash, the same pipeline prints the records of FILE and runs \
         only the rest. FILE belongs to one pipeline and one input.",
        "A pipeline with only one of `scatter` and `gather` is rejected before it starts. Functions named `scatter` or \
         `gather` take precedence, as in bash.",
    ],
    statuses: &[
        ("0", "all items succeeded"),
        ("1", "the items cannot run: no host can be used, or a file cannot be opened"),
        ("2", "wrong usage"),
        ("123", "at least one item failed"),
    ],
    examples: &[
        Example {
            summary: "Four items at a time",
            script: "printf '%s\\n' a b c | scatter --as NAME --limit 4 | echo \"<$NAME>\" | gather --text",
            output: "<a>\n<b>\n<c>\n",
            status: 0,
        },
        Example {
            summary: "Several stages of any kind",
            script: "seq 3 | scatter as=N | { read line; echo \"$line squared is $((N * N))\"; } | tr a-z A-Z | gather --text",
            output: "1 SQUARED IS 1\n2 SQUARED IS 4\n3 SQUARED IS 9\n",
            status: 0,
        },
        Example {
            summary: "Items from a JSON array, with a timeout for each",
            script: "scatter items='[\"a b\", \"c\"]' timeout=1m | echo \"<$ITEM>\" | gather --text",
            output: "<a b>\n<c>\n",
            status: 0,
        },
        Example {
            summary: "Stop at the first failure",
            script: "seq 5 | scatter limit=1 halt=soon | [ $ITEM -lt 2 ] | gather 2>/dev/null | wc -l",
            output: "2\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    role: Role::Opens("gather"),
    fan_out: Some(run_fan_out),
    ..CommandDefinition::new(&DESCRIPTOR, reject_without_gather)
};

/// Runs if `scatter` is not part of a fan-out.
fn reject_without_gather(context: &mut Context<'_>, _: &CommandArguments, _: &[Bytes]) -> Flow {
    context.error("must be followed by 'gather' in the same pipeline");
    Ok(USAGE_ERROR)
}

fn run_fan_out(context: &mut Context<'_>, fan_out: &FanOut<'_>) -> Flow {
    let Some(scatter) = parse(context, &DESCRIPTOR, fan_out.opening) else { return Ok(USAGE_ERROR) };
    let Some(gather) = parse(context, &gather::DESCRIPTOR, fan_out.closing) else { return Ok(USAGE_ERROR) };
    for (arguments, descriptor) in [(&scatter, &DESCRIPTOR), (&gather, &gather::DESCRIPTOR)] {
        if arguments.wants_help {
            return context.print(crate::help(descriptor).as_bytes());
        }
    }
    match settings(&scatter, &gather) {
        Ok(settings) => fan_out::run(context, fan_out, &settings),
        Err(problem) => {
            context.error(problem);
            Ok(USAGE_ERROR)
        }
    }
}

/// Parses the arguments of either command. Reports an error under the name of that command and returns `None`.
fn parse(
    context: &mut Context<'_>,
    descriptor: &CommandDescriptor,
    words: &[Bytes],
) -> Option<CommandArguments> {
    match CommandArguments::parse(descriptor, words.iter().map(TypedArgument::Word)) {
        Ok(arguments) => Some(arguments),
        Err(error) => {
            let mut context = Context::of(context.session_mut(), descriptor.name.as_bytes());
            report_usage_error(&mut context, &error);
            None
        }
    }
}

/// The settings that the arguments of both commands describe.
fn settings(scatter: &CommandArguments, gather: &CommandArguments) -> Result<FanOutSettings, String> {
    let limit = scatter.number("limit").and_then(|limit| usize::try_from(limit).ok());
    let on = scatter.text("on").map_or("local".into(), |on| on.lossy().into_owned());
    let bootstrap = scatter.flag("bootstrap");
    let engine = Engine::parse(&on, bootstrap)?;
    if bootstrap && engine.is_local() {
        return Err("'bootstrap' needs 'on=ssh:…'".to_owned());
    }
    Ok(FanOutSettings {
        variable: scatter.text("as").cloned().unwrap_or_else(|| DEFAULT_VARIABLE.into()),
        engine,
        limit,
        items: scatter.get("items").map(|_| scatter.list("items")),
        timeout: scatter.duration("timeout").filter(|timeout| !timeout.is_zero()),
        retries: scatter.number("retries").unwrap_or(0),
        halt: scatter.halt("halt"),
        resume: scatter.text("resume").cloned(),
        separator: if scatter.flag("null") { 0 } else { b'\n' },
        ordered: !gather.flag("unordered"),
        text: gather.flag("text"),
        job_log: gather.text("joblog").cloned(),
    })
}
