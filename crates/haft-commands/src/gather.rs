//! `gather`: collects the results of a fan-out.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Role};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::status::USAGE_ERROR;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "gather",
    summary: "Collect the results of the stages between `scatter` and `gather`, one per item.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new(
            "unordered",
            ParameterKind::Flag,
            "Print items as they finish instead of in input order.",
        ),
        CommandParameter::new(
            "text",
            ParameterKind::Flag,
            "Print the raw output of each item instead of JSON records.",
        )
        .letter('t'),
        CommandParameter::new(
            "joblog",
            ParameterKind::Text,
            "Write one line per attempt to FILE, in the format of GNU parallel.",
        )
        .with_value_name("FILE"),
    ],
    details: &[
        "Each record is one line of JSON: `item`, `status` (as in `$?`), `output`, `stderr`, `duration` (seconds) and \
         `attempts`. `timed_out` is true if the timeout of the item expired. `lossy` is true if the item or its output is not valid UTF-8, so that the record cannot hold it \
         exactly. Output is never truncated.",
        "In a supervised run, `data` of the result is the array of all records, in the order in which they are printed, unless they are \
         larger than 1 MiB.",
        "With `--text`, the standard output of an item goes to standard output and its standard error to standard error. \
         The output of two items is never mixed.",
        "An item is finished when its stages have exited. If it left a background process running, the later output of \
         that process is not part of the record.",
    ],
    statuses: &[
        ("0", "all items succeeded"),
        ("1", "the job log cannot be written"),
        ("2", "wrong usage"),
        ("123", "at least one item failed"),
    ],
    examples: &[
        Example {
            summary: "One JSON record per item",
            script: "printf '%s\\n' ok bad | scatter | sh -c 'echo \"$0\"; [ \"$0\" = ok ]' \"$ITEM\" | gather",
            output: "{\"item\":\"ok\",\"status\":0,\"output\":\"ok\\n\",\"stderr\":\"\",\"duration\":…,\"attempts\":1}\n\
                     {\"item\":\"bad\",\"status\":1,\"output\":\"bad\\n\",\"stderr\":\"\",\"duration\":…,\"attempts\":1}\n",
            status: 123,
        },
        Example {
            summary: "Raw output, in the order of the input",
            script: "seq 3 | scatter | echo \"item $ITEM\" | gather --text",
            output: "item 1\nitem 2\nitem 3\n",
            status: 0,
        },
        Example {
            summary: "Retry failed items up to two times",
            script: "d=$(mktemp -d); seq 2 | scatter retries=2 | mkdir \"$d/first\" | gather --text 2>/dev/null\n\
                     echo $?; rmdir \"$d/first\" \"$d\"",
            output: "123\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition = CommandDefinition {
    role: Role::Closes("scatter"),
    ..CommandDefinition::new(&DESCRIPTOR, reject_without_scatter)
};

/// Runs if `gather` is not part of a fan-out.
fn reject_without_scatter(context: &mut Context<'_>, _: &CommandArguments, _: &[Bytes]) -> Flow {
    context.error("must follow 'scatter' in the same pipeline");
    Ok(USAGE_ERROR)
}
