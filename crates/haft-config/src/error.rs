//! Why configuration was refused.

use std::fmt;
use std::path::Path;

use crate::excerpt;
use crate::printable::printable;
use crate::source::SourceLocation;

/// What is wrong with the configuration, where, and what to do about it.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    locations: Vec<(SourceLocation, &'static str)>,
    hint: Option<String>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file is there but cannot be read, or is no text.
    Unreadable,
    /// The text is not TOML.
    Syntax,
    /// A section or key that nobody knows.
    UnknownKey,
    /// A value of another type, or out of range.
    WrongValue,
    /// A key that must be there is not.
    MissingKey,
    /// Two items of one kind have the same name.
    Duplicate,
    /// A name that nothing has.
    DanglingReference,
}

impl Error {
    /// An error about something at a location.
    pub fn at(kind: ErrorKind, location: &SourceLocation, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), locations: vec![(location.clone(), "")], hint: None }
    }

    /// An error about a file as a whole.
    pub(crate) fn unreadable(path: &Path, why: &str, hint: Option<&str>) -> Error {
        let message = format!("cannot read configuration \"{}\": {why}", printable(path));
        Error { kind: ErrorKind::Unreadable, message, locations: Vec::new(), hint: hint.map(str::to_owned) }
    }

    /// Adds a second location with what is to be said of it.
    #[must_use]
    pub fn and_at(mut self, location: &SourceLocation, note: &'static str) -> Error {
        self.locations.push((location.clone(), note));
        self
    }

    /// Adds what the user may do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message in one line, without a location.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The location it is about, where there is one.
    pub fn location(&self) -> Option<&SourceLocation> {
        self.locations.first().map(|(location, _)| location)
    }

    /// What the user may do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The message, and every location with its line and carets; without the hint, and without a newline at the end.
impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        for (location, note) in &self.locations {
            write!(formatter, "\n{}", excerpt::show(location, note))?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
