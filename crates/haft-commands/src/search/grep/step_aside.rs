//! Decides whether GNU's `grep` must run.

use haft_kernel::{Bytes, Session};

use super::patterns::{PatternOptions, PatternSyntax};
use crate::arguments::{ArgumentValue, CommandArguments};
use crate::step_aside::{small_file, walks_root};

/// Whether GNU's program might do something else.
pub(super) fn steps_aside(
    session: &mut Session,
    arguments: &CommandArguments,
    syntax: PatternSyntax,
) -> bool {
    let mut patterns = PatternOptions::new(syntax);
    let mut is_recursive = false;
    for (name, value) in arguments.in_order() {
        let text: &[u8] = if let ArgumentValue::Text(text) = value { text } else { &[] };
        match name {
            "regexp" => patterns.add(text),
            "file" => match small_file(session, text) {
                Some(content) => patterns.add_lines(&content),
                None => return true,
            },
            "color" | "colour" if has_own_colors(session) => return true,
            "recursive" | "dereference-recursive" | "directories" => is_recursive = true,
            _ if patterns.choice(name).is_err() => return true,
            _ => {}
        }
    }
    let mut files: &[Bytes] = &arguments.operands;
    if !patterns.is_given {
        let Some((first, rest)) = files.split_first() else { return true };
        patterns.add(first);
        files = rest;
    }
    is_recursive && walks_root(session, files) || patterns.are_inexact(session.encoding())
}

fn has_own_colors(session: &Session) -> bool {
    let is_set = |name: &[u8]| session.value(name).is_some_and(|value| !value.is_empty());
    is_set(b"GREP_COLORS") || is_set(b"GREP_COLOR")
}
