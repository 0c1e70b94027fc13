//! Commands that create, remove or change single files and directories.

use super::FileUses;
use super::getopt::ParsedArguments;
use super::path::{chosen, concat, join, literal};
use crate::plan::step::{Expansion, FileScope, FileUseMode, PlannedWord, WordPiece};
use crate::plan::words::known;

pub(super) fn touch(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mode = if arguments.has("c no-create") { FileUseMode::Attributes } else { FileUseMode::Write };
    arguments.operands().for_each(|file| uses.add(mode, file, FileScope::Exact));
}

pub(super) fn shred(arguments: &ParsedArguments, uses: &mut FileUses) {
    for file in arguments.operands() {
        uses.write(file);
        if arguments.has("u remove") {
            uses.delete(file);
        }
    }
}

/// `mkdir [-p] DIRECTORY…`.
pub(super) fn mkdir(arguments: &ParsedArguments, uses: &mut FileUses) {
    let parents = arguments.has("p parents");
    arguments.operands().for_each(|directory| directories(directory, parents, uses));
}

/// Adds a created directory, and its parents if `above`.
pub(super) fn directories(directory: &PlannedWord, above: bool, uses: &mut FileUses) {
    if above {
        parents(directory, FileUseMode::Write, uses);
    }
    uses.write(directory);
}

/// Adds the parent directories of a known relative path.
pub(super) fn parents(path: &PlannedWord, mode: FileUseMode, uses: &mut FileUses) {
    let Some(text) = path.literal().filter(|text| !text.starts_with(b"/")) else { return };
    for (at, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        if !matches!(&text[..at], b"." | b"..") && at + 1 < text.len() {
            uses.add_text(mode, &text[..at], FileScope::Exact);
        }
    }
}

pub(super) fn rmdir(arguments: &ParsedArguments, uses: &mut FileUses) {
    for directory in arguments.operands() {
        uses.delete(directory);
        if arguments.has("p parents") {
            parents(directory, FileUseMode::Delete, uses);
        }
    }
}

/// `mktemp [-d] [TEMPLATE]`. The last run of `X` is replaced.
pub(super) fn mktemp(arguments: &ParsedArguments, uses: &mut FileUses) {
    if arguments.has("u dry-run") {
        return;
    }
    let given = arguments.operands().next();
    let in_temporary = given.is_none() || arguments.has("t p tmpdir");
    let template = given.cloned().unwrap_or_else(|| known(b"tmp.XXXXXXXXXX"));
    let suffix = arguments.value("suffix").map(|suffix| suffix.pieces.clone()).unwrap_or_default();
    let name = concat(template_pieces(&template).into_iter().chain(suffix));
    let chosen_directory =
        || concat([WordPiece::Dynamic { by: Expansion::Parameter, source: b"${TMPDIR:-/tmp}"[..].into() }]);
    match arguments.value("p tmpdir") {
        Some(directory) => uses.write(&join(directory, &name)),
        None if in_temporary => uses.write(&join(&chosen_directory(), &name)),
        None => uses.write(&name),
    }
}

fn template_pieces(template: &PlannedWord) -> Vec<WordPiece> {
    let Some(text) = template.literal() else { return template.pieces.clone() };
    let Some(last) = memchr::memrchr(b'X', text) else { return template.pieces.clone() };
    let first = text[..last].iter().rposition(|byte| *byte != b'X').map_or(0, |at| at + 1);
    let marks = [literal(&text[..first]), chosen(&text[first..=last]), literal(&text[last + 1..])];
    marks.into_iter().filter(|piece| !matches!(piece, WordPiece::Literal(text) if text.is_empty())).collect()
}

/// `mkfifo FILE…`, `mknod FILE TYPE …`.
pub(super) fn mkfifo(arguments: &ParsedArguments, uses: &mut FileUses) {
    let count = if arguments.command == b"mknod" { 1 } else { usize::MAX };
    arguments.operands().take(count).for_each(|file| uses.write(file));
}

/// `chmod MODE FILE…`. A mode that removes permissions looks like an option: `chmod -x file`.
pub(super) fn chmod(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mode_as_option = arguments.has("r w x X s t u g o a");
    let skipped = usize::from(!mode_as_option && !arguments.has("reference"));
    let scope = if arguments.has("R recursive") { FileScope::Tree } else { FileScope::Exact };
    arguments.operands().skip(skipped).for_each(|file| uses.add(FileUseMode::Attributes, file, scope));
}

/// `chattr [-R] +i FILE…`. Letters after `+`, `-` and `=` are attributes.
pub(super) fn chattr(arguments: &ParsedArguments, uses: &mut FileUses) {
    // Removing an attribute looks like an unknown option.
    let scope = if arguments.has("R") { FileScope::Tree } else { FileScope::Exact };
    let is_change = |item: &&PlannedWord| matches!(item.prefix().first(), Some(b'+' | b'='));
    let files = arguments.operands().filter(|item| !is_change(item));
    files.for_each(|file| uses.add(FileUseMode::Attributes, file, scope));
}

/// `flock FILE COMMAND`. The file is created if it does not exist. A number is a file descriptor.
pub(super) fn flock(arguments: &ParsedArguments, uses: &mut FileUses) {
    let file = arguments.operands().next();
    let is_number =
        |item: &PlannedWord| item.literal().is_some_and(|text| text.iter().all(u8::is_ascii_digit));
    file.into_iter().filter(|file| !is_number(file)).for_each(|file| uses.write(file));
}

/// `script [FILE]`.
pub(super) fn script(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mode = if arguments.has("a append") { FileUseMode::Append } else { FileUseMode::Write };
    match arguments.operands().next() {
        Some(file) => uses.add(mode, file, FileScope::Exact),
        None if arguments.has("I O B log-in log-out log-io") => {}
        None => uses.add_text(mode, b"typescript", FileScope::Exact),
    }
}

/// Wrappers: the command they run is a separate step.
pub(super) fn wrapper(_: &ParsedArguments, uses: &mut FileUses) {
    uses.complete = true;
}

/// Commands whose use of files is not described.
pub(super) fn undescribed(_: &ParsedArguments, uses: &mut FileUses) {
    uses.incomplete();
}

/// `history -a|-w|-r|-n [FILE]`.
pub(super) fn history(arguments: &ParsedArguments, uses: &mut FileUses) {
    let mode = if arguments.has("w a") { FileUseMode::Write } else { FileUseMode::Read };
    if arguments.has("a n r w") {
        match arguments.operands().next() {
            Some(file) => uses.add(mode, file, FileScope::Exact),
            None => uses.incomplete(),
        }
    }
}
