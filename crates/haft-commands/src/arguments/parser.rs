//! Splits a command line into options and values.

use haft_kernel::TypedArgument;

use super::value::{from_json, from_text};
use super::{ArgumentValue, CommandArguments};
use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, ParameterKind};
use crate::error::{Error, ErrorKind};

/// A cursor over the arguments of one call.
pub(super) struct ArgumentParser<'a> {
    descriptor: &'a CommandDescriptor,
    arguments: &'a [TypedArgument<'a>],
    position: usize,
    parsed: CommandArguments,
}

impl<'a> ArgumentParser<'a> {
    pub(super) fn new(descriptor: &'a CommandDescriptor, arguments: &'a [TypedArgument<'a>]) -> Self {
        Self { descriptor, arguments, position: 0, parsed: CommandArguments::default() }
    }

    pub(super) fn parse(mut self) -> Result<CommandArguments, Error> {
        while let Some(argument) = self.arguments.get(self.position) {
            let word: &'a [u8] = match argument {
                TypedArgument::Value { name, value, .. } => {
                    self.position += 1;
                    let parameter = self.find_parameter(name)?;
                    let value = from_json(parameter, value)?;
                    self.parsed.values.push((parameter.name, value));
                    continue;
                }
                TypedArgument::Word(word) => word,
            };
            match (word, self.descriptor.style) {
                (b"--", _) => {
                    self.position += 1;
                    break;
                }
                (b"--help", _) => self.parsed.wants_help = true,
                (b"--version", ArgumentStyle::GnuMixed(_)) => self.parsed.wants_version = true,
                ([b'-', b'-', long @ ..], _) => self.parse_long_option(long)?,
                ([b'-', letters @ ..], _) if !letters.is_empty() => self.parse_short_options(letters)?,
                (_, ArgumentStyle::Gnu(_)) => break,
                (_, ArgumentStyle::GnuMixed(_)) => self.parsed.operands.push(word.into()),
                (word, ArgumentStyle::TypedCommand(_)) if !is_assignment(word) => break,
                (_, ArgumentStyle::Typed | ArgumentStyle::TypedCommand(_)) => self.parse_assignment(word)?,
            }
            self.position += 1;
        }
        self.parsed.option_words = self.position;
        let rest = self.arguments[self.position..].iter().filter_map(|argument| match argument {
            TypedArgument::Word(word) => Some(*word),
            TypedArgument::Value { .. } => None,
        });
        match (self.descriptor.style, rest.clone().next()) {
            (ArgumentStyle::Typed, Some(word)) => return Err(self.unexpected_argument(word)),
            (ArgumentStyle::GnuMixed(_) | ArgumentStyle::TypedCommand(_), _) => {
                self.parsed.operands.extend(rest.cloned());
            }
            _ => {}
        }
        Ok(self.parsed)
    }

    /// An argument after a command that parameters name already.
    pub(super) fn surplus_command(descriptor: &'a CommandDescriptor, word: &[u8]) -> Error {
        Self::new(descriptor, &[]).unexpected_argument(word)
    }

    /// Parses `name=value`.
    fn parse_assignment(&mut self, word: &'a [u8]) -> Result<(), Error> {
        let Some(end) = memchr::memchr(b'=', word) else { return Err(self.unexpected_argument(word)) };
        let parameter = self.find_parameter(&word[..end])?;
        self.push_text(parameter, &word[end + 1..])
    }

    /// Parses `--name`, `--name value` or `--name=value`.
    fn parse_long_option(&mut self, text: &'a [u8]) -> Result<(), Error> {
        let (name, value) = match memchr::memchr(b'=', text) {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (text, None),
        };
        let unknown = || format!("unrecognized option '--{}'", String::from_utf8_lossy(text));
        let parameter = self.find_parameter(name).map_err(|error| error.or_in_words_of_gnu(unknown))?;
        self.parsed.has_abbreviation |= parameter.name.as_bytes() != name;
        match (parameter.kind, value) {
            (ParameterKind::Flag, None) => {
                self.parsed.values.push((parameter.name, ArgumentValue::Flag(true)));
                Ok(())
            }
            (ParameterKind::Flag, Some(_)) if !self.descriptor.style.is_typed() => {
                let message = format!("option '--{}' doesn't allow an argument", parameter.name);
                Err(Error::new(ErrorKind::Value, &message).in_words_of_gnu(&message))
            }
            (_, Some(value)) => self.push_text(parameter, value),
            (ParameterKind::OptionalText, None) => self.push_text(parameter, b""),
            (_, None) => {
                let missing = || format!("option '--{}' requires an argument", parameter.name);
                let value = self.next_word(parameter).map_err(|error| error.in_words_of_gnu(missing()))?;
                self.push_text(parameter, value)
            }
        }
    }

