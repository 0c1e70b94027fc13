//! `gather`.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Role};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "gather",
    summary: "Collects what the stages between `scatter` and it made of each item.",
    style: ArgumentStyle::Typed,
    parameters: &[
        CommandParameter::new(
            "unordered",
            ParameterKind::Flag,
            "Shows items as they end, not in the order of the input.",
        ),
        CommandParameter::new(
            "text",
            ParameterKind::Flag,
            "Shows what each item wrote, as it is, instead of records.",
        )
        .letter('t'),
        CommandParameter::new(
            "joblog",
            ParameterKind::Text,
            "A file that gets a line for each attempt, as GNU parallel writes it.",
        ),
    ],
    details: &[
        "A record is one line of JSON: `item`, `status` (as `$?` would show it), `output`, `stderr`, `duration` (seconds), `attempts`; \
         `lossy` is true if the item or what it wrote is not UTF-8 and could only be shown roughly. Nothing is ever cut.",
        "With `--text`, what an item wrote to standard output goes to standard output and the rest to standard error, whole items at a \
         time.",
        "What an item leaves running does not hold it up; its output after that is not part of the record.",
    ],
    statuses: &[("0", "all items succeeded"), ("123", "an item failed"), ("2", "wrong usage")],
    examples: &[
        Example {
            summary: "records",
            script: "printf '%s\\n' ok bad | scatter | sh -c 'echo \"$0\"; [ \"$0\" = ok ]' \"$ITEM\" | gather",
            output: "{\"item\":\"ok\",\"status\":0,\"output\":\"ok\\n\",\"stderr\":\"\",\"duration\":…,\"attempts\":1}\n\
                     {\"item\":\"bad\",\"status\":1,\"output\":\"bad\\n\",\"stderr\":\"\",\"duration\":…,\"attempts\":1}\n",
            status: 123,
        },
        Example {
            summary: "try again",
            script: "d=$(mktemp -d); seq 2 | scatter retries=2 | mkdir \"$d/first\" | gather --text 2>/dev/null\n\
                     echo $?; rmdir \"$d/first\" \"$d\"",
            output: "123\n",
            status: 0,
        },
    ],
};

pub(crate) static COMMAND: CommandDefinition =
    CommandDefinition { role: Role::Closes("scatter"), ..CommandDefinition::new(&DESCRIPTOR, alone) };

/// Called where it closes nothing.
fn alone(context: &mut Context<'_>, _: &CommandArguments, _: &[Bytes]) -> Flow {
    context.error("needs 'scatter' before it in the same pipeline");
    Ok(2)
}
