//! The words of a history entry.

use super::inhibit::WORD_DELIMITERS;

/// Splits an entry into words as the shell would. Operators are words of their own; quoted text, substitutions and patterns in
/// parentheses are not split. Returns the words with their offsets.
#[must_use]
pub fn split_words(entry: &[u8], comment: u8) -> Vec<(usize, &[u8])> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        while entry.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
            at += 1;
        }
        match entry.get(at) {
            None => return words,
            Some(&byte) if byte == comment => return words,
            Some(_) => {}
        }
        let mut end = word_end(entry, at);
        if end == at {
            end += 1;
            while entry.get(end).is_some_and(|byte| WORD_DELIMITERS.contains(byte)) {
                end += 1;
            }
        }
        words.push((at, &entry[at..end]));
        at = end;
    }
}

fn word_end(entry: &[u8], start: usize) -> usize {
    if matches!(entry[start], b'(' | b')' | b'\n') {
        return start + 1;
    }
    let mut at = start;
    if entry[at].is_ascii_digit() {
        at += entry[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !matches!(entry.get(at), Some(b'<' | b'>')) {
            return plain_word_end(entry, at, 0);
        }
    }
    match operator_length(&entry[at..]) {
        Some(length) => at + length,
        None if matches!(entry[at], b'<' | b'>') => plain_word_end(entry, at + 2, 1),
        None => plain_word_end(entry, at, 0),
    }
}

/// The length of the operator at the beginning of a text. A process substitution is not an operator.
fn operator_length(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    if !b"<>;&|".contains(&first) {
        return None;
    }
    let second = text.get(1).copied().unwrap_or(0);
    Some(match (first, second) {
        (b'<', b'<') if matches!(text.get(2), Some(b'-' | b'<')) => 3,
        (_, second) if second == first => 2,
        (b'<' | b'>', b'&') => {
            let digits = text[2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            2 + digits + usize::from(text.get(2 + digits) == Some(&b'-'))
        }
        (b'&', b'>') | (b'>', b'|') => 2,
        (b'<' | b'>', b'(') => return None,
        _ => 1,
    })
}

/// The end of a word that is not an operator. `depth` is the number of open parentheses.
fn plain_word_end(entry: &[u8], start: usize, mut depth: usize) -> usize {
    let mut quote = None;
    let mut at = start;
    while let Some(&byte) = entry.get(at) {
        let next = entry.get(at + 1);
        match byte {
            b'\\' if quote != Some(b'\'') => at += 1,
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => {}
            b'(' if depth > 0 => depth += 1,
            b')' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            b'<' | b'>' | b'$' | b'!' | b'@' | b'?' | b'+' | b'*' if next == Some(&b'(') => {
                depth = 1;
                at += 1;
            }
            _ if WORD_DELIMITERS.contains(&byte) => return at,
            b'\'' | b'"' | b'`' => quote = Some(byte),
            _ => {}
        }
        at += 1;
    }
    entry.len()
}
