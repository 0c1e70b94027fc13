//! Configuration sources and locations in them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::excerpt;
use crate::file::{FileErrorKind, FileRules, MAX_CONFIG_BYTES, Owners};
use crate::printable::printable;

/// Name of the configuration file in each layer's directory.
pub const CONFIG_FILE_NAME: &str = "config.toml";

/// Layer of a source. A later layer overrides an earlier one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layer {
    /// Compiled into the program.
    Embedded,
    /// Installed for all users of the machine.
    System,
    /// The user's own.
    User,
    /// The project's. It may come from an untrusted repository.
    Project,
}

impl Layer {
    /// The name in messages and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Embedded => "embedded",
            Layer::System => "system",
            Layer::User => "user",
            Layer::Project => "project",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A configuration text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSource {
    /// The layer.
    pub layer: Layer,
    /// The name in messages.
    pub name: String,
    /// The file it was read from, or `None` for embedded text.
    pub path: Option<PathBuf>,
    /// The text.
    pub text: String,
}

impl ConfigSource {
    /// Reads the configuration file in `directory`, or returns `None` if it does not exist. Messages call the
    /// directory `name`. A project's file must be within the project.
    ///
    /// # Errors
    /// Fails if the file exists but is not UTF-8, is not a regular file of these owners, or cannot be read.
    pub fn read(
        layer: Layer,
        directory: &Path,
        name: &Path,
        owners: &Owners,
    ) -> Result<Option<ConfigSource>, Error> {
        let path = directory.join(CONFIG_FILE_NAME);
        let mut rules = FileRules::up_to(MAX_CONFIG_BYTES).owned_by(owners);
        if let Some(top) = directory.parent().filter(|_| layer == Layer::Project) {
            rules = rules.beneath(top);
        }
        let text = match rules.read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == FileErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::unreadable(&path, error.reason(), error.hint())),
        };
        let text =
            String::from_utf8(text).map_err(|_| Error::unreadable(&path, "it is not UTF-8 text", None))?;
        let name = printable(name.join(CONFIG_FILE_NAME));
        Ok(Some(ConfigSource { layer, name, path: Some(path), text }))
    }
}

/// A byte range in one source of a [`Config`](crate::Config). [`Config::locate`](crate::Config::locate)
/// resolves it into a [`SourceLocation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigSpan {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A byte range in a source.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceLocation {
    pub(crate) source: Arc<ConfigSource>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl SourceLocation {
    /// The source.
    pub fn source(&self) -> &ConfigSource {
        &self.source
    }

    /// The layer of the source.
    pub fn layer(&self) -> Layer {
        self.source.layer
    }

    /// The line number, starting at 1.
    pub fn line(&self) -> usize {
        excerpt::position(&self.source.text, self.start).0
    }

    /// Narrows the location to the first occurrence of `text`, or returns it unchanged.
    #[must_use]
    pub fn narrowed(&self, text: &str) -> SourceLocation {
        let whole = self.source.text.get(self.start..self.end).unwrap_or_default();
        match whole.find(text) {
            Some(offset) => {
                let start = self.start + offset;
                SourceLocation { source: self.source.clone(), start, end: start + text.len() }
            }
            None => self.clone(),
        }
    }
}

/// Writes `name:line`.
impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.source.name, self.line())
    }
}

impl fmt::Debug for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SourceLocation({self})")
    }
}
