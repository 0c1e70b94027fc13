//! GNU's commands that compare files: `cmp` and `diff`.

mod cmp;
mod diff;

use haft_kernel::Command;

use crate::descriptor::CommandDescriptor;
use crate::group::CommandGroup;

/// The commands that compare files.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "Comparison", commands: COMPARE_TABLE, descriptors: COMPARE_DESCRIPTORS };

static COMPARE_TABLE: &[&dyn Command] = &[&cmp::COMMAND, &diff::COMMAND];

static COMPARE_DESCRIPTORS: &[&CommandDescriptor] = &[&cmp::DESCRIPTOR, &diff::DESCRIPTOR];

/// The exit status for trouble.
const TROUBLE: i32 = 2;
