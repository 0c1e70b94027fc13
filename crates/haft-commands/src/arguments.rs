//! From words to the values of parameters.

use std::time::Duration;

use haft_kernel::{Argument, Bytes};
use serde_json::Value;

use crate::descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, ParameterKind};
use crate::duration;
use crate::error::{Error, ErrorKind};

/// The arguments of a command, each of the kind that its parameter has.
#[derive(Clone, Debug, Default)]
pub struct CommandArguments {
    given: Vec<(&'static str, ArgumentValue)>,
    /// How many of the words were options; the operands follow.
    pub options: usize,
    /// Whether help was asked for instead.
    pub wants_help: bool,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// Whether it is on.
    Flag(bool),
    /// Text, names.
    Text(Bytes),
    /// A number, a signal.
    Number(u64),
    /// A time.
    Duration(Duration),
    /// Strings.
    List(Vec<Bytes>),
    /// Strings by name.
    Object(Vec<(String, String)>),
    /// When to stop: after so many failures, if ever, and whether at once.
    Halt(Option<(u64, bool)>),
}

impl CommandArguments {
    /// Takes arguments apart as a descriptor says.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse<'a>(
        descriptor: &CommandDescriptor,
        arguments: impl IntoIterator<Item = Argument<'a>>,
    ) -> Result<Self, Error> {
        let arguments: Vec<Argument<'a>> = arguments.into_iter().collect();
        let mut parser = ArgumentParser { descriptor, arguments: &arguments, at: 0, parsed: Self::default() };
        parser.run()?;
        let parsed = parser.parsed;
        let missing = descriptor.parameters.iter().find(|parameter| {
            parameter.required && !parsed.given.iter().any(|(name, _)| *name == parameter.name)
        });
        match missing {
            Some(parameter) if !parsed.wants_help => {
                let example = format!("{} {}={}", descriptor.name, parameter.name, parameter.kind.word());
                Err(Error::new(ErrorKind::Missing, format_args!("'{}' is missing", parameter.name))
                    .hint(format_args!("write '{example} …'")))
            }
            _ => Ok(parsed),
        }
    }

    /// The value of a parameter, if it was given.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ArgumentValue> {
        self.given.iter().rev().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// Whether a flag is on.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(ArgumentValue::Flag(true)))
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&Bytes> {
        match self.get(name)? {
            ArgumentValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            ArgumentValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A time.
    #[must_use]
    pub fn duration(&self, name: &str) -> Option<Duration> {
        match self.get(name)? {
            ArgumentValue::Duration(duration) => Some(*duration),
            _ => None,
        }
    }

    /// The strings of a list, of all times that it was given.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<Bytes> {
        let lists = self.given.iter().filter(|(given, _)| *given == name).map(|(_, value)| value);
        lists
            .flat_map(|value| match value {
                ArgumentValue::List(items) => items.as_slice(),
                _ => &[],
            })
            .cloned()
            .collect()
    }

    /// The members of an object.
    #[must_use]
    pub fn object(&self, name: &str) -> &[(String, String)] {
        match self.get(name) {
            Some(ArgumentValue::Object(members)) => members,
            _ => &[],
        }
    }
}

struct ArgumentParser<'a> {
    descriptor: &'a CommandDescriptor,
    arguments: &'a [Argument<'a>],
    at: usize,
    parsed: CommandArguments,
}

