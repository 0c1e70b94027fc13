//! History: expansion of references such as `!!`, `!git:2` and `^old^new^`, and the lines of commands as one entry.
//!
//! A line is expanded before it is parsed. Backslashes and single quotes protect a reference, double quotes only in POSIX mode.
//! A `!` of the shell's own syntax is left alone if the line has no other reference: `$!`, `${!name}`, `[!a]`, `!(…)`.
//!
//! ```
//! use haft_text::history::{ExpansionMemory, ExpansionOptions, expand};
//!
//! let events: [&[u8]; 2] = [b"make all", b"ls -l /tmp"];
//! let mut memory = ExpansionMemory::default();
//! let expanded = expand(b"cd !$ && !m", &events, 1, ExpansionOptions::default(), &mut memory);
//! assert_eq!(expanded.unwrap().unwrap().text, b"cd /tmp && make all");
//! ```

mod inhibit;
mod join;
mod modifier;
mod reference;
mod words;

pub use join::{EntryJoiner, LineJoin};
pub use words::split_words;

/// The characters of history expansion: the value of `histchars`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryCharacters {
    /// Starts a reference: `!`.
    pub reference: u8,
    /// Starts a substitution in the last command at the beginning of a line: `^`.
    pub substitution: u8,
    /// Starts a comment: `#`; 0 if there are no comments.
    pub comment: u8,
}

impl Default for HistoryCharacters {
    fn default() -> Self {
        Self { reference: b'!', substitution: b'^', comment: b'#' }
    }
}

impl HistoryCharacters {
    /// Reads the value of `histchars`. Characters that it lacks are unchanged.
    #[must_use]
    pub fn parse(value: &[u8]) -> Self {
        let default = Self::default();
        let at = |place: usize, other: u8| value.get(place).copied().unwrap_or(other);
        Self {
            reference: at(0, default.reference),
            substitution: at(1, default.substitution),
            comment: at(2, default.comment),
        }
    }
}

/// How a line is expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpansionOptions {
    /// The special characters.
    pub characters: HistoryCharacters,
    /// The quote that an earlier line of the same command has opened: `'` or `"`.
    pub open_quote: Option<u8>,
    /// Whether double quotes protect references.
    pub posix: bool,
    /// Whether `!(…)` is a pattern.
    pub extglob: bool,
}

/// State for later references: the last search and the last substitution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpansionMemory {
    search: Option<Vec<u8>>,
    /// The word that the last search has found: `!%`.
    found: Option<Vec<u8>>,
    substitution: Option<(Vec<u8>, Vec<u8>)>,
}

/// An expanded line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedLine {
    /// The text.
    pub text: Vec<u8>,
    /// Whether the line is only printed and remembered: `:p`.
    pub is_printed_only: bool,
}

/// The state of one expansion.
struct LineExpansion<'a> {
    events: &'a [&'a [u8]],
    /// The number of the first event.
    first_number: usize,
    options: ExpansionOptions,
    memory: &'a mut ExpansionMemory,
}

/// Expands the references of a line. `events` are the entries of the history, the latest last; `first_number` is the number of the
/// first one. Returns `None` if the line has no reference.
///
/// # Errors
/// A message, if an event or a word does not exist, or a modifier is wrong.
pub fn expand(
    line: &[u8],
    events: &[&[u8]],
    first_number: usize,
    options: ExpansionOptions,
    memory: &mut ExpansionMemory,
) -> Result<Option<ExpandedLine>, Vec<u8>> {
    let mut expansion = LineExpansion { events, first_number, options, memory };
    if line.first() == Some(&options.characters.substitution) {
        let mark = options.characters.reference;
        let line = [&[mark, mark, b':', b's'], line].concat();
        return expansion.run(&line).map(Some);
    }
    match inhibit::has_reference(line, options) {
        true => expansion.run(line).map(Some),
        false => Ok(None),
    }
}

