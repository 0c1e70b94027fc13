//! Configuration errors.

use std::fmt;
use std::path::Path;

use crate::excerpt;
use crate::printable::printable;
use crate::source::SourceLocation;

/// A configuration error with locations and an optional hint.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    locations: Vec<(SourceLocation, &'static str)>,
    hint: Option<String>,
}

/// The kind of a configuration error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file exists but cannot be read, or is not UTF-8.
    Unreadable,
    /// The text is not TOML.
    Syntax,
    /// Unknown section or key.
    UnknownKey,
    /// A value has the wrong type or is out of range.
    WrongValue,
    /// A required key is missing.
    MissingKey,
    /// Two items of one kind have the same name.
    Duplicate,
    /// A name refers to nothing.
    DanglingReference,
}

impl Error {
    /// Creates an error about a location.
    pub fn at(kind: ErrorKind, location: &SourceLocation, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), locations: vec![(location.clone(), "")], hint: None }
    }

    /// Creates an error about a whole file.
    pub(crate) fn unreadable(path: &Path, why: &str, hint: Option<&str>) -> Error {
        let message = format!("cannot read configuration '{}': {why}", printable(path));
        Error { kind: ErrorKind::Unreadable, message, locations: Vec::new(), hint: hint.map(str::to_owned) }
    }

    /// Adds a second location with a note.
    #[must_use]
    pub fn and_at(mut self, location: &SourceLocation, note: &'static str) -> Error {
        self.locations.push((location.clone(), note));
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message in one line, without locations.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The first location, if there is one.
    pub fn location(&self) -> Option<&SourceLocation> {
        self.locations.first().map(|(location, _)| location)
    }

    /// The hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Writes the message and, for each location, its line with carets. The hint is not included, and the text
/// has no final newline.
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
