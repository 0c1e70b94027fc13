//! ToolFinding the text to be replaced, and what is nearest to it where it is not there.

/// Where `wanted` stands in `text`, without overlaps.
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

/// The number of the line that a byte is in.
pub(super) fn line_of(text: &[u8], place: usize) -> usize {
    text[..place].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Whether most lines of a text end with a carriage return.
pub(super) fn has_carriage_returns(text: &[u8]) -> bool {
    let newlines = text.iter().filter(|byte| **byte == b'\n').count();
    let returns = text.windows(2).filter(|pair| pair == b"\r\n").count();
    returns > 0 && returns * 2 >= newlines
}

/// The same text with carriage returns before its newlines.
pub(super) fn with_carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// More lines than this are not searched for what is nearest.
const MOST_LINES: usize = 50_000;
/// What is less alike than this is not worth showing.
const ALIKE: f64 = 0.5;

/// The lines of a text that are most like the wanted ones: the number of the first, and the lines.
pub(super) fn nearest(text: &[u8], wanted: &str) -> Option<(usize, String)> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let (anchor, key) = wanted
        .iter()
        .enumerate()
        .map(|(index, line)| (index, line.trim()))
        .max_by_key(|(_, line)| line.len().min(200))?;
    let likeness = |line: &str| similarity(line.trim(), key);
    let (place, likeness) = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (index, likeness(line)))
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    if likeness < ALIKE {
        return None;
    }
    let first = place.saturating_sub(anchor);
    let last = (first + wanted.len().clamp(1, 20)).min(lines.len());
    Some((first + 1, lines[first..last].join("\n")))
}

/// How alike two lines are. Lines of very different length are not compared letter by letter.
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
    fn the_nearest_lines_are_found_by_the_longest_wanted_line() {
        let text = b"fn one() {\n    let x = 1;\n    call(x, 2);\n}\n";
        let wanted = "    let x = 1;\n    call(x, 3);\n";
        assert_eq!(nearest(text, wanted), Some((2, "    let x = 1;\n    call(x, 2);".to_owned())));
        assert_eq!(nearest(text, "nothing of the kind at all"), None);
    }
}
