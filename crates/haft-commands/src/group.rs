//! Groups of GNU's commands.

use haft_kernel::{Command, KernelBuilder};

use crate::definition::{CommandDefinition, RunFunction};
use crate::descriptor::CommandDescriptor;

/// Commands that GNU has as programs.
#[derive(Clone, Copy)]
pub struct CommandGroup {
    /// The heading of the group in the documentation.
    pub title: &'static str,
    /// The commands, sorted by name.
    pub commands: &'static [&'static dyn Command],
    /// The descriptors, sorted by name.
    pub descriptors: &'static [&'static CommandDescriptor],
}

impl std::fmt::Debug for CommandGroup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CommandGroup").field("title", &self.title).finish_non_exhaustive()
    }
}

/// All groups of GNU's commands.
pub static GNU_GROUPS: &[CommandGroup] = &[
    crate::file::GROUP,
    crate::text::GROUP,
    crate::search::GROUP,
    crate::system::GROUP,
    crate::compare::GROUP,
    crate::awk::GROUP,
];

/// Adds GNU's commands to a kernel.
#[must_use]
pub fn with_gnu_commands(kernel: KernelBuilder) -> KernelBuilder {
    GNU_GROUPS.iter().fold(kernel, |kernel, group| kernel.commands(group.commands))
}

/// Adds the commands that may run instead of GNU's programs to a kernel.
#[must_use]
pub fn with_stand_ins(kernel: KernelBuilder) -> KernelBuilder {
    kernel
        .stand_ins(crate::text::GROUP.commands)
        .stand_ins(crate::search::GROUP.commands)
        .stand_ins(crate::file::STAND_INS)
        .stand_ins(crate::system::STAND_INS)
        .stand_ins(crate::compare::GROUP.commands)
        .stand_ins(crate::awk::GROUP.commands)
}

/// A command that steps aside for the program of the same name if it does not know an option.
pub(crate) const fn gnu_command(
    descriptor: &'static CommandDescriptor,
    run: RunFunction,
) -> CommandDefinition {
    CommandDefinition {
        usage_status: 1,
        gnu_errors: true,
        steps_aside: Some(|_, _, _| false),
        ..CommandDefinition::new(descriptor, run)
    }
}
