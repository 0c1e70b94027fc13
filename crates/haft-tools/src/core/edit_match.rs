//! Finds the text to replace, or the most similar lines if it does not occur.

/// Positions of `wanted` in `text`, without overlaps.
pub(super) fn positions(text: &[u8], wanted: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(place) = find(&text[from..], wanted) {
        found.push(from + place);
        from += place + wanted.len();
    }
    found
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(place) = text[from..].iter().position(|byte| *byte == first) {
        let start = from + place;
        if text[start..].starts_with(wanted) {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

/// Line number of a byte position.
pub(super) fn line_of(text: &[u8], place: usize) -> usize {
    text[..place].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Returns true if at least half of the lines end with CRLF.
pub(super) fn has_carriage_returns(text: &[u8]) -> bool {
    let newlines = text.iter().filter(|byte| **byte == b'\n').count();
    let returns = text.windows(2).filter(|pair| pair == b"\r\n").count();
    returns > 0 && returns * 2 >= newlines
}

/// Converts line endings to CRLF.
pub(super) fn with_carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Maximum number of lines to compare.
const MAX_COMPARED_LINES: usize = 50_000;
/// Minimum similarity of a suggestion.
const MIN_LINE_SIMILARITY: f64 = 0.5;

/// The lines most similar to the wanted ones, with the number of the first.
pub(super) fn nearest(text: &[u8], wanted: &str) -> Option<(usize, String)> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().take(MAX_COMPARED_LINES).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let (anchor, key) = wanted
        .iter()
        .enumerate()
        .map(|(index, line)| (index, line.trim()))
        .max_by_key(|(_, line)| line.len().min(200))?;
    let score = |line: &str| similarity(line.trim(), key);
    let (place, score) = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (index, score(line)))
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    if score < MIN_LINE_SIMILARITY {
        return None;
    }
    let first = place.saturating_sub(anchor);
    let last = (first + wanted.len().clamp(1, 20)).min(lines.len());
    Some((first + 1, lines[first..last].join("\n")))
}

/// Similarity of two lines. Lines of very different length are not compared.
fn similarity(one: &str, other: &str) -> f64 {
    let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
    if longer == 0 || shorter * 3 < longer || longer > 1000 {
        return 0.0;
    }
    strsim::normalized_levenshtein(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_do_not_overlap() {
        assert_eq!(positions(b"aaaa", b"aa"), [0, 2]);
        assert_eq!(positions(b"a\0b\0", b"\0"), [1, 3]);
        assert_eq!(positions(b"abc", b"x"), Vec::<usize>::new());
        assert_eq!(positions(b"abc", b""), Vec::<usize>::new());
    }

    #[test]
    fn the_most_similar_lines_are_found_by_the_longest_wanted_line() {
        let text = b"fn one() {\n    let x = 1;\n    call(x, 2);\n}\n";
        let wanted = "    let x = 1;\n    call(x, 3);\n";
        assert_eq!(nearest(text, wanted), Some((2, "    let x = 1;\n    call(x, 2);".to_owned())));
        assert_eq!(nearest(text, "nothing of the kind at all"), None);
    }
}
