//! Commands that look into files and directories.

use super::Uses;
use super::getopt::Arguments;
use crate::plan::step::{FileScope, Item, Mode};

/// Reads operands, or the working directory if there are none.
fn read_or_here<'a>(operands: impl Iterator<Item = &'a Item>, scope: FileScope, uses: &mut Uses) {
    let mut operands = operands.peekable();
    if operands.peek().is_none() {
        uses.add_text(Mode::Read, b".", scope);
    }
    operands.for_each(|operand| uses.add(Mode::Read, operand, scope));
}

pub(super) fn list(arguments: &Arguments, uses: &mut Uses) {
    let scope = if arguments.has("R recursive") { FileScope::Tree } else { FileScope::Exact };
    read_or_here(arguments.operands(), scope, uses);
}

pub(super) fn walk(arguments: &Arguments, uses: &mut Uses) {
    read_or_here(arguments.operands(), FileScope::Tree, uses);
}

/// `cmp FILE1 [FILE2 [SKIP1 [SKIP2]]]`.
pub(super) fn compare(arguments: &Arguments, uses: &mut Uses) {
    arguments.operands().take(2).for_each(|file| uses.read(file));
}

/// `grep PATTERN FILE…`; `-e` and `-f` give the pattern.
pub(super) fn grep(arguments: &Arguments, uses: &mut Uses) {
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

/// `rg PATTERN PATH…`, which searches directories by itself.
pub(super) fn ripgrep(arguments: &Arguments, uses: &mut Uses) {
    let skipped = usize::from(!arguments.has("e f regexp file files type-list"));
    read_or_here(arguments.operands().skip(skipped), FileScope::Tree, uses);
}
