//! The words of a command line, as `COMP_WORDS` has them.

use haft_text::Bytes;

use super::word_list::part_length;

/// The words of a command line, and the word at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineWords {
    pub(super) words: Vec<Bytes>,
    /// The number of the word at the cursor, counted from 1.
    pub(super) number: usize,
}

/// Splits a line at the characters of `COMP_WORDBREAKS`. Breaks that are not blanks are words themselves.
pub(super) fn split(line: &[u8], breaks: &[u8], cursor: usize) -> LineWords {
    let mut split = LineWords::default();
    let mut found = None;
    let mut start = skip_blanks(line, breaks, 0);
    let mut end = 0;
    while start < line.len() {
        end = word_end(line, breaks, start);
        split.words.push(line[start..end].into());
        let count = split.words.len();
        if (start..=end).contains(&cursor) || (found.is_none() && cursor + 1 == start) {
            found = Some(count);
        } else if found.is_none() && cursor < start {
            split.words.insert(count - 1, Bytes::default());
            found = Some(count);
        }
        start = skip_blanks(line, breaks, end);
    }
    if found.is_none() && cursor >= end {
        if cursor.checked_sub(1).and_then(|before| line.get(before)).is_some_and(u8::is_ascii_whitespace) {
            split.words.push(Bytes::default());
        }
        found = Some(split.words.len());
    }
    split.number = found.unwrap_or(0);
    split
}

fn skip_blanks(line: &[u8], breaks: &[u8], start: usize) -> usize {
    let blanks = line[start..].iter().take_while(|byte| byte.is_ascii_whitespace() && breaks.contains(byte));
    start + blanks.count()
}

/// The end of the word that begins here: of a run of breaks, or before the next break that is not quoted.
fn word_end(line: &[u8], breaks: &[u8], start: usize) -> usize {
    let is_break = |byte: &u8| breaks.contains(byte) && !matches!(byte, b'\'' | b'"');
    let is_operator = |byte: &u8| is_break(byte) && !byte.is_ascii_whitespace();
    let run = line[start..].iter().take_while(|byte| is_operator(byte)).count();
    if run > 0 {
        return start + run;
    }
    let mut end = start;
    while line.get(end).is_some_and(|byte| !is_break(byte)) {
        end += part_length(&line[end..]);
    }
    end.max(start + 1).min(line.len())
}

/// The start of the text before the cursor that is completed: after the last break or open quote.
pub(super) fn completed_start(before: &[u8], breaks: &[u8]) -> usize {
    let (mut at, mut start) = (0, 0);
    while at < before.len() {
        let byte = before[at];
        let length = part_length(&before[at..]);
        let is_open_quote = matches!(byte, b'\'' | b'"')
            && at + length == before.len()
            && (length == 1 || before[at + length - 1] != byte);
        if is_open_quote || (breaks.contains(&byte) && !matches!(byte, b'\'' | b'"')) {
            start = at + 1;
        }
        at += length;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKS: &[u8] = b" \t\n\"'@><=;|&(:";

    fn shown(line: &str) -> String {
        let cursor = line.find('^').unwrap_or(line.len());
        let line = line.replace('^', "");
        let split = split(line.as_bytes(), BREAKS, cursor);
        let words: Vec<String> = split.words.iter().map(ToString::to_string).collect();
        format!("{}|{}", words.join(","), split.number)
    }

    #[test]
    fn lines_are_split_at_word_breaks() {
        for (line, expected) in [
            ("git comm", "git,comm|2"),
            ("git ", "git,|2"),
            ("git co^mm x", "git,comm,x|2"),
            ("git ^  x", "git,,x|2"),
            ("git  ^ x", "git,x|2"),
            ("cmd --opt=val", "cmd,--opt,=,val|4"),
            ("cmd --opt=", "cmd,--opt,=|3"),
            ("scp host:a::b", "scp,host,:,a,::,b|6"),
            ("cmd 'a b' c", "cmd,'a b',c|3"),
            ("cmd \"a b", "cmd,\"a b|2"),
            ("cmd a\\ b", "cmd,a\\ b|2"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn the_completed_text_begins_after_a_break_or_an_open_quote() {
        for (before, start) in
            [("git co", 4), ("cmd --opt=v", 10), ("cmd 'a b", 5), ("cmd a\\ b", 4), ("cmd 'x' b", 8), ("", 0)]
        {
            assert_eq!(completed_start(before.as_bytes(), BREAKS), start, "{before}");
        }
    }
}
