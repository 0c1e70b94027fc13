//! Commands that list or search files and directories.

use super::FileUses;
use super::getopt::ParsedArguments;
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};

/// Adds the operands, or the working directory if there are none.
fn read_or_here<'a>(operands: impl Iterator<Item = &'a PlannedWord>, scope: FileScope, uses: &mut FileUses) {
    let mut operands = operands.peekable();
    if operands.peek().is_none() {
        uses.add_text(FileUseMode::Read, b".", scope);
    }
    operands.for_each(|operand| uses.add(FileUseMode::Read, operand, scope));
}

pub(super) fn ls(arguments: &ParsedArguments, uses: &mut FileUses) {
    let scope = if arguments.has("R recursive") { FileScope::Tree } else { FileScope::Exact };
    read_or_here(arguments.operands(), scope, uses);
}

pub(super) fn read_tree(arguments: &ParsedArguments, uses: &mut FileUses) {
    read_or_here(arguments.operands(), FileScope::Tree, uses);
}

/// `cmp FILE1 [FILE2 [SKIP1 [SKIP2]]]`.
pub(super) fn cmp(arguments: &ParsedArguments, uses: &mut FileUses) {
    arguments.operands().take(2).for_each(|file| uses.read(file));
}

/// `grep PATTERN FILE…`. `-e` and `-f` also specify patterns.
pub(super) fn grep(arguments: &ParsedArguments, uses: &mut FileUses) {
    let recursive = arguments.has("r R recursive dereference-recursive")
        || arguments.value("d directories").is_some_and(|value| value.literal() == Some(b"recurse"));
    let skipped = usize::from(!arguments.has("e f regexp file"));
    let files = arguments.operands().skip(skipped);
    if recursive {
        read_or_here(files, FileScope::Tree, uses);
    } else {
        files.for_each(|file| uses.read(file));
    }
}

/// `rg PATTERN PATH…`, which searches directories recursively.
pub(super) fn rg(arguments: &ParsedArguments, uses: &mut FileUses) {
    let skipped = usize::from(!arguments.has("e f regexp file files type-list"));
    read_or_here(arguments.operands().skip(skipped), FileScope::Tree, uses);
}
