//! Parses arguments like GNU `getopt_long`: bundled short options, abbreviated long options, `--`, options
//! after operands.

use crate::plan::builtin::without_prefix;
use crate::plan::step::PlannedWord;

/// The options of a command.
#[derive(Clone, Copy)]
pub(super) struct OptionSyntax {
    /// Short options, as in `getopt(3)`: `a` takes no value, `a:` takes one, `a::` takes one in the same
    /// word. With a leading `+`, the first operand ends the options.
    pub(super) short: &'static str,
    /// Long options, separated by spaces: `name` takes no value, `name=` takes one, `name=?` takes one only
    /// after `=`.
    pub(super) long: &'static str,
}

/// A parsed option or operand.
pub(super) enum ParsedArgument {
    /// An option with its value. The name is spelled as in the syntax.
    Option(&'static str, Option<PlannedWord>),
    /// An operand.
    Operand(PlannedWord),
}

/// Parsed arguments.
#[derive(Default)]
pub(super) struct ParsedArguments {
    /// The base name of the command.
    pub(super) command: Vec<u8>,
    /// Options and operands in order.
    pub(super) events: Vec<ParsedArgument>,
    /// Whether there is an unknown option, whose value may be the next word.
    pub(super) unknown: bool,
    /// The number of operands before `--`; `None` without `--`.
    pub(super) before_dashes: Option<usize>,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionArity {
    Nothing,
    Value,
    SameWord,
}

impl ParsedArguments {
    /// Returns the operands.
    pub(super) fn operands(&self) -> impl DoubleEndedIterator<Item = &PlannedWord> {
        self.events.iter().filter_map(|event| match event {
            ParsedArgument::Operand(item) => Some(item),
            ParsedArgument::Option(..) => None,
        })
    }

    /// Whether one of these options is given. Names are separated by spaces.
    pub(super) fn has(&self, names: &str) -> bool {
        self.events
            .iter()
            .any(|event| matches!(event, ParsedArgument::Option(name, _) if is_among(name, names)))
    }

    /// Returns the values of these options, in order.
    pub(super) fn values<'s>(&'s self, names: &'s str) -> impl DoubleEndedIterator<Item = &'s PlannedWord> {
        self.events.iter().filter_map(move |event| match event {
            ParsedArgument::Option(name, Some(value)) if is_among(name, names) => Some(value),
            _ => None,
        })
    }

    /// Returns the last value of these options.
    pub(super) fn value<'s>(&'s self, names: &'s str) -> Option<&'s PlannedWord> {
        self.values(names).next_back()
    }

