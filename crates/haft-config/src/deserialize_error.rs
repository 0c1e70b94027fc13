//! Deserialization errors, before the section they belong to is known.

use std::fmt;

use serde::de::{Expected, Unexpected};

use crate::error::{Error, ErrorKind};
use crate::source::{ConfigSpan, SourceLocation};

/// A deserialization error with the span, if known.
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

    /// Sets the span unless an inner value has already set it.
    pub(crate) fn within(mut self, span: ConfigSpan) -> DeserializeError {
        self.span = self.span.or(Some(span));
        self
    }

    /// Converts to an error for the user; `within` names the section and `whole` is the span to use if none
    /// is set.
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

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> DeserializeError {
        let found = match found {
            Unexpected::Bool(_) => "a boolean".to_owned(),
            Unexpected::Signed(_) | Unexpected::Unsigned(_) | Unexpected::Float(_) => "a number".to_owned(),
            Unexpected::Str(_) => "a string".to_owned(),
            Unexpected::Seq => "an array".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        serde::de::Error::custom(format!("expected {expected}, found {found}"))
    }

    fn missing_field(field: &'static str) -> DeserializeError {
        let text = format!("missing key '{field}'");
        DeserializeError { kind: ErrorKind::MissingKey, text, span: None, hint: None }
    }
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for DeserializeError {}
