//! Commands that create files from files: copies, renames, links, filters, patches.

use super::FileUses;
use super::getopt::ParsedArguments;
use super::path::{base_name, is_directory, join};
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};
use crate::plan::words::known;

/// The sources and the target of `cp`, `mv`, `ln` and `install`.
struct CopyOperands<'a> {
    sources: Vec<&'a PlannedWord>,
    target: Option<&'a PlannedWord>,
    /// Whether the target must be a directory.
    into: bool,
}

impl<'a> CopyOperands<'a> {
    fn of(arguments: &'a ParsedArguments) -> Self {
        let mut sources: Vec<&PlannedWord> = arguments.operands().collect();
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

    /// Adds the written files: one in the target directory for each source, or the target itself.
    fn written(&self, arguments: &ParsedArguments, scope: FileScope, uses: &mut FileUses) {
        let Some(target) = self.target else { return };
        if !self.into {
            let exact = arguments.has("T no-target-directory") && scope == FileScope::Exact;
            let inside = if scope == FileScope::Exact { FileScope::Inside } else { scope };
            return uses.add(FileUseMode::Write, target, if exact { FileScope::Exact } else { inside });
        }
        for source in &self.sources {
            match base_name(source).filter(|name| !matches!(name.literal(), Some(b"." | b".." | b"/" | b"")))
            {
                Some(name) => uses.add(FileUseMode::Write, &join(target, &name), scope),
                None if scope == FileScope::Exact => uses.add(FileUseMode::Write, target, FileScope::Inside),
                None => uses.add(FileUseMode::Write, target, scope),
            }
        }
    }
}

pub(super) fn cp(arguments: &ParsedArguments, uses: &mut FileUses) {
    let transfer = CopyOperands::of(arguments);
    let tree = arguments.has("r R a recursive archive");
    let scope = if tree { FileScope::Tree } else { FileScope::Exact };
    transfer.sources.iter().for_each(|source| uses.add(FileUseMode::Read, source, scope));
    transfer.written(arguments, scope, uses);
}

pub(super) fn mv(arguments: &ParsedArguments, uses: &mut FileUses) {
    let transfer = CopyOperands::of(arguments);
    transfer.sources.iter().for_each(|source| uses.delete(source));
    transfer.written(arguments, FileScope::Exact, uses);
}

/// `ln SOURCE… TARGET`. With a single operand, the link is created in the working directory.
pub(super) fn ln(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut transfer = CopyOperands::of(arguments);
    let here = known(b".");
    if transfer.target.is_none() {
        transfer = CopyOperands { target: Some(&here), into: true, ..transfer };
    }
    if !arguments.has("s symbolic") {
        transfer.sources.iter().for_each(|source| uses.read(source));
    }
    transfer.written(arguments, FileScope::Exact, uses);
}

pub(super) fn install(arguments: &ParsedArguments, uses: &mut FileUses) {
    if arguments.has("d directory") {
        return arguments.operands().for_each(|directory| super::name::directories(directory, true, uses));
    }
    let transfer = CopyOperands::of(arguments);
    transfer.sources.iter().for_each(|source| uses.read(source));
    if arguments.has("D")
        && let Some(target) = transfer.target
    {
        super::name::parents(target, FileUseMode::Write, uses);
        if transfer.into {
            uses.write(target);
        }
    }
    transfer.written(arguments, FileScope::Exact, uses);
}

/// `uniq [INPUT [OUTPUT]]`.
pub(super) fn uniq(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mut operands = arguments.operands();
    operands.next().into_iter().for_each(|input| uses.read(input));
    operands.next().into_iter().for_each(|output| uses.write(output));
}

/// `shuf`: its operands are lines with `-e` and a range with `-i`.
pub(super) fn shuf(arguments: &ParsedArguments, uses: &mut FileUses) {
    if !arguments.has("e echo") {
        arguments.operands().for_each(|file| uses.read(file));
    }
}

pub(super) fn tee(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mode = if arguments.has("a append") { FileUseMode::Append } else { FileUseMode::Write };
    arguments.operands().for_each(|file| uses.add(mode, file, FileScope::Exact));
}

/// `patch [FILE [PATCH]]`; without a file, the patch names the files.
pub(super) fn patch(arguments: &ParsedArguments, uses: &mut FileUses) {
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
        None if output => uses.add(FileUseMode::Read, &directory, FileScope::Tree),
        None => uses.add(FileUseMode::Write, &directory, FileScope::Tree),
    }
    // A patch may delete files, and a patch that fails leaves reject and backup files.
    uses.incomplete();
}