    fn operand(&mut self, item: &PlannedWord) {
        self.events.push(ParsedArgument::Operand(item.clone()));
    }
}

/// Whether a list separated by spaces contains a name.
pub(super) fn is_among(name: &str, names: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

impl OptionSyntax {
    /// Parses arguments, without the command name.
    pub(super) fn read(self, items: &[PlannedWord]) -> ParsedArguments {
        let mut arguments = ParsedArguments::default();
        let mut rest = items.iter();
        while let Some(item) = rest.next() {
            let prefix = item.prefix();
            if item.literal() == Some(b"--") {
                arguments.before_dashes = Some(arguments.operands().count());
                break;
            } else if prefix.starts_with(b"--") {
                self.long_option(item, &mut rest, &mut arguments);
            } else if prefix.len() > 1 && prefix[0] == b'-' {
                self.letters(item, &mut rest, &mut arguments);
            } else {
                arguments.operand(item);
                if self.short.starts_with('+') {
                    break;
                }
            }
        }
        rest.for_each(|item| arguments.operand(item));
        arguments
    }

    fn long_option(
        self,
        item: &PlannedWord,
        rest: &mut std::slice::Iter<'_, PlannedWord>,
        arguments: &mut ParsedArguments,
    ) {
        let prefix = item.prefix();
        let equals = memchr::memchr(b'=', prefix);
        let end = equals.unwrap_or(prefix.len());
        let known = self.long_name(&prefix[2..end]).filter(|_| equals.is_some() || item.literal().is_some());
        let Some((name, takes)) = known else {
            arguments.unknown = true;
            return;
        };
        let value = match equals {
            Some(at) => Some(without_prefix(item, at + 1)),
            None if takes == OptionArity::Value => rest.next().cloned(),
            None => None,
        };
        arguments.events.push(ParsedArgument::Option(name, value));
    }

    /// Whether the syntax has an option with this name.
    #[cfg(test)]
    pub(super) fn knows(self, option: &str) -> bool {
        match option.as_bytes() {
            [letter] => self.letter(*letter).is_some(),
            long => self.long_name(long).is_some_and(|(name, _)| name == option),
        }
    }

    /// Returns the long option for a word: its full name or an unambiguous prefix.
    fn long_name(self, word: &[u8]) -> Option<(&'static str, OptionArity)> {
        const COMMON: &str = " help version";
        let words = self.long.split_ascii_whitespace().chain(COMMON.split_ascii_whitespace());
        let options = words.map(|option| match option.split_once('=') {
            None => (option, OptionArity::Nothing),
            Some((name, "")) => (name, OptionArity::Value),
            Some((name, _)) => (name, OptionArity::SameWord),
        });
        let mut near = options.clone().filter(|(name, _)| name.as_bytes().starts_with(word));
        let exact = options.clone().find(|(name, _)| name.as_bytes() == word);
        exact.or_else(|| near.next().filter(|_| near.next().is_none()))
    }

    fn letters(
        self,
        item: &PlannedWord,
        rest: &mut std::slice::Iter<'_, PlannedWord>,
        arguments: &mut ParsedArguments,
    ) {
        let prefix = item.prefix();
        for (at, letter) in prefix.iter().enumerate().skip(1) {
            let Some((name, takes)) = self.letter(*letter) else {
                arguments.unknown = true;
                return;
            };
            let more = item.literal().is_none_or(|word| word.len() > at + 1);
            let value = match takes {
                OptionArity::Nothing => {
                    arguments.events.push(ParsedArgument::Option(name, None));
                    continue;
                }
                _ if more => Some(without_prefix(item, at + 1)),
                OptionArity::Value => rest.next().cloned(),
                OptionArity::SameWord => None,
            };
            arguments.events.push(ParsedArgument::Option(name, value));
            return;
        }
        // The rest of the word is not known: more options, or a value.
        arguments.unknown |= item.literal().is_none();
    }

    /// Returns the short option for a letter.
    fn letter(self, letter: u8) -> Option<(&'static str, OptionArity)> {
        let bytes = self.short.as_bytes();
        let at = bytes.iter().position(|known| *known == letter && !b"+:".contains(known))?;
        let takes = match (bytes.get(at + 1), bytes.get(at + 2)) {
            (Some(b':'), Some(b':')) => OptionArity::SameWord,
            (Some(b':'), _) => OptionArity::Value,
            _ => OptionArity::Nothing,
        };
        self.short.get(at..=at).map(|name| (name, takes))
    }

    /// Parses arguments whose first word may be short options without a dash, as in `tar xzf FILE`.
    pub(super) fn read_old_style(self, items: &[PlannedWord]) -> ParsedArguments {
        let first = items.first().and_then(PlannedWord::literal);
        let Some(letters) = first.filter(|word| !word.starts_with(b"-") && !word.is_empty()) else {
            return self.read(items);
        };
        let mut rest = items[1..].iter();
        let mut arguments = ParsedArguments::default();
        for letter in letters {
            match self.letter(*letter) {
                Some((name, takes)) => {
                    let value = (takes == OptionArity::Value).then(|| rest.next().cloned()).flatten();
                    arguments.events.push(ParsedArgument::Option(name, value));
                }
                None => arguments.unknown = true,
            }
        }
        let mut others = self.read(rest.as_slice());
        arguments.events.append(&mut others.events);
        ParsedArguments { unknown: arguments.unknown | others.unknown, ..arguments }
    }
}

/// Returns all arguments as operands, for commands with another syntax.
pub(super) fn operands_only(items: &[PlannedWord]) -> ParsedArguments {
    let events = items.iter().cloned().map(ParsedArgument::Operand).collect();
    ParsedArguments { events, ..ParsedArguments::default() }
}
