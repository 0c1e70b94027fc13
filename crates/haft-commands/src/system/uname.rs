//! `uname`: writes facts about the system.

use haft_kernel::builtins::Context;
use haft_kernel::{Bytes, Flow, Session};

use crate::arguments::CommandArguments;
use crate::definition::CommandDefinition;
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
use crate::group::gnu_command;
use crate::text::streams::run_text;

pub(crate) static DESCRIPTOR: CommandDescriptor = CommandDescriptor {
    name: "uname",
    summary: "Write facts about the system.",
    style: ArgumentStyle::GnuMixed(&[]),
    parameters: &[
        CommandParameter::new("all", ParameterKind::Flag, "Write all that is known.").letter('a'),
        CommandParameter::new("kernel-name", ParameterKind::Flag, "Write the name of the kernel.")
            .letter('s'),
        CommandParameter::new("nodename", ParameterKind::Flag, "Write the name of the host.").letter('n'),
        CommandParameter::new("kernel-release", ParameterKind::Flag, "Write the release of the kernel.")
            .letter('r'),
        CommandParameter::new("kernel-version", ParameterKind::Flag, "Write the version of the kernel.")
            .letter('v'),
        CommandParameter::new("machine", ParameterKind::Flag, "Write the type of the machine.").letter('m'),
        CommandParameter::new("processor", ParameterKind::Flag, "Write `unknown`.").letter('p'),
        CommandParameter::new("hardware-platform", ParameterKind::Flag, "Write `unknown`.").letter('i'),
        CommandParameter::new("operating-system", ParameterKind::Flag, "Write `GNU/Linux`.").letter('o'),
    ],
    details: &[
        "Without an option it writes the name of the kernel. In an isolated session the host is `localhost`, and the \
         release and the version of the kernel are `unknown`.",
    ],
    statuses: &[("0", "success"), ("1", "wrong usage")],
    examples: &[Example {
        summary: "The system of an isolated session",
        script: "uname -snro",
        output: "Linux localhost unknown GNU/Linux\n",
        status: 0,
    }],
};

pub(crate) static COMMAND: CommandDefinition = gnu_command(&DESCRIPTOR, run);

/// A value that is not known, or not told.
const UNKNOWN: &str = "unknown";

fn run(context: &mut Context<'_>, arguments: &CommandArguments, _: &[Bytes]) -> Flow {
    run_text(context, |run| {
        if let Some(operand) = arguments.operands.first() {
            return run.extra_operand(operand);
        }
        let facts = facts(run.context.session());
        let is_wanted = |name: &str, value: &str| match arguments.flag("all") {
            true => value != UNKNOWN,
            false => arguments.flag(name),
        };
        let mut shown: Vec<&str> = facts
            .iter()
            .filter(|(name, value)| is_wanted(name, value))
            .map(|(_, value)| value.as_str())
            .collect();
        if shown.is_empty() {
            shown.push(&facts[0].1);
        }
        run.write(format!("{}\n", shown.join(" ")).as_bytes())
    })
}

/// The facts in the order in which they are written, with the names of their options.
fn facts(session: &Session) -> [(&'static str, String); 8] {
    let system = rustix::system::uname();
    let text = |value: &std::ffi::CStr| value.to_string_lossy().into_owned();
    let own = |value: &std::ffi::CStr| if session.is_isolated() { UNKNOWN.to_owned() } else { text(value) };
    [
        ("kernel-name", text(system.sysname())),
        ("nodename", String::from_utf8_lossy(&session.host_identity().host).into_owned()),
        ("kernel-release", own(system.release())),
        ("kernel-version", own(system.version())),
        ("machine", text(system.machine())),
        ("processor", UNKNOWN.to_owned()),
        ("hardware-platform", UNKNOWN.to_owned()),
        ("operating-system", "GNU/Linux".to_owned()),
    ]
}
