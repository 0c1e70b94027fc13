//! `nproc`: writes the number of processors.

use std::os::unix::ffi::OsStrExt as _;

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow};

use crate::arguments::{ArgumentValue, CommandArguments};
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::number::parse_count;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "nproc",
    summary: "Write the number of processors that this process may use.",
    style: ArgumentStyle::GnuMixed(&[]),
    parameters: &[
        CommandParameter::new("all", ParameterKind::Flag, "Count all processors."),
        CommandParameter::new("ignore", ParameterKind::Text, "Subtract N, but write at least 1.")
            .with_value_name("N"),
    ],
    details: &["Without `--all`, `OMP_NUM_THREADS` replaces the number and `OMP_THREAD_LIMIT` limits it."],
    statuses: &[("0", "success"), ("1", "wrong usage")],
    examples: &[Example {
        summary: "A number from the environment",
        script: "OMP_NUM_THREADS=8 nproc --ignore=2",
        output: "6\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        let mut ignored = 0;
        for (_, value) in arguments.in_order() {
            let ArgumentValue::Text(text) = value else { continue };
            let digits = text.trim_ascii_start();
            let Some(number) = parse_count(digits.strip_prefix(b"+").unwrap_or(digits)) else {
                let shown = run.quote(text);
                return run.fail(format_args!("invalid number: {shown}"));
            };
            ignored = number;
        }
        if let Some(operand) = arguments.operands.first() {
            return run.extra_operand(operand);
        }
        let count = match arguments.flag("all") {
            true => all_processors(),
            false => usable_processors(run.context),
        };
        run.write(format!("{}\n", count.saturating_sub(ignored).max(1)).as_bytes())
    })
}

/// The processors of the machine. The C library counts those that are configured.
fn all_processors() -> u64 {
    std::fs::read_dir("/sys/devices/system/cpu").map_or_else(
        |_| affinity(),
        |entries| {
            let is_processor = |name: &str| {
                name.strip_prefix("cpu")
                    .is_some_and(|number| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
            };
            let names = entries.flatten().map(|entry| entry.file_name());
            names.filter(|name| name.to_str().is_some_and(is_processor)).count().max(1) as u64
        },
    )
}

fn usable_processors(context: &mut Context<'_>) -> u64 {
    let environment = context.session_mut().environment();
    let number = |name: &str| {
        let (_, value) = environment.iter().find(|(it, _)| *it == name)?;
        let value = value.as_bytes().trim_ascii_start();
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = value[digits..].trim_ascii_start();
        let complete = rest.is_empty() || rest.starts_with(b",");
        parse_count(&value[..digits]).filter(|number| complete && *number > 0)
    };
    let count = number("OMP_NUM_THREADS").unwrap_or_else(affinity);
    count.min(number("OMP_THREAD_LIMIT").unwrap_or(u64::MAX))
}

fn affinity() -> u64 {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| u64::from(set.count()))
}
