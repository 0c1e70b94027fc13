//! Parsing of the options of builtins.

use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;

/// Parses the options before the operands: letters after a dash, several in one word, values in the same word or the next. `--` ends
/// the options.
#[derive(Debug)]
pub(super) struct OptionParser<'a> {
    arguments: &'a [Bytes],
    index: usize,
    /// The index of the next letter in the current word; 0 between words.
    letter: usize,
    /// Whether words that begin with `+` are options too.
    plus: bool,
}

/// An option of a builtin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OptionFlag<'a> {
    pub(super) letter: u8,
    /// The value, if it is a word of its own.
    pub(super) value: Option<&'a Bytes>,
    /// The value, if it is the rest of the word with the option.
    pub(super) attached: Option<&'a [u8]>,
    /// Whether it is written with `+`.
    pub(super) plus: bool,
}

impl<'a> OptionFlag<'a> {
    /// Returns the value; empty if there is none.
    pub(super) fn text(&self) -> &'a [u8] {
        self.attached.or(self.value.map(Bytes::as_bytes)).unwrap_or_default()
    }
}

/// The error message for an invalid option, in the words of bash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadOption(pub(super) String);

impl std::fmt::Display for BadOption {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'a> OptionParser<'a> {
    pub(super) fn new(arguments: &'a [Bytes]) -> Self {
        Self { arguments, index: 0, letter: 0, plus: false }
    }

    /// Like [`OptionParser::new`], but `+x` is an option too.
    pub(super) fn with_plus(arguments: &'a [Bytes]) -> Self {
        Self { plus: true, ..Self::new(arguments) }
    }

    /// Returns the next option. `known` lists the letters, each with a colon after it if it takes a value.
    pub(super) fn next(&mut self, known: &str) -> Result<Option<OptionFlag<'a>>, BadOption> {
        let Some(word) = self.arguments.get(self.index) else { return Ok(None) };
        if self.letter == 0 {
            let sign = word.first().copied();
            if word.len() < 2 || !(sign == Some(b'-') || (self.plus && sign == Some(b'+'))) {
                return Ok(None);
            }
            if word.as_bytes() == b"--" {
                self.index += 1;
                return Ok(None);
            }
            self.letter = 1;
        }
        let plus = word.first() == Some(&b'+');
        let letter = word[self.letter];
        self.letter += 1;
        let Some(takes) = takes_value(known, letter) else { return Err(invalid(plus, letter)) };
        let rest = &word.as_bytes()[self.letter..];
        if !takes {
            if rest.is_empty() {
                self.next_word();
            }
            return Ok(Some(OptionFlag { letter, value: None, attached: None, plus }));
        }
        self.next_word();
        if !rest.is_empty() {
            return Ok(Some(OptionFlag { letter, value: None, attached: Some(rest), plus }));
        }
        let value = self.arguments.get(self.index);
        self.index += 1;
        match value {
            Some(value) => Ok(Some(OptionFlag { letter, value: Some(value), attached: None, plus })),
            None => Err(BadOption(format!("-{}: option requires an argument", char::from(letter)))),
        }
    }

    fn next_word(&mut self) {
        self.index += 1;
        self.letter = 0;
    }

    /// Returns the operands, after the last option.
    pub(super) fn rest(&self) -> &'a [Bytes] {
        self.arguments.get(self.index..).unwrap_or_default()
    }
}

/// Parses all options, and returns them with the operands. For an invalid option it prints a usage error, and returns the result of
/// the builtin as an error.
pub(super) fn parse<'a>(
    context: &mut Context<'_>,
    arguments: &'a [Bytes],
    known: &str,
) -> Result<(Vec<OptionFlag<'a>>, &'a [Bytes]), Flow> {
    let mut options = OptionParser::new(arguments);
    let mut flags = Vec::new();
    loop {
        match options.next(known) {
            Ok(Some(flag)) => flags.push(flag),
            Ok(None) => return Ok((flags, options.rest())),
            Err(bad) => return Err(context.usage(bad)),
        }
    }
}

/// Tells whether an option is given.
pub(super) fn has(flags: &[OptionFlag<'_>], letter: u8) -> bool {
    flags.iter().any(|flag| flag.letter == letter)
}

fn takes_value(known: &str, letter: u8) -> Option<bool> {
    let known = known.as_bytes();
    let at = known.iter().position(|candidate| *candidate == letter && letter != b':')?;
    Some(known.get(at + 1) == Some(&b':'))
}

fn invalid(plus: bool, letter: u8) -> BadOption {
    let sign = if plus { '+' } else { '-' };
    BadOption(format!("{sign}{}: invalid option", char::from(letter)))
}
