//! Parsed arguments of a command.

mod parser;
mod value;

use std::time::Duration;

use haft_kernel::{Bytes, TypedArgument};

use crate::descriptor::{ArgumentStyle, CommandDescriptor};
use crate::error::{Error, ErrorKind};
use crate::halt::Halt;
use parser::ArgumentParser;

/// The arguments of one call, with values of the types that the descriptor declares.
#[derive(Clone, Debug, Default)]
pub struct CommandArguments {
    /// Parameter names and values in the order of the command line. A parameter may occur several times.
    values: Vec<(&'static str, ArgumentValue)>,
    /// The number of words that belong to options. The remaining words are operands.
    pub option_words: usize,
    /// The operands of a command whose options and operands are mixed.
    pub operands: Vec<Bytes>,
    /// Whether `--help` was given.
    pub wants_help: bool,
    /// Whether `--version` was given.
    pub wants_version: bool,
    /// Whether the name of an option is abbreviated. For the program, the abbreviation may be ambiguous.
    pub has_abbreviation: bool,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A flag.
    Flag(bool),
    /// Text or a variable name.
    Text(Bytes),
    /// A number, or the number of a signal.
    Number(u64),
    /// A duration.
    Duration(Duration),
    /// A list of strings.
    List(Vec<Bytes>),
    /// Names and values of a JSON object.
    Object(Vec<(String, String)>),
    /// When to stop a fan-out; `None` means never.
    Halt(Option<Halt>),
}

impl CommandArguments {
    /// Parses arguments as a descriptor describes them.
    ///
    /// # Errors
    /// Fails if a parameter is unknown, a required parameter is missing, or a value has the wrong type.
    pub fn parse<'a>(
        descriptor: &CommandDescriptor,
        arguments: impl IntoIterator<Item = TypedArgument<'a>>,
    ) -> Result<Self, Error> {
        let arguments: Vec<TypedArgument<'a>> = arguments.into_iter().collect();
        let parsed = ArgumentParser::new(descriptor, &arguments).parse()?;
        if parsed.wants_help {
            return Ok(parsed);
        }
        if let (ArgumentStyle::TypedCommand(_), Some(first)) = (descriptor.style, parsed.operands.first()) {
            let is_named =
                descriptor.parameters.iter().any(|it| it.required && parsed.get(it.name).is_some());
            return match is_named || !parsed.list("argv").is_empty() {
                true => Err(ArgumentParser::surplus_command(descriptor, first)),
                false => Ok(parsed),
            };
        }
        let missing = descriptor
            .parameters
            .iter()
            .find(|parameter| parameter.required && parsed.get(parameter.name).is_none());
        match missing {
            None => Ok(parsed),
            Some(parameter) => {
                let example = format!("{} {}={}", descriptor.name, parameter.name, parameter.value_name());
                Err(Error::new(ErrorKind::Missing, format_args!("missing parameter '{}'", parameter.name))
                    .hint(format_args!("write '{example} …'")))
            }
        }
    }

    /// Whether words of a [`TypedCommand`](ArgumentStyle::TypedCommand) reach its command.
    pub(crate) fn reach_command(descriptor: &CommandDescriptor, words: &[Bytes]) -> bool {
        let arguments: Vec<TypedArgument<'_>> = words.iter().map(TypedArgument::Word).collect();
        ArgumentParser::new(descriptor, &arguments).parse().is_ok_and(|parsed| !parsed.operands.is_empty())
    }

    /// Parses words without JSON values.
    ///
    /// # Errors
    /// As for [`CommandArguments::parse`].
    pub(crate) fn of_words(descriptor: &CommandDescriptor, words: &[Bytes]) -> Result<Self, Error> {
        Self::parse(descriptor, words.iter().map(TypedArgument::Word))
    }

    /// The last value of a parameter, or `None` if it was not given.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ArgumentValue> {
        self.values.iter().rev().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// The parameters in the order of the command line, for commands where a later option overrides an earlier one.
    pub fn in_order(&self) -> impl DoubleEndedIterator<Item = (&'static str, &ArgumentValue)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(ArgumentValue::Flag(true)))
    }

    /// The value of a text parameter.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&Bytes> {
        match self.get(name)? {
            ArgumentValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number or signal parameter.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            ArgumentValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The value of a duration parameter.
    #[must_use]
    pub fn duration(&self, name: &str) -> Option<Duration> {
        match self.get(name)? {
            ArgumentValue::Duration(duration) => Some(*duration),
            _ => None,
        }
    }

    /// The strings of a list parameter, joined over all its occurrences.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<Bytes> {
        let lists = self.values.iter().filter(|(given, _)| *given == name).map(|(_, value)| value);
        lists
            .flat_map(|value| match value {
                ArgumentValue::List(items) => items.as_slice(),
                _ => &[],
            })
            .cloned()
            .collect()
    }

    /// The members of an object parameter. Empty if it was not given.
    #[must_use]
    pub fn object(&self, name: &str) -> &[(String, String)] {
        match self.get(name) {
            Some(ArgumentValue::Object(members)) => members,
            _ => &[],
        }
    }

    /// The value of a halt parameter; `None` means that failures stop nothing.
    #[must_use]
    pub fn halt(&self, name: &str) -> Option<Halt> {
        match self.get(name)? {
            ArgumentValue::Halt(halt) => *halt,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
