//! What the reader finds wrong, before it is known in which section.

use std::fmt;

use serde::de::{Expected, Unexpected};

use crate::error::{Error, ErrorKind};
use crate::source::{Mark, Place};

/// A fault, with as much of its surroundings as is known where it is found.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) text: String,
    pub(crate) mark: Option<Mark>,
    pub(crate) hint: Option<String>,
}

impl Fault {
    pub(crate) fn new(kind: ErrorKind, mark: Mark, text: String) -> Fault {
        Fault { kind, text, mark: Some(mark), hint: None }
    }

    pub(crate) fn hint(mut self, hint: Option<String>) -> Fault {
        self.hint = hint;
        self
    }

    /// The innermost value that a fault was found in is the one to show.
    pub(crate) fn within(mut self, mark: Mark) -> Fault {
        self.mark = self.mark.or(Some(mark));
        self
    }

    /// The error for the user, once it is known what it was found in.
    pub(crate) fn explain(self, within: &str, place: impl Fn(Mark) -> Place, whole: Mark) -> Error {
        let place = place(self.mark.unwrap_or(whole));
        let error = Error::at(self.kind, &place, format!("{} in {within}", self.text));
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Fault {
        Fault { kind: ErrorKind::WrongValue, text: message.to_string(), mark: None, hint: None }
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Fault {
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

    fn missing_field(field: &'static str) -> Fault {
        let text = format!("the key \"{field}\" is missing");
        Fault { kind: ErrorKind::MissingKey, text, mark: None, hint: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}
