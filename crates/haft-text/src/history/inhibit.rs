//! Which history references of a line are performed.

use super::ExpansionOptions;

/// Characters that end a word.
pub(super) const WORD_DELIMITERS: &[u8] = b" \t\n;&()|<>";

/// Whether a line has a reference that is performed.
pub(super) fn has_reference(line: &[u8], options: ExpansionOptions) -> bool {
    let characters = options.characters;
    let mut in_double = options.open_quote == Some(b'"');
    let mut at = match options.open_quote {
        Some(b'\'') => single_quoted_end(line, 0, false).map_or(line.len(), |end| end + 1),
        _ => 0,
    };
    while let Some(&byte) = line.get(at) {
        match byte {
            byte if byte == characters.comment && !in_double && starts_word(line, at) => return false,
            byte if byte == characters.reference
                && is_candidate(line, at, in_double)
                && !is_inhibited(line, at, options) =>
            {
                return true;
            }
            b'\'' if !in_double => {
                let escapes = at > 0 && line[at - 1] == b'$';
                match single_quoted_end(line, at + 1, escapes) {
                    Some(end) => at = end,
                    None => return false,
                }
            }
            b'\\' => at += 1,
            b'"' => in_double = !in_double,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Whether the mark at `at` can start a reference, judging by the character after it.
pub(super) fn is_candidate(line: &[u8], at: usize, in_double: bool) -> bool {
    match line.get(at + 1) {
        None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'=') => false,
        Some(b'"') => !in_double,
        Some(_) => true,
    }
}

/// Whether a word starts at `at`.
pub(super) fn starts_word(line: &[u8], at: usize) -> bool {
    at == 0 || WORD_DELIMITERS.contains(&line[at - 1])
}

/// The offset of the quote that ends a single-quoted text.
pub(super) fn single_quoted_end(line: &[u8], from: usize, escapes: bool) -> Option<usize> {
    let mut at = from;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'\'' => return Some(at),
            b'\\' if escapes => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Whether the mark at `at` belongs to the syntax of the shell or is protected by quotes.
pub(super) fn is_inhibited(line: &[u8], at: usize, options: ExpansionOptions) -> bool {
    let (before, after) = (&line[..at], line.get(at + 1..).unwrap_or_default());
    let used = (before.ends_with(b"[") && after.contains(&b']'))
        || (before.ends_with(b"${") && after.contains(&b'}'))
        || (at > 1 && before.ends_with(b"$"))
        || (options.extglob && at > 1 && after.first() == Some(&b'(') && after.contains(&b')'));
    used || is_quoted(line, at, options)
}

/// Whether quotes protect the mark at `at`. Quotes within a command substitution are independent of those around it.
fn is_quoted(line: &[u8], mark: usize, options: ExpansionOptions) -> bool {
    let mut at = 0;
    if options.open_quote == Some(b'\'') {
        match single_quoted_end(line, 0, false) {
            Some(end) if end < mark => at = end + 1,
            _ => return true,
        }
    }
    let mut in_double = false;
    let mut outer: Vec<(u8, bool)> = Vec::new();
    while at < mark {
        let byte = line[at];
        match byte {
            b'\\' => at += 1,
            b'`' if outer.last().is_some_and(|(close, _)| *close == b'`') => {
                in_double = outer.pop().is_some_and(|(_, double)| double);
            }
            b'`' => {
                outer.push((b'`', in_double));
                in_double = false;
            }
            b'\'' if !in_double => match single_quoted_end(line, at + 1, false) {
                Some(end) if end < mark => at = end,
                _ => return true,
            },
            b'"' if options.posix => match double_quoted_end(line, at + 1) {
                Some(end) if end < mark => at = end,
                _ => return true,
            },
            b'"' => in_double = !in_double,
            b'$' | b'<' | b'>' if line.get(at + 1) == Some(&b'(') && line.get(at + 2) != Some(&b'(') => {
                outer.push((b')', in_double));
                in_double = false;
                at += 1;
            }
            b')' if outer.last().is_some_and(|(close, _)| *close == b')') => {
                in_double = outer.pop().is_some_and(|(_, double)| double);
            }
            _ => {}
        }
        at += 1;
    }
    at > mark || (in_double && line.get(mark + 1) == Some(&b'"'))
}

fn double_quoted_end(line: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}
