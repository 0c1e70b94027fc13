//! GNU's commands that compare files: `cmp` and `diff`.

mod cmp;
mod diff;

use haft_kernel::{Bytes, Command, Session};

use crate::descriptor::CommandDescriptor;
use crate::group::CommandGroup;
use crate::step_aside::absolute;

/// The commands that compare files.
pub(crate) const GROUP: CommandGroup =
    CommandGroup { title: "Comparison", commands: COMPARE_TABLE, descriptors: COMPARE_DESCRIPTORS };

static COMPARE_TABLE: &[&dyn Command] = &[&cmp::COMMAND, &diff::COMMAND];

static COMPARE_DESCRIPTORS: &[&CommandDescriptor] = &[&cmp::DESCRIPTOR, &diff::DESCRIPTOR];

/// Whether the operands are two regular files of at most this size.
fn has_two_files(session: &Session, operands: &[Bytes], max_bytes: u64) -> bool {
    let is_small = |name: &Bytes| {
        let found = absolute(session, name).and_then(|path| session.files().metadata(&path).ok());
        *name != "-" && found.is_some_and(|found| found.is_file() && found.size <= max_bytes)
    };
    operands.len() == 2 && operands.iter().all(is_small)
}

/// The exit status for trouble.
const TROUBLE: i32 = 2;
