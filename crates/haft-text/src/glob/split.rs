//! A pattern for paths, taken apart at its slashes.

use super::GlobOptions;
use crate::pattern::{Pattern, is_active, unquote};

/// What stands between two slashes.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// The slashes that follow.
    pub(super) slashes: usize,
    pub(super) last: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Text; empty before a leading slash and after a trailing one.
    Text(Vec<u8>),
    Pattern(Pattern),
    /// `**`.
    Recursive {
        /// Whether only directories are asked for: a slash follows, and nothing else.
        directories: bool,
    },
}

/// Takes a pattern apart. Several `**` in a row are one.
pub(super) fn split(pattern: &[u8], options: &GlobOptions) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = pattern;
    loop {
        let (text, slashes, after) = next(rest);
        let last = slashes == 0;
        let kind = kind(text, slashes > 0 && after.is_empty(), options);
        let repeated = matches!(kind, Kind::Recursive { .. })
            && matches!(parts.last(), Some(Part { kind: Kind::Recursive { .. }, .. }));
        if repeated {
            parts.pop();
        }
        let ends = matches!(kind, Kind::Recursive { directories: true });
        parts.push(Part { kind, slashes, last: last || ends });
        if last || ends {
            return parts;
        }
        rest = after;
    }
}

fn kind(text: &[u8], directories: bool, options: &GlobOptions) -> Kind {
    if options.recursive && text == b"**" {
        return Kind::Recursive { directories };
    }
    if is_active(text, options.pattern.extended) {
        return Kind::Pattern(Pattern::compile(text, options.pattern));
    }
    Kind::Text(unquote(text))
}

/// The text up to the next slash, how many slashes follow it, and the rest. A backslash before a slash is none of both.
fn next(pattern: &[u8]) -> (&[u8], usize, &[u8]) {
    let end = pattern.iter().position(|byte| *byte == b'/').unwrap_or(pattern.len());
    let slashes = pattern[end..].iter().take_while(|byte| **byte == b'/').count();
    let text = &pattern[..end];
    let quoting = text.iter().rev().take_while(|byte| **byte == b'\\').count();
    let text = if slashes > 0 && quoting % 2 == 1 { &text[..text.len() - 1] } else { text };
    (text, slashes, &pattern[end + slashes..])
}