    /// Parses `-n`, `-nvalue`, `-n value`, or several flags in one word.
    fn parse_short_options(&mut self, letters: &'a [u8]) -> Result<(), Error> {
        for (index, letter) in letters.iter().enumerate() {
            let found = self.descriptor.parameters.iter().find(|it| it.letter == Some(char::from(*letter)));
            let Some(parameter) = found else {
                let shown = char::from(*letter);
                return Err(Error::new(ErrorKind::Unknown, format_args!("unknown option '-{shown}'"))
                    .in_words_of_gnu(format_args!("invalid option -- '{shown}'")));
            };
            if parameter.kind == ParameterKind::Flag {
                self.parsed.values.push((parameter.name, ArgumentValue::Flag(true)));
                continue;
            }
            let rest = &letters[index + 1..];
            let optional = parameter.kind == ParameterKind::OptionalText;
            let missing = || format!("option requires an argument -- '{}'", char::from(*letter));
            let value = match rest.is_empty() && !optional {
                true => self.next_word(parameter).map_err(|error| error.in_words_of_gnu(missing()))?,
                false => rest,
            };
            return self.push_text(parameter, value);
        }
        Ok(())
    }

    /// Consumes the next word as the value of `parameter`.
    fn next_word(&mut self, parameter: &CommandParameter) -> Result<&'a [u8], Error> {
        self.position += 1;
        match self.arguments.get(self.position) {
            Some(TypedArgument::Word(word)) => Ok(word),
            _ => {
                let message = format_args!("parameter '{}' requires a value", parameter.name);
                Err(Error::new(ErrorKind::Missing, message))
            }
        }
    }

    fn push_text(&mut self, parameter: &'static CommandParameter, text: &[u8]) -> Result<(), Error> {
        let value = from_text(parameter, text)?;
        self.parsed.values.push((parameter.name, value));
        Ok(())
    }

    /// Finds a parameter by name. GNU options may be abbreviated to an unambiguous prefix.
    fn find_parameter(&self, name: &[u8]) -> Result<&'static CommandParameter, Error> {
        if let Some(parameter) = self.descriptor.parameter(name) {
            return Ok(parameter);
        }
        if !self.descriptor.style.is_typed() {
            let begins = |it: &&'static CommandParameter| {
                // GNU's programs do not have `--json`, so it makes no abbreviation ambiguous.
                it.columns().is_empty() && it.name.as_bytes().starts_with(name)
            };
            let mut matching =
                self.descriptor.parameters.iter().filter(|it| it.has_long_option()).filter(begins);
            if let (Some(parameter), None) = (matching.next(), matching.next()) {
                return Ok(parameter);
            }
        }
        Err(self.unknown_parameter(name))
    }

    fn unknown_parameter(&self, name: &[u8]) -> Error {
        let shown = String::from_utf8_lossy(name);
        let matching = self.descriptor.parameters.iter().filter(|it| it.has_long_option());
        let matching: String = matching
            .filter(|it| it.name.as_bytes().starts_with(name))
            .map(|it| format!(" '--{}'", it.name))
            .collect();
        let error = Error::new(ErrorKind::Unknown, format_args!("unknown parameter '{shown}'"));
        let error = match matching.is_empty() {
            true => error,
            false => error
                .in_words_of_gnu(format_args!("option '--{shown}' is ambiguous; possibilities:{matching}")),
        };
        let distance = |other: &str| strsim::damerau_levenshtein(&shown, other);
        let nearest = self.descriptor.parameters.iter().min_by_key(|it| distance(it.name));
        let similar = nearest.filter(|it| distance(it.name) <= 1.max(it.name.len() / 3));
        if let Some(similar) = similar {
            return error.hint(format_args!("did you mean '{}'?", similar.name));
        }
        match self.fan_out_partner().filter(|partner| partner.parameter(name).is_some()) {
            Some(partner) => error.hint(format_args!("pass it to '{}' instead", partner.name)),
            None => error.hint(format_args!("'help {}' lists the parameters", self.descriptor.name)),
        }
    }

    /// `gather` for `scatter` and the reverse: their parameters are easily confused.
    fn fan_out_partner(&self) -> Option<&'static CommandDescriptor> {
        match self.descriptor.name {
            "scatter" => Some(&crate::gather::DESCRIPTOR),
            "gather" => Some(&crate::scatter::DESCRIPTOR),
            _ => None,
        }
    }

    fn unexpected_argument(&self, word: &[u8]) -> Error {
        let shown = String::from_utf8_lossy(word);
        Error::new(ErrorKind::Unknown, format_args!("unexpected argument '{shown}'"))
            .hint(format_args!("write arguments as 'key=value'; see 'help {}'", self.descriptor.name))
    }
}

/// Whether a word is written `name=value`.
fn is_assignment(word: &[u8]) -> bool {
    memchr::memchr(b'=', word).is_some_and(|end| haft_kernel::variables::is_name(&word[..end]))
}
