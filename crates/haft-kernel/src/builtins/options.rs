//! Options of builtins.

use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;

/// Goes through the options before the operands, as all builtins take them: letters after a dash, several in one word, values in
/// the same word or the next; `--` ends them.
#[derive(Debug)]
pub(super) struct Options<'a> {
    arguments: &'a [Bytes],
    index: usize,
    /// Where in the current word the next letter is; 0 between words.
    letter: usize,
    /// Whether `+` begins options too.
    plus: bool,
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flag<'a> {
    pub(super) letter: u8,
    /// The value, if the option takes one.
    pub(super) value: Option<&'a Bytes>,
    /// The rest of the word that the value is, if it was not a word of its own.
    pub(super) attached: Option<&'a [u8]>,
    /// Whether it was written with `+`.
    pub(super) plus: bool,
}

impl<'a> Flag<'a> {
    /// The value, wherever it was written.
    pub(super) fn text(&self) -> &'a [u8] {
        self.attached.or(self.value.map(Bytes::as_bytes)).unwrap_or_default()
    }
}

/// What is wrong with an option, as bash words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadOption(pub(super) String);

impl std::fmt::Display for BadOption {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'a> Options<'a> {
    pub(super) fn new(arguments: &'a [Bytes]) -> Self {
        Self { arguments, index: 0, letter: 0, plus: false }
    }

    /// The same, with `+x` as an option too.
    pub(super) fn with_plus(arguments: &'a [Bytes]) -> Self {
        Self { plus: true, ..Self::new(arguments) }
    }

    /// The next option. `known` lists the letters, each with a colon after it if it takes a value.
    pub(super) fn next(&mut self, known: &str) -> Result<Option<Flag<'a>>, BadOption> {
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
            return Ok(Some(Flag { letter, value: None, attached: None, plus }));
        }
        self.next_word();
        if !rest.is_empty() {
            return Ok(Some(Flag { letter, value: None, attached: Some(rest), plus }));
        }
        let value = self.arguments.get(self.index);
        self.index += 1;
        match value {
            Some(value) => Ok(Some(Flag { letter, value: Some(value), attached: None, plus })),
            None => Err(BadOption(format!("-{}: option requires an argument", char::from(letter)))),
        }
    }

    fn next_word(&mut self) {
        self.index += 1;
        self.letter = 0;
    }

    /// The operands, once there is no further option.
    pub(super) fn rest(&self) -> &'a [Bytes] {
        self.arguments.get(self.index..).unwrap_or_default()
    }
}

/// All options and the operands, or how the builtin ends if an option is none of those known.
pub(super) fn parse<'a>(
    context: &mut Context<'_>,
    arguments: &'a [Bytes],
    known: &str,
) -> Result<(Vec<Flag<'a>>, &'a [Bytes]), Flow> {
    let mut options = Options::new(arguments);
    let mut flags = Vec::new();
    loop {
        match options.next(known) {
            Ok(Some(flag)) => flags.push(flag),
            Ok(None) => return Ok((flags, options.rest())),
            Err(bad) => return Err(context.usage(bad)),
        }
    }
}

/// Whether a letter is among the options.
pub(super) fn has(flags: &[Flag<'_>], letter: u8) -> bool {
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