impl<'a> ArgumentParser<'a> {
    fn run(&mut self) -> Result<(), Error> {
        while let Some(argument) = self.arguments.get(self.at) {
            let word: &'a [u8] = match argument {
                Argument::Value { name, value } => {
                    self.at += 1;
                    let parameter = self.find(name)?;
                    let value = from_json(parameter, value)?;
                    self.parsed.given.push((parameter.name, value));
                    continue;
                }
                Argument::Word(word) => word,
            };
            match (word, self.descriptor.style) {
                (b"--", _) => {
                    self.at += 1;
                    break;
                }
                (b"--help", _) => self.parsed.wants_help = true,
                ([b'-', b'-', long @ ..], _) => self.long(long)?,
                ([b'-', letters @ ..], _) if !letters.is_empty() => self.letters(letters)?,
                (_, ArgumentStyle::Gnu(_)) => break,
                (_, ArgumentStyle::Typed) => self.assigned(word)?,
            }
            self.at += 1;
        }
        self.parsed.options = self.at;
        match (self.descriptor.style, self.arguments.get(self.at)) {
            (ArgumentStyle::Typed, Some(Argument::Word(word))) => Err(self.stray(word)),
            _ => Ok(()),
        }
    }

    /// `name=value`.
    fn assigned(&mut self, word: &'a [u8]) -> Result<(), Error> {
        let Some(end) = memchr::memchr(b'=', word) else { return Err(self.stray(word)) };
        let parameter = self.find(&word[..end])?;
        self.put(parameter, &word[end + 1..])
    }

    /// `--name`, `--name value`, `--name=value`.
    fn long(&mut self, text: &'a [u8]) -> Result<(), Error> {
        let (name, value) = match memchr::memchr(b'=', text) {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (text, None),
        };
        let parameter = self.find(name)?;
        match (parameter.kind, value) {
            (ParameterKind::Flag, None) => {
                self.parsed.given.push((parameter.name, ArgumentValue::Flag(true)));
                Ok(())
            }
            (_, Some(value)) => self.put(parameter, value),
            (_, None) => {
                let value = self.following(parameter)?;
                self.put(parameter, value)
            }
        }
    }

    /// `-n`, `-nvalue`, `-n value`, and several flags in one.
    fn letters(&mut self, letters: &'a [u8]) -> Result<(), Error> {
        for (index, letter) in letters.iter().enumerate() {
            let found = self.descriptor.parameters.iter().find(|it| it.letter == Some(char::from(*letter)));
            let Some(parameter) = found else {
                let shown = char::from(*letter);
                return Err(Error::new(ErrorKind::Unknown, format_args!("unknown option '-{shown}'")));
            };
            if parameter.kind == ParameterKind::Flag {
                self.parsed.given.push((parameter.name, ArgumentValue::Flag(true)));
                continue;
            }
            let rest = &letters[index + 1..];
            let value = if rest.is_empty() { self.following(parameter)? } else { rest };
            return self.put(parameter, value);
        }
        Ok(())
    }

    /// The value that stands in the next word.
    fn following(&mut self, parameter: &CommandParameter) -> Result<&'a [u8], Error> {
        self.at += 1;
        match self.arguments.get(self.at) {
            Some(Argument::Word(word)) => Ok(word),
            _ => Err(Error::new(ErrorKind::Missing, format_args!("'{}' needs a value", parameter.name))),
        }
    }

    fn put(&mut self, parameter: &'static CommandParameter, value: &[u8]) -> Result<(), Error> {
        let value = from_text(parameter, value)?;
        self.parsed.given.push((parameter.name, value));
        Ok(())
    }

    /// The parameter of this name. GNU's may be abbreviated as long as they cannot be confused.
    fn find(&self, name: &[u8]) -> Result<&'static CommandParameter, Error> {
        if let Some(parameter) = self.descriptor.parameter(name) {
            return Ok(parameter);
        }
        if matches!(self.descriptor.style, ArgumentStyle::Gnu(_)) {
            let mut matching =
                self.descriptor.parameters.iter().filter(|it| it.name.as_bytes().starts_with(name));
            if let (Some(parameter), None) = (matching.next(), matching.next()) {
                return Ok(parameter);
            }
        }
        Err(self.unknown(name))
    }

    fn unknown(&self, name: &[u8]) -> Error {
        let shown = String::from_utf8_lossy(name);
        let error = Error::new(ErrorKind::Unknown, format_args!("unknown parameter '{shown}'"));
        let distance = |other: &str| strsim::damerau_levenshtein(&shown, other);
        let nearest = self.descriptor.parameters.iter().min_by_key(|it| distance(it.name));
        let near = nearest.filter(|it| distance(it.name) <= 1.max(it.name.len() / 3));
        if let Some(near) = near {
            return error.hint(format_args!("did you mean '{}'?", near.name));
        }
        let others = crate::DESCRIPTORS.iter().filter(|other| other.name != self.descriptor.name);
        let elsewhere = others.into_iter().find(|other| {
            matches!(self.descriptor.name, "scatter" | "gather")
                && matches!(other.name, "scatter" | "gather")
                && other.parameter(name).is_some()
        });
        match elsewhere {
            Some(other) => error.hint(format_args!("'{}' takes it", other.name)),
            None => error.hint(format_args!("'help {}' shows its parameters", self.descriptor.name)),
        }
    }

    fn stray(&self, word: &[u8]) -> Error {
        let shown = String::from_utf8_lossy(word);
        Error::new(ErrorKind::Unknown, format_args!("'{shown}' belongs to no parameter")).hint(format_args!(
            "arguments are written 'key=value'; 'help {}' shows them",
            self.descriptor.name
        ))
    }
}

