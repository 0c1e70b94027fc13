//! Commands that make files out of files: copies, moves, links, filters, patches.

use super::Uses;
use super::getopt::Arguments;
use super::path::{base_name, is_directory, join};
use crate::plan::step::{FileScope, Item, Mode};
use crate::plan::words::known;

/// Sources and the target of `cp`, `mv`, `ln` and `install`.
struct Transfer<'a> {
    sources: Vec<&'a Item>,
    target: Option<&'a Item>,
    /// Whether the target can only be a directory.
    into: bool,
}

impl<'a> Transfer<'a> {
    fn of(arguments: &'a Arguments) -> Self {
        let mut sources: Vec<&Item> = arguments.operands().collect();
        if let Some(directory) = arguments.value("t target-directory") {
            return Self { sources, target: Some(directory), into: true };
        }
        let target = if sources.len() > 1 || sources.first().is_some_and(|only| only.several) {
            sources.pop()
        } else {
            None
        };
        let into = sources.len() > 1 || sources.iter().any(|source| source.several);
        let into = (into || target.is_some_and(is_directory)) && !arguments.has("T no-target-directory");
        Self { sources, target, into }
    }

    /// Adds what is written: a file in the target directory for each source, or the target itself.
    fn written(&self, arguments: &Arguments, scope: FileScope, uses: &mut Uses) {
        let Some(target) = self.target else { return };
        if !self.into {
            let exact = arguments.has("T no-target-directory") && scope == FileScope::Exact;
            let inside = if scope == FileScope::Exact { FileScope::Inside } else { scope };
            return uses.add(Mode::Write, target, if exact { FileScope::Exact } else { inside });
        }
        for source in &self.sources {
            match base_name(source).filter(|name| !matches!(name.literal(), Some(b"." | b".." | b"/" | b"")))
            {
                Some(name) => uses.add(Mode::Write, &join(target, &name), scope),
                None if scope == FileScope::Exact => uses.add(Mode::Write, target, FileScope::Inside),
                None => uses.add(Mode::Write, target, scope),
            }
        }
    }
}

pub(super) fn copy(arguments: &Arguments, uses: &mut Uses) {
    let transfer = Transfer::of(arguments);
    let tree = arguments.has("r R a recursive archive");
    let scope = if tree { FileScope::Tree } else { FileScope::Exact };
    transfer.sources.iter().for_each(|source| uses.add(Mode::Read, source, scope));
    transfer.written(arguments, scope, uses);
}

pub(super) fn rename(arguments: &Arguments, uses: &mut Uses) {
    let transfer = Transfer::of(arguments);
    transfer.sources.iter().for_each(|source| uses.delete(source));
    transfer.written(arguments, FileScope::Exact, uses);
}

/// `ln SOURCE… TARGET`; a single operand is linked to in the working directory.
pub(super) fn link(arguments: &Arguments, uses: &mut Uses) {
    let mut transfer = Transfer::of(arguments);
    let here = known(b".");
    if transfer.target.is_none() {
        transfer = Transfer { target: Some(&here), into: true, ..transfer };
    }
    if !arguments.has("s symbolic") {
        transfer.sources.iter().for_each(|source| uses.read(source));
    }
    transfer.written(arguments, FileScope::Exact, uses);
}

pub(super) fn install(arguments: &Arguments, uses: &mut Uses) {
    if arguments.has("d directory") {
        return arguments.operands().for_each(|directory| super::name::directories(directory, true, uses));
    }
    let transfer = Transfer::of(arguments);
    transfer.sources.iter().for_each(|source| uses.read(source));
    if arguments.has("D")
        && let Some(target) = transfer.target
    {
        super::name::parents(target, Mode::Write, uses);
        if transfer.into {
            uses.write(target);
        }
    }
    transfer.written(arguments, FileScope::Exact, uses);
}

/// `uniq [INPUT [OUTPUT]]`.
pub(super) fn filter(arguments: &Arguments, uses: &mut Uses) {
    let mut operands = arguments.operands();
    operands.next().into_iter().for_each(|input| uses.read(input));
    operands.next().into_iter().for_each(|output| uses.write(output));
}

/// `shuf`: its operands are lines with `-e` and a range with `-i`.
pub(super) fn shuffle(arguments: &Arguments, uses: &mut Uses) {
    if !arguments.has("e echo") {
        arguments.operands().for_each(|file| uses.read(file));
    }
}

pub(super) fn tee(arguments: &Arguments, uses: &mut Uses) {
    let mode = if arguments.has("a append") { Mode::Append } else { Mode::Write };
    arguments.operands().for_each(|file| uses.add(mode, file, FileScope::Exact));
}

/// `patch [FILE [PATCH]]`; without a file, the patch names the files.
pub(super) fn patch(arguments: &Arguments, uses: &mut Uses) {
    let directory = arguments.value("d directory").cloned().unwrap_or_else(|| known(b"."));
    let mut operands = arguments.operands();
    let file = operands.next();
    operands.next().into_iter().for_each(|patch| uses.read(patch));
    if arguments.has("dry-run") {
        return;
    }
    let output = arguments.has("o output");
    match file {
        Some(file) if output => uses.read(&join(&directory, file)),
        Some(file) => uses.write(&join(&directory, file)),
        None if output => uses.add(Mode::Read, &directory, FileScope::Tree),
        None => uses.add(Mode::Write, &directory, FileScope::Tree),
    }
    // A patch that does not fit leaves files of rejects and of the original, and a patch may delete files.
    uses.incomplete();
}
