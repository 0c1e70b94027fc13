//! The lines of a command as one history entry: `cmdhist`.
//!
//! The lines are joined with a semicolon where that means the same, else with a blank or a newline. A small scanner keeps track of
//! quotes, here-documents and the last tokens.

mod scanner;

use scanner::{LineScanner, Token};

/// How a line becomes part of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineJoin {
    /// It is the first line of a command.
    First,
    /// It is left out: a comment or a blank line.
    Skip,
    /// It is appended to the entry after a separator.
    Append {
        /// The separator.
        separator: &'static [u8],
        /// Whether the line is part of a here-document and keeps its newline.
        is_document: bool,
        /// Whether the line is within quotes or a substitution.
        is_delimited: bool,
    },
}

impl LineJoin {
    /// Appends a line to an entry.
    pub fn apply(self, entry: &mut Vec<u8>, line: &[u8]) {
        let Self::Append { mut separator, is_document, is_delimited } = self else { return };
        if !is_delimited && entry.ends_with(b"\\") && !entry.ends_with(b"\\\\") {
            entry.pop();
            separator = b"";
        }
        if !is_delimited && entry.ends_with(b"\n") {
            separator = separator.strip_prefix(b";").unwrap_or(separator);
        }
        entry.extend_from_slice(separator);
        entry.extend_from_slice(line);
        if is_document {
            entry.push(b'\n');
        }
    }
}

/// Joins the lines of one command.
#[derive(Clone, Debug, Default)]
pub struct EntryJoiner {
    scanner: LineScanner,
    /// The number of lines so far.
    count: usize,
    /// The number of the last line with a comment; 0 without one.
    comment: usize,
}

impl EntryJoiner {
    /// The quote that is open after the lines so far, if it is the innermost construct.
    #[must_use]
    pub fn open_quote(&self) -> Option<u8> {
        self.scanner.innermost().filter(|delimiter| matches!(delimiter, b'\'' | b'"'))
    }

    /// Whether the next line is part of a here-document.
    #[must_use]
    pub fn is_in_document(&self) -> bool {
        self.scanner.is_in_document()
    }

    /// The number of lines so far.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.count
    }

    /// Takes the next line, without its newline, and decides how it is joined. `literal` is the option `lithist`.
    pub fn add(&mut self, line: &[u8], literal: bool) -> LineJoin {
        self.count += 1;
        let is_document = self.is_in_document();
        let is_delimited = self.scanner.is_delimited();
        let comment = match is_document || is_delimited {
            true => CommentPlace::None,
            false => comment_place(line),
        };
        let join = match self.count {
            1 => LineJoin::First,
            _ if self.is_skipped(line, literal, comment) => LineJoin::Skip,
            _ => {
                let separator = match self.count == self.comment + 1 && self.comment > 0 && !is_document {
                    true => b"\n",
                    false if literal && !is_document => b"\n",
                    false => self.separator(line),
                };
                LineJoin::Append { separator, is_document, is_delimited }
            }
        };
        let is_blank_outside = line.is_empty() && !is_document && !is_delimited;
        if !is_blank_outside {
            self.comment = if comment == CommentPlace::None { 0 } else { self.count };
        }
        self.scanner.scan(line);
        join
    }

    /// Whether a further line is left out: a comment, or a blank line that needs no separator.
    fn is_skipped(&self, line: &[u8], literal: bool, comment: CommentPlace) -> bool {
        if self.scanner.is_in_document() || self.scanner.is_delimited() {
            return false;
        }
        match line.is_empty() {
            true => !self.separator(line).starts_with(b";"),
            false => comment == CommentPlace::WholeLine && !literal,
        }
    }

    /// The text between a further line and the lines before it.
    fn separator(&self, line: &[u8]) -> &'static [u8] {
        let scanner = &self.scanner;
        if scanner.is_in_document() {
            return if scanner.is_at_document_start() { b"\n" } else { b"" };
        }
        if scanner.is_delimited() {
            return b"\n";
        }
        if scanner.is_in_compound_assignment() {
            return b" ";
        }
        let [before, last] = scanner.tokens_before_newline();
        match (before, last) {
            (Token::Open, Token::Close) => b" ",
            (_, Token::Close) => {
                if scanner.is_in_case() {
                    b" "
                } else {
                    b"; "
                }
            }
            (Token::Function, Token::Word) => b" ",
            _ if memchr::memmem::find(line, b"<<").is_some() => b"\n",
            (Token::For, Token::Word) => {
                if line.trim_ascii_start().starts_with(b"in") {
                    b" "
                } else {
                    b";"
                }
            }
            (Token::Case, Token::Word) => b" ",
            (_, last) if last.needs_no_semicolon() => b" ",
            _ => b"; ",
        }
    }
}

/// The position of the comment in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommentPlace {
    None,
    WholeLine,
    End,
}

fn comment_place(line: &[u8]) -> CommentPlace {
    if line.trim_ascii_start().starts_with(b"#") {
        return CommentPlace::WholeLine;
    }
    match scanner::has_comment(line) {
        true => CommentPlace::End,
        false => CommentPlace::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(lines: &str) -> String {
        let mut joiner = EntryJoiner::default();
        let mut entry = Vec::new();
        for line in lines.lines().map(str::as_bytes) {
            match joiner.add(line, false) {
                LineJoin::First => entry.extend_from_slice(line),
                join => join.apply(&mut entry, line),
            }
        }
        String::from_utf8(entry).unwrap()
    }

    #[test]
    fn lines_are_joined_so_that_the_entry_means_the_same() {
        for (lines, expected) in [
            ("if true\nthen\n  echo a\n\n  echo b\nfi", "if true; then   echo a;    echo b; fi"),
            ("f() {\n  echo x; }", "f() {   echo x; }"),
            ("case a in\na) echo y\n;;\nesac", "case a in a) echo y; ;; esac"),
            ("for i in 1 2\ndo echo $i\ndone", "for i in 1 2; do echo $i; done"),
            ("for i\ndo :\ndone", "for i;do :; done"),
            ("x=(a\nb c\n)", "x=(a b c )"),
            ("echo \"a\nb\" 'c\n\nd'", "echo \"a\nb\" 'c\n\nd'"),
            ("echo $(echo x\necho y)", "echo $(echo x\necho y)"),
            ("echo a \\\nb", "echo a b"),
            ("true &&\necho k", "true && echo k"),
            ("(echo z\n)", "(echo z; )"),
            ("cat <<E; echo after\nx y\n\nz\nE", "cat <<E; echo after\nx y\n\nz\nE\n"),
            ("cat <<'E' &&\nx $(\nE\necho r", "cat <<'E' &&\nx $(\nE\n echo r"),
            ("function g\n{\n:\n}", "function g { :; }"),
            ("if a # b\nthen b\nfi", "if a # b\nthen b; fi"),
        ] {
            assert_eq!(entry(lines), expected, "{lines}");
        }
    }
}
