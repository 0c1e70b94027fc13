//! `find`: its starting points, and actions that write or delete files.

use super::FileUses;
use super::getopt::ParsedArguments;
use crate::plan::step::{FileScope, FileUseMode, PlannedWord};

/// Actions and tests whose first argument is a file.
const FILES: &[(&[u8], FileUseMode)] = &[
    (b"-fprint", FileUseMode::Write),
    (b"-fprint0", FileUseMode::Write),
    (b"-fprintf", FileUseMode::Write),
    (b"-fls", FileUseMode::Write),
    (b"-newer", FileUseMode::Read),
    (b"-anewer", FileUseMode::Read),
    (b"-cnewer", FileUseMode::Read),
    (b"-samefile", FileUseMode::Read),
    (b"-files0-from", FileUseMode::Read),
];

pub(super) fn find(arguments: &ParsedArguments, uses: &mut FileUses) {
    let items: Vec<&PlannedWord> = arguments.operands().collect();
    let options = items.iter().take_while(|item| is_option(item)).count();
    let is_expression =
        |item: &&&PlannedWord| matches!(item.prefix().first(), Some(b'-' | b'(' | b'!' | b','));
    let roots: Vec<&PlannedWord> =
        items[options..].iter().take_while(|item| !is_expression(item)).copied().collect();
    let here = crate::plan::words::known(b".");
    let roots = if roots.is_empty() { vec![&here] } else { roots };
    roots.iter().for_each(|root| uses.add(FileUseMode::Read, root, FileScope::Tree));
    for (at, item) in items.iter().enumerate() {
        let Some(word) = item.literal() else { continue };
        if let Some((_, mode)) = FILES.iter().find(|(action, _)| *action == word) {
            items.get(at + 1).into_iter().for_each(|file| uses.add(*mode, file, FileScope::Exact));
        }
        if word == b"-delete" {
            delete(&items, &roots, uses);
        }
        if word == b"-files0-from" {
            uses.incomplete();
        }
    }
}

/// Whether a word is one of the options before the starting points: `-H`, `-L`, `-P`, `-O3`.
fn is_option(item: &PlannedWord) -> bool {
    matches!(item.literal(), Some(b"-H" | b"-L" | b"-P")) || item.prefix().starts_with(b"-O")
}

/// Adds the files that `-delete` removes.
fn delete(items: &[&PlannedWord], roots: &[&PlannedWord], uses: &mut FileUses) {
    let chooses = items.iter().filter_map(|item| item.literal()).any(is_test);
    let scope = if chooses { FileScope::Inside } else { FileScope::Tree };
    roots.iter().for_each(|root| uses.add(FileUseMode::Delete, root, scope));
}

/// Whether a `find` command has tests that select files.
pub(crate) fn find_chooses(argv: &[PlannedWord]) -> bool {
    let end =
        |item: &&PlannedWord| !item.prefix().starts_with(b"-exec") && !item.prefix().starts_with(b"-ok");
    argv.iter().skip(1).take_while(end).filter_map(PlannedWord::literal).any(is_test)
}

/// Whether a word is a test that selects files.
fn is_test(word: &[u8]) -> bool {
    const OTHERS: &[&[u8]] = &[
        b"-delete",
        b"-print",
        b"-print0",
        b"-depth",
        b"-xdev",
        b"-mount",
        b"-mindepth",
        b"-maxdepth",
        b"-ignore_readdir_race",
        b"-noleaf",
        b"-follow",
        b"-warn",
        b"-nowarn",
        b"-true",
        b"-a",
        b"-and",
        b"-o",
        b"-or",
        b"-ls",
        b"-H",
        b"-L",
        b"-P",
        b"-exec",
        b"-fprint",
        b"-type",
        b"-not",
    ];
    word.len() > 1 && word[0] == b'-' && word[1].is_ascii_alphabetic() && !OTHERS.contains(&word)
}
