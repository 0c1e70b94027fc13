//! What the reader finds wrong, before it is known in which section.

use std::fmt;

use serde::de::{Expected, Unexpected};

use crate::error::{Error, ErrorKind};
use crate::source::{ConfigSpan, SourceLocation};

/// A fault, with as much of its surroundings as is known where it is found.
#[derive(Clone, Debug)]
pub(crate) struct DeserializeError {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
    pub(crate) span: Option<ConfigSpan>,
    pub(crate) hint: Option<String>,
}

impl DeserializeError {
    pub(crate) fn new(kind: ErrorKind, span: ConfigSpan, text: String) -> DeserializeError {
        DeserializeError { kind, text, span: Some(span), hint: None }
    }

    pub(crate) fn hint(mut self, hint: Option<String>) -> DeserializeError {
        self.hint = hint;
        self
    }

    /// The innermost value that a fault was found in is the one to show.
    pub(crate) fn within(mut self, span: ConfigSpan) -> DeserializeError {
        self.span = self.span.or(Some(span));
        self
    }

    /// The error for the user, once it is known what it was found in.
    pub(crate) fn explain(
        self,
        within: &str,
        location: impl Fn(ConfigSpan) -> SourceLocation,
        whole: ConfigSpan,
    ) -> Error {
        let location = location(self.span.unwrap_or(whole));
        let error = Error::at(self.kind, &location, format!("{} in {within}", self.text));
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

impl serde::de::Error for DeserializeError {
    fn custom<T: fmt::Display>(message: T) -> DeserializeError {
        DeserializeError { kind: ErrorKind::WrongValue, text: message.to_string(), span: None, hint: None }
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> DeserializeError {
        let found = match found {
            Unexpected::Bool(_) => "true or false".to_owned(),
            Unexpected::Signed(_) | Unexpected::Unsigned(_) | Unexpected::Float(_) => "a number".to_owned(),
            Unexpected::Str(_) => "a text".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        serde::de::Error::custom(format!("expected {wanted}, found {found}"))
    }

    fn missing_field(field: &'static str) -> DeserializeError {
        let text = format!("the key \"{field}\" is missing");
        DeserializeError { kind: ErrorKind::MissingKey, text, span: None, hint: None }
    }
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for DeserializeError {}