impl LineExpansion<'_> {
    fn run(&mut self, line: &[u8]) -> Result<ExpandedLine, Vec<u8>> {
        let mut result = ExpandedLine { text: Vec::with_capacity(line.len()), is_printed_only: false };
        let characters = self.options.characters;
        let mut in_double = self.options.open_quote == Some(b'"');
        let mut at = 0;
        if self.options.open_quote == Some(b'\'') {
            at = inhibit::single_quoted_end(line, 0, false).map_or(line.len(), |end| end + 1);
            result.text.extend_from_slice(&line[..at]);
        }
        while let Some(&byte) = line.get(at) {
            let end = match byte {
                byte if byte == characters.reference
                    && inhibit::is_candidate(line, at, in_double)
                    && !self.is_inhibited(&result.text, line, at) =>
                {
                    let quote = in_double.then_some(b'"');
                    at = self.reference(line, at, quote, &mut result)?;
                    continue;
                }
                byte if byte == characters.comment && !in_double && inhibit::starts_word(line, at) => {
                    line.len()
                }
                b'\\' => (at + 2).min(line.len()),
                b'\'' if !in_double => {
                    let escapes = at > 0 && line[at - 1] == b'$';
                    inhibit::single_quoted_end(line, at + 1, escapes).map_or(line.len(), |end| end + 1)
                }
                _ => at + 1,
            };
            in_double ^= byte == b'"';
            result.text.extend_from_slice(&line[at..end]);
            at = end;
        }
        Ok(result)
    }

    /// Whether the shell's syntax uses the mark at `at`. bash looks at the expanded text, and of what follows at one character only.
    fn is_inhibited(&self, before: &[u8], line: &[u8], at: usize) -> bool {
        let mut text = before.to_vec();
        text.extend_from_slice(&line[at..(at + 2).min(line.len())]);
        inhibit::is_inhibited(&text, before.len(), self.options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [&[u8]; 3] =
        [b"git commit -m 'a b'", b"ls -l /tmp/dir/file.tar.gz", b"echo one two three > out; date"];

    fn expanded(line: &str) -> Result<Option<ExpandedLine>, String> {
        let mut memory = ExpansionMemory::default();
        expand(line.as_bytes(), &EVENTS, 1, ExpansionOptions::default(), &mut memory)
            .map_err(|message| String::from_utf8(message).unwrap())
    }

    #[test]
    fn events_words_and_modifiers_are_expanded() {
        for (text, expected) in [
            ("sudo !!", "sudo echo one two three > out; date"),
            ("!1", "git commit -m 'a b'"),
            ("!-2 -a", "ls -l /tmp/dir/file.tar.gz -a"),
            ("!git", "git commit -m 'a b'"),
            ("!?/dir/?:1 !%", "-l /tmp/dir/file.tar.gz"),
            ("cat !$", "cat date"),
            ("cat !ls:$ !ls:^", "cat /tmp/dir/file.tar.gz -l"),
            ("x !git:*", "x commit -m 'a b'"),
            ("x !git:2-3", "x -m 'a b'"),
            ("x !git:2*", "x -m 'a b'"),
            ("x !git:1-", "x commit -m"),
            ("x !git-1", "x git commit"),
            ("x !!:4", "x >"),
            ("x \"!ls:$\"", "x \"/tmp/dir/file.tar.gz\""),
            ("cd !ls:$:h", "cd /tmp/dir"),
            ("x !ls:$:t:r !ls:$:e", "x file.tar .gz"),
            ("!git:s/commit/add/", "git add -m 'a b'"),
            ("!git:s/commit/& -v/:&", "git commit -v -v -m 'a b'"),
            ("!!:gs/o/0", "ech0 0ne tw0 three > 0ut; date"),
            ("!!:Gs/o/0", "ech0 0ne tw0 three > 0ut; date"),
            ("^three^3", "echo one two 3 > out; date"),
            ("^three^3^ x", "echo one two 3 > out; date x"),
            ("!!!", "echo one two three > out; date!"),
            ("x !git:$:q !git:*:x", "x ''\\''a b'\\''' 'commit' '-m' ''\\''a' 'b'\\'''"),
            ("a !#:0", "a a"),
        ] {
            let line = expanded(text).map(|line| String::from_utf8(line.unwrap().text).unwrap());
            assert_eq!(line.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn the_print_modifier_does_not_run_the_line() {
        let expected = ExpandedLine { text: b"ls -l /tmp/dir/file.tar.gz".to_vec(), is_printed_only: true };
        assert_eq!(expanded("!ls:p"), Ok(Some(expected)));
    }

    #[test]
    fn exclamation_marks_of_the_shell_are_left_alone() {
        for text in [
            "! true",
            "[ a != b ]",
            "echo $! ${!name} \"hi!\" 'a !! b' \\!! !",
            "ls [!a]*",
            "if ! grep x; then :; fi",
            "a ^b^c",
            "say \"wow!\"; true # !!",
            "echo \"$(echo '!!')\"",
            "echo \"$( echo \"!\" )\"",
        ] {
            assert_eq!(expanded(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn missing_events_and_words_are_errors() {
        for (text, expected) in [
            ("!nothing x", "!nothing: event not found"),
            ("!99", "!99: event not found"),
            ("!!:9", ":9: bad word specifier"),
            ("!!:z", "z: unrecognized history modifier"),
            ("!!:&", ":&: no previous substitution"),
            ("^missing^x", ":s^missing^x: substitution failed"),
        ] {
            assert_eq!(expanded(text), Err(expected.to_owned()), "{text}");
        }
    }
}
