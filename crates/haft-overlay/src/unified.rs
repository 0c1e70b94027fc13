//! The difference of two texts in the unified format of `diff -u`.

use std::io::{self, Write};
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// The lines around a change.
const CONTEXT_LINES: u32 = 3;

/// The names of the two texts in the header.
pub(crate) struct Names<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
}

/// Writes the lines that differ. Equal texts write nothing.
pub(crate) fn write(old: &[u8], new: &[u8], names: &Names<'_>, writer: &mut dyn Write) -> io::Result<()> {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    if hunks.is_empty() {
        return Ok(());
    }
    write!(writer, "--- {}\n+++ {}\n", names.old, names.new)?;
    let text = Texts { input: &input, old_lines: line_number(input.before.len()) };
    hunks
        .chunk_by(|first, second| second.before.start - first.before.end <= 2 * CONTEXT_LINES)
        .try_for_each(|group| text.write_group(group, writer))
}

/// Both texts as lines.
struct Texts<'a> {
    input: &'a InternedInput<&'a [u8]>,
    old_lines: u32,
}

impl Texts<'_> {
    /// Writes changes that are close to each other, with the lines around them.
    fn write_group(&self, group: &[Hunk], writer: &mut dyn Write) -> io::Result<()> {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return Ok(()) };
        let before = CONTEXT_LINES.min(first.before.start);
        let after = CONTEXT_LINES.min(self.old_lines - last.before.end);
        let old = first.before.start - before..last.before.end + after;
        let new = first.after.start - before..last.after.end + after;
        writeln!(writer, "@@ -{} +{} @@", position(&old), position(&new))?;
        let mut at = old.start;
        for hunk in group {
            self.write_old(b' ', at..hunk.before.start, writer)?;
            self.write_old(b'-', hunk.before.clone(), writer)?;
            for index in hunk.after.clone() {
                let line = self.input.interner[self.input.after[index as usize]];
                write_line(b'+', line, writer)?;
            }
            at = hunk.before.end;
        }
        self.write_old(b' ', at..old.end, writer)
    }

    fn write_old(&self, sign: u8, lines: Range<u32>, writer: &mut dyn Write) -> io::Result<()> {
        for index in lines {
            write_line(sign, self.input.interner[self.input.before[index as usize]], writer)?;
        }
        Ok(())
    }
}

fn write_line(sign: u8, line: &[u8], writer: &mut dyn Write) -> io::Result<()> {
    writer.write_all(&[sign])?;
    writer.write_all(line)?;
    if line.ends_with(b"\n") { Ok(()) } else { writer.write_all(b"\n\\ No newline at end of file\n") }
}

/// The first line and the number of lines. An empty range names the line before it.
fn position(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// The number of lines of a text, which is smaller than the texts that are compared.
fn line_number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        let mut output = Vec::new();
        write(old.as_bytes(), new.as_bytes(), &Names { old: "a", new: "b" }, &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(diff("a\nb", "a\nb"), "");
    }

    #[test]
    fn a_new_and_an_empty_file_start_at_line_zero() {
        assert_eq!(diff("", "x\ny\n"), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n");
        assert_eq!(diff("x\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
    }

    #[test]
    fn a_missing_newline_is_marked() {
        let expected = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n";
        assert_eq!(diff("x\ny", "x\ny\n"), expected);
    }

    #[test]
    fn changes_six_lines_apart_share_a_hunk() {
        let numbers = |changed: &[u32]| -> String {
            (1..=30).map(|n| if changed.contains(&n) { "x\n".to_owned() } else { format!("{n}\n") }).collect()
        };
        let hunks = |changed: &[u32]| {
            diff(&numbers(&[]), &numbers(changed)).lines().filter(|l| l.starts_with("@@")).count()
        };
        assert_eq!(hunks(&[10, 17]), 1);
        assert_eq!(hunks(&[10, 18]), 2);
    }
}
