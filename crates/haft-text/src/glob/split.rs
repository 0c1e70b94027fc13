//! Splitting of a pattern at its slashes.

use super::GlobOptions;
use crate::pattern::{Pattern, has_operators, unquote};

/// The text between two slashes of a pattern.
#[derive(Debug)]
pub(super) struct GlobComponent {
    pub(super) kind: ComponentKind,
    /// How many slashes follow.
    pub(super) slashes: usize,
    pub(super) last: bool,
}

#[derive(Debug)]
pub(super) enum ComponentKind {
    /// Text; empty before a leading slash and after a trailing one.
    Text(Vec<u8>),
    Pattern(Pattern),
    /// `**`.
    Recursive {
        /// Whether only directories match, because a slash ends the pattern.
        directories: bool,
        /// Whether it stands for several components.
        repeated: bool,
    },
}

/// Splits a pattern. Successive `**` components count as one.
pub(super) fn split(pattern: &[u8], options: &GlobOptions) -> Vec<GlobComponent> {
    let mut components: Vec<GlobComponent> = Vec::new();
    let mut rest = pattern;
    loop {
        let (text, slashes, after) = next_component(rest);
        let last = slashes == 0;
        let mut kind = component_kind(text, slashes > 0 && after.is_empty(), options);
        if let ComponentKind::Recursive { repeated, .. } = &mut kind
            && matches!(components.last(), Some(GlobComponent { kind: ComponentKind::Recursive { .. }, .. }))
        {
            *repeated = true;
            components.pop();
        }
        let ends = matches!(kind, ComponentKind::Recursive { directories: true, .. });
        components.push(GlobComponent { kind, slashes, last: last || ends });
        if last || ends {
            return components;
        }
        rest = after;
    }
}

fn component_kind(text: &[u8], directories: bool, options: &GlobOptions) -> ComponentKind {
    if options.globstar && text == b"**" {
        return ComponentKind::Recursive { directories, repeated: false };
    }
    if has_operators(text, options.pattern.extended) {
        return ComponentKind::Pattern(Pattern::compile(text, options.pattern));
    }
    ComponentKind::Text(unquote(text))
}

/// Returns the text before the next slash, the number of slashes after it, and the rest. A backslash that quotes the slash is dropped.
fn next_component(pattern: &[u8]) -> (&[u8], usize, &[u8]) {
    let end = pattern.iter().position(|byte| *byte == b'/').unwrap_or(pattern.len());
    let slashes = pattern[end..].iter().take_while(|byte| **byte == b'/').count();
    let text = &pattern[..end];
    let quoting = text.iter().rev().take_while(|byte| **byte == b'\\').count();
    let text = if slashes > 0 && quoting % 2 == 1 { &text[..text.len() - 1] } else { text };
    (text, slashes, &pattern[end + slashes..])
}
