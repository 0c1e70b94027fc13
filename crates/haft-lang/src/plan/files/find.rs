//! `find`: its roots, and the actions that write and delete.

use super::Uses;
use super::getopt::Arguments;
use crate::plan::step::{FileScope, Item, Mode};

/// Actions and tests whose first value is a file.
const FILES: &[(&[u8], Mode)] = &[
    (b"-fprint", Mode::Write),
    (b"-fprint0", Mode::Write),
    (b"-fprintf", Mode::Write),
    (b"-fls", Mode::Write),
    (b"-newer", Mode::Read),
    (b"-anewer", Mode::Read),
    (b"-cnewer", Mode::Read),
    (b"-samefile", Mode::Read),
    (b"-files0-from", Mode::Read),
];

pub(super) fn find(arguments: &Arguments, uses: &mut Uses) {
    let items: Vec<&Item> = arguments.operands().collect();
    let options = items.iter().take_while(|item| is_option(item)).count();
    let is_expression = |item: &&&Item| matches!(item.prefix().first(), Some(b'-' | b'(' | b'!' | b','));
    let roots: Vec<&Item> =
        items[options..].iter().take_while(|item| !is_expression(item)).copied().collect();
    let here = crate::plan::words::known(b".");
    let roots = if roots.is_empty() { vec![&here] } else { roots };
    roots.iter().for_each(|root| uses.add(Mode::Read, root, FileScope::Tree));
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

/// `-H`, `-L`, `-P`, `-O3`, which stand before the roots.
fn is_option(item: &Item) -> bool {
    matches!(item.literal(), Some(b"-H" | b"-L" | b"-P")) || item.prefix().starts_with(b"-O")
}

/// `-delete` removes whatever passes the tests before it.
fn delete(items: &[&Item], roots: &[&Item], uses: &mut Uses) {
    let chooses = items.iter().filter_map(|item| item.literal()).any(is_test);
    let scope = if chooses { FileScope::Inside } else { FileScope::Tree };
    roots.iter().for_each(|root| uses.add(Mode::Delete, root, scope));
}

/// Whether the tests of a `find` command let only some files pass.
pub(crate) fn find_chooses(argv: &[Item]) -> bool {
    let end = |item: &&Item| !item.prefix().starts_with(b"-exec") && !item.prefix().starts_with(b"-ok");
    argv.iter().skip(1).take_while(end).filter_map(Item::literal).any(is_test)
}

/// Whether a word is a test that passes some files only.
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
