//! Operations on paths that may contain dynamic pieces.

use crate::Bytes;
use crate::plan::step::{Expansion, PlannedWord, WordPiece};
use crate::plan::words::known;

/// Creates a piece for a name that the command chooses, described by a pattern.
pub(super) fn chosen(pattern: &[u8]) -> WordPiece {
    WordPiece::Dynamic { by: Expansion::Chosen, source: pattern.into() }
}

/// Concatenates pieces and joins adjacent literals.
pub(in crate::plan) fn concat(parts: impl IntoIterator<Item = WordPiece>) -> PlannedWord {
    let mut pieces: Vec<WordPiece> = Vec::new();
    for part in parts {
        match (pieces.last_mut(), part) {
            (_, WordPiece::Literal(text)) if text.is_empty() => {}
            (Some(WordPiece::Literal(before)), WordPiece::Literal(text)) => {
                *before = Bytes::from(&*[&**before, &*text].concat());
            }
            (_, part) => pieces.push(part),
        }
    }
    PlannedWord { pieces, several: false }
}

/// Creates a literal piece.
pub(in crate::plan) fn literal(text: &[u8]) -> WordPiece {
    WordPiece::Literal(text.into())
}

/// Appends a suffix to a path.
pub(super) fn with_suffix(item: &PlannedWord, suffix: &[u8]) -> PlannedWord {
    PlannedWord { several: item.several, ..concat(item.pieces.iter().cloned().chain([literal(suffix)])) }
}

/// Removes a suffix from a path, if it has it.
pub(super) fn without_suffix(item: &PlannedWord, suffix: &[u8]) -> Option<PlannedWord> {
    let (last, before) = item.pieces.split_last()?;
    let WordPiece::Literal(text) = last else { return None };
    let kept = text.strip_suffix(suffix)?;
    Some(PlannedWord { several: item.several, ..concat(before.iter().cloned().chain([literal(kept)])) })
}

/// Returns the base name of a path, if it is known where it starts.
pub(super) fn base_name(item: &PlannedWord) -> Option<PlannedWord> {
    let item = match item.literal() {
        Some(text) => known(trim_slashes(text)),
        None => item.clone(),
    };
    let slash = item.pieces.iter().enumerate().rev().find_map(|(index, piece)| match piece {
        WordPiece::Literal(text) => memchr::memrchr(b'/', text).map(|at| (index, at)),
        WordPiece::Dynamic { .. } => None,
    });
    let (from, rest) = match slash {
        Some((index, at)) => {
            let WordPiece::Literal(text) = &item.pieces[index] else { return None };
            (Some(literal(&text[at + 1..])), &item.pieces[index + 1..])
        }
        None => (None, &item.pieces[..]),
    };
    let plain = |piece: &WordPiece| match piece {
        WordPiece::Literal(_) => true,
        WordPiece::Dynamic { by, .. } => {
            matches!(by, Expansion::Glob | Expansion::Arithmetic | Expansion::Chosen)
        }
    };
    rest.iter().all(plain).then(|| concat(from.into_iter().chain(rest.iter().cloned())))
}

fn trim_slashes(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b'/').map_or(text.len().min(1), |at| at + 1);
    &text[..end]
}

/// Whether a path must be a directory: it ends with a slash, `.` or `..`.
pub(super) fn is_directory(item: &PlannedWord) -> bool {
    match item.pieces.last() {
        Some(WordPiece::Literal(text)) => {
            text.ends_with(b"/") || text.ends_with(b"/.") || text.ends_with(b"/..") || {
                item.pieces.len() == 1 && matches!(&**text, b"." | b"..")
            }
        }
        _ => false,
    }
}

/// Joins a directory and a path.
pub(in crate::plan) fn join(directory: &PlannedWord, name: &PlannedWord) -> PlannedWord {
    if directory.literal() == Some(b".") || is_anchored(name) {
        return name.clone();
    }
    if let (Some(directory), Some(name)) = (directory.literal(), name.literal()) {
        return known(&join_text(directory, name));
    }
    let slash = match directory.pieces.last() {
        Some(WordPiece::Literal(text)) if text.ends_with(b"/") => &b""[..],
        None => b"",
        _ => b"/",
    };
    let stripped = match name.pieces.split_first() {
        Some((WordPiece::Literal(text), rest)) => {
            let text = text.strip_prefix(b"./").unwrap_or(text);
            concat([literal(text)].into_iter().chain(rest.iter().cloned()))
        }
        _ => name.clone(),
    };
    let pieces = directory.pieces.iter().cloned().chain([literal(slash)]).chain(stripped.pieces);
    PlannedWord { several: name.several, ..concat(pieces) }
}

/// Whether a path is absolute, or may be.
fn is_anchored(item: &PlannedWord) -> bool {
    match item.pieces.first() {
        None => true,
        Some(WordPiece::Literal(text)) => text.starts_with(b"/"),
        Some(WordPiece::Dynamic { by, .. }) => {
            !matches!(by, Expansion::Glob | Expansion::Braces | Expansion::Arithmetic | Expansion::Chosen)
        }
    }
}

/// Joins two paths textually: drops `.`, and removes a component for `..`.
fn join_text(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let absolute = directory.starts_with(b"/");
    let mut components: Vec<&[u8]> = Vec::new();
    for component in directory.split(|byte| *byte == b'/').chain(name.split(|byte| *byte == b'/')) {
        match component {
            b"" | b"." => {}
            b".." if components.last().is_some_and(|last| *last != b"..") => drop(components.pop()),
            b".." if absolute => {}
            _ => components.push(component),
        }
    }
    let joined = components.join(&b'/');
    let slash = if name.ends_with(b"/") && !joined.is_empty() { &b"/"[..] } else { b"" };
    match (absolute, joined.is_empty()) {
        (true, _) => [b"/", &*joined, slash].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => [&*joined, slash].concat(),
    }
}