fn wrong(parameter: &CommandParameter, expected: &str, found: &str) -> Error {
    Error::new(ErrorKind::Value, format_args!("'{}' is {expected}, not '{found}'", parameter.name))
}

/// A value written as text.
fn from_text(parameter: &CommandParameter, text: &[u8]) -> Result<ArgumentValue, Error> {
    let shown = String::from_utf8_lossy(text);
    match parameter.kind {
        ParameterKind::Flag => match text {
            b"true" => Ok(ArgumentValue::Flag(true)),
            b"false" => Ok(ArgumentValue::Flag(false)),
            _ => Err(wrong(parameter, "true or false", &shown)),
        },
        ParameterKind::Text => Ok(ArgumentValue::Text(text.into())),
        ParameterKind::Name if haft_kernel::variables::is_name(text) => Ok(ArgumentValue::Text(text.into())),
        ParameterKind::Name => Err(wrong(parameter, "the name of a variable", &shown)),
        ParameterKind::Integer(least) => match shown.parse::<u64>() {
            Ok(number) if number >= least => Ok(ArgumentValue::Number(number)),
            _ => Err(wrong(parameter, &format!("a whole number, at least {least}"), &shown)),
        },
        ParameterKind::Duration => match duration::parse(text) {
            Some(duration) => Ok(ArgumentValue::Duration(duration)),
            None => Err(wrong(parameter, "a time such as 5, 0.5s, 2m or 1h", &shown)),
        },
        ParameterKind::Signal => match signal(&shown) {
            Some(signal) => Ok(ArgumentValue::Number(signal)),
            None => Err(wrong(parameter, "a signal", &shown)),
        },
        ParameterKind::List => Ok(ArgumentValue::List(vec![text.into()])),
        ParameterKind::Object => match serde_json::from_slice::<Value>(text) {
            Ok(value) => from_json(parameter, &value),
            Err(error) => Err(Error::new(
                ErrorKind::Value,
                format_args!("'{}' is not JSON: {error}: '{shown}'", parameter.name),
            )
            .hint(format_args!("write {}={{\"NAME\": \"value\"}}", parameter.name))),
        },
        ParameterKind::Halt => match halt(&shown) {
            Some(halt) => Ok(ArgumentValue::Halt(halt)),
            None => Err(wrong(parameter, "'never', 'soon' or 'now', perhaps with ',fail=N'", &shown)),
        },
    }
}

/// A value given as JSON.
fn from_json(parameter: &CommandParameter, value: &Value) -> Result<ArgumentValue, Error> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    };
    match (parameter.kind, value) {
        (ParameterKind::List, Value::Array(items)) => {
            let items: Option<Vec<Bytes>> = items.iter().map(|item| Some(text(item)?.into())).collect();
            items
                .map(ArgumentValue::List)
                .ok_or_else(|| wrong(parameter, "a list of strings", &value.to_string()))
        }
        (ParameterKind::Object, Value::Object(members)) => {
            let members: Option<Vec<_>> =
                members.iter().map(|(name, value)| Some((name.clone(), text(value)?))).collect();
            members
                .map(ArgumentValue::Object)
                .ok_or_else(|| wrong(parameter, "an object of strings", &value.to_string()))
        }
        (ParameterKind::List, _) => {
            Err(wrong(parameter, "a string or an array of strings", &value.to_string()))
        }
        (ParameterKind::Object, _) => Err(wrong(parameter, "an object", &value.to_string())),
        _ => Err(wrong(parameter, "no JSON value", &value.to_string())),
    }
}

fn signal(text: &str) -> Option<u64> {
    let number = match text.parse::<i32>() {
        Ok(number) if (0..=64).contains(&number) => Some(number),
        Ok(_) => None,
        Err(_) => haft_process::signal_number(text),
    };
    number.and_then(|number| u64::try_from(number).ok())
}

fn halt(text: &str) -> Option<Option<(u64, bool)>> {
    let (when, rest) = text.split_once(',').unwrap_or((text, "fail=1"));
    let failures = rest.strip_prefix("fail=")?.parse::<u64>().ok().filter(|failures| *failures > 0)?;
    match when {
        "never" if text == "never" => Some(None),
        "soon" => Some(Some((failures, false))),
        "now" => Some(Some((failures, true))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
