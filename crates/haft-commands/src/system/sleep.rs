//! `sleep`: waits.

use std::time::{Duration, Instant};

use haft_kernel::builtins::Context;
use haft_kernel::io::wait_readable;
use haft_kernel::{Bytes, Flow};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, Example};
use crate::duration;
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "sleep",
    summary: "Wait for the sum of some durations.",
    style: ArgumentStyle::GnuMixed(&["DURATION..."]),
    parameters: &[],
    details: &[
        "DURATION is a number with an optional unit: `s` (seconds, the default), `m`, `h` or `d`.",
        "Cancellation ends the wait.",
    ],
    statuses: &[("0", "success"), ("1", "a duration is not valid")],
    examples: &[Example { summary: "A short wait", script: "sleep 0.01 0.0m", output: "", status: 0 }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, words: &[Bytes]) -> Flow {
    run_text(context, |run| {
        // `sleep --` does not wait.
        if words.is_empty() {
            return run.usage("missing operand");
        }
        let mut total = Duration::ZERO;
        let mut invalid = Vec::new();
        for operand in &arguments.operands {
            match duration::parse(operand) {
                Some(time) => total = total.saturating_add(time),
                None => invalid.push(run.quote(operand)),
            }
        }
        if let Some((last, others)) = invalid.split_last() {
            others.iter().for_each(|shown| run.complain(format_args!("invalid time interval {shown}")));
            return run.usage(format_args!("invalid time interval {last}"));
        }
        let deadline = Instant::now().checked_add(total);
        loop {
            run.context.check()?;
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(());
            }
            let _ = wait_readable(&[], left, run.context.cancel_token());
        }
    })
}
