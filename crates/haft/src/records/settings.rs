//! The section `[records]` of the user's configuration.

use std::path::Path;

use haft_config::trust::TrustStore;
use haft_config::{Config, Directories, ErrorKind, Layer, Spanned};
use haft_process::Redactor;
use haft_records::JournalLimits;
use serde::Deserialize;

use crate::failure::Failure;
use crate::units;

/// The settings of records. A project cannot change them.
#[derive(Debug)]
pub(crate) struct RecordSettings {
    pub(crate) enabled: bool,
    pub(crate) limits: JournalLimits,
    /// Masks the configured patterns; `None` if there are none.
    pub(crate) patterns: Option<Redactor>,
}

/// The section in the file.
#[derive(Default, Deserialize)]
struct RecordsSection {
    enabled: Option<bool>,
    max_age: Option<Spanned<String>>,
    max_size: Option<Spanned<String>>,
    redact: Option<Vec<Spanned<String>>>,
}

impl RecordSettings {
    /// Reads the user's configuration.
    pub(crate) fn read(places: &Directories) -> Result<RecordSettings, Failure> {
        let trust = TrustStore::open(places.state.as_deref());
        let mut config = Config::new();
        if let Some(user) = &places.user {
            config.add_file(Layer::User, user, user, &trust.owners())?;
        }
        let written: RecordsSection = config.settings("records")?.unwrap_or_default();
        let mut limits = JournalLimits::default();
        if let Some(age) = &written.max_age {
            limits.max_age = parse(&config, age, units::duration)?;
        }
        if let Some(size) = &written.max_size {
            limits.max_size = parse(&config, size, units::size)?;
        }
        let mut patterns = None;
        for pattern in written.redact.iter().flatten() {
            let redactor = patterns.get_or_insert_with(Redactor::default);
            parse(&config, pattern, |pattern| redactor.add_pattern(pattern))?;
        }
        Ok(RecordSettings { enabled: written.enabled.unwrap_or(true), limits, patterns })
    }

    /// The directory of the journals.
    pub(crate) fn directory(state: &Path) -> std::path::PathBuf {
        state.join("records")
    }
}

/// Parses a value; an error names its line in the file.
fn parse<T>(
    config: &Config,
    written: &Spanned<String>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    parse(&written.value).map_err(|error| {
        let message = format!("invalid value '{}' in [records]: {error}", written.value);
        haft_config::Error::at(ErrorKind::WrongValue, &config.locate(written.span), message).into()
    })
}
