//! Where configuration comes from, and where in it something stands.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::excerpt;
use crate::file::{FileErrorKind, FileRules, MAX_CONFIG_BYTES, Owners};
use crate::printable::printable;

/// The name of the file of each layer, in the layer's directory.
pub const CONFIG_FILE_NAME: &str = "config.toml";

/// How near to the user's hands a source is; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layer {
    /// What comes with the program.
    Embedded,
    /// What the machine's owner has set for everybody.
    System,
    /// The user's own.
    User,
    /// The project's, which may come from strangers.
    Project,
}

impl Layer {
    /// Its name in messages and results.
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

/// One text of configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSource {
    /// How near it is.
    pub layer: Layer,
    /// What it is called in messages.
    pub name: String,
    /// Where it was read from; what is embedded has no such location.
    pub path: Option<PathBuf>,
    /// The text itself.
    pub text: String,
}

impl ConfigSource {
    /// Reads the file of a layer from its directory; `None` if there is none. `name` is what the directory is called in
    /// messages. A project's file has to be within the project.
    ///
    /// # Errors
    /// If the file is there and is not text, is not a regular file of these owners, or cannot be read.
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

/// Where something stands, as numbers that only mean something to the [`Config`](crate::Config) it was read from: it
/// makes a [`SourceLocation`] of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigSpan {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A location in a source.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceLocation {
    pub(crate) source: Arc<ConfigSource>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl SourceLocation {
    /// The source it is in.
    pub fn source(&self) -> &ConfigSource {
        &self.source
    }

    /// The layer of its source.
    pub fn layer(&self) -> Layer {
        self.source.layer
    }

    /// The number of its line, from 1.
    pub fn line(&self) -> usize {
        excerpt::position(&self.source.text, self.start).0
    }

    /// The first occurrence of `text` within the location, or the whole of it.
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

/// `name:line`.
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
