//! Decides whether GNU's `find` must run.

use haft_kernel::{Bytes, Session};

use crate::step_aside::walks_root;

/// Words of an expression without an argument.
const PLAIN: [&[u8]; 22] = [
    b"!",
    b"(",
    b")",
    b",",
    b"-a",
    b"-and",
    b"-depth",
    b"-empty",
    b"-executable",
    b"-false",
    b"-mount",
    b"-not",
    b"-o",
    b"-or",
    b"-print",
    b"-print0",
    b"-prune",
    b"-quit",
    b"-readable",
    b"-true",
    b"-writable",
    b"-xdev",
];

/// Words with an argument that is a pattern.
const WITH_PATTERN: [&[u8]; 5] = [b"-iname", b"-ipath", b"-name", b"-path", b"-wholename"];

/// Words with an argument that is a number, perhaps with a sign or a unit.
const WITH_NUMBER: [&[u8]; 11] = [
    b"-amin",
    b"-atime",
    b"-cmin",
    b"-ctime",
    b"-links",
    b"-maxdepth",
    b"-mindepth",
    b"-mmin",
    b"-mtime",
    b"-perm",
    b"-size",
];

/// The directives of `-printf` that are the same in all time zones and for all accounts.
const PRINTED: &[u8] = b"%pfhPHdsbkmMniDlyYUG";

/// Whether the call is rare, depends on accounts or time zones, or runs commands.
pub(super) fn steps_aside(session: &Session, words: &[Bytes]) -> bool {
    let begins = |word: &Bytes| matches!(**word, [b'-', _, ..] | [b'(' | b'!']);
    let end = words.iter().position(begins).unwrap_or(words.len());
    let (paths, expression) = words.split_at(end);
    !is_plain(expression) || walks_root(session, paths)
}

fn is_plain(expression: &[Bytes]) -> bool {
    let mut words = expression.iter();
    while let Some(word) = words.next() {
        let word: &[u8] = word;
        let takes: fn(&[u8]) -> bool = match word {
            word if PLAIN.contains(&word) => continue,
            word if WITH_PATTERN.contains(&word) => is_plain_pattern,
            word if WITH_NUMBER.contains(&word) => is_number,
            b"-type" => |kind| kind.len() == 1 && b"bcdpfls".contains(&kind[0]),
            b"-newer" | b"-samefile" => |name| !name.is_empty(),
            b"-printf" => is_plain_format,
            _ => return false,
        };
        if !words.next().is_some_and(|argument| takes(argument)) {
            return false;
        }
    }
    true
}

fn is_plain_pattern(pattern: &[u8]) -> bool {
    !pattern.is_empty() && pattern.is_ascii() && !pattern.iter().any(|byte| b"[\\".contains(byte))
}

fn is_number(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let digits = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && digits <= 9 && matches!(&unsigned[digits..], [] | [b'c' | b'k' | b'M' | b'G' | b'b' | b'w'])
}

/// Whether a format has only directives without flags, and common escapes.
fn is_plain_format(format: &[u8]) -> bool {
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        let is_plain = match byte {
            b'%' => bytes.next().is_some_and(|letter| PRINTED.contains(letter)),
            b'\\' => bytes.next().is_some_and(|letter| b"nt0\\".contains(letter)),
            _ => true,
        };
        if !is_plain {
            return false;
        }
    }
    true
}
