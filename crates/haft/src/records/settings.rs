//! The sections `[records]` and `[telemetry]` of the user's configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

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
    pub(crate) telemetry: TelemetrySettings,
}

/// The section `[telemetry]`: traces for OpenTelemetry.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only that feature sends spans"))]
pub(crate) struct TelemetrySettings {
    #[serde(default)]
    pub(crate) enabled: bool,
    /// The collector.
    pub(crate) endpoint: Option<String>,
    /// Additional headers of requests.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// Whether spans have scripts and arguments.
    #[serde(default)]
    pub(crate) content: bool,
    timeout: Option<Spanned<String>>,
    #[serde(skip)]
    pub(crate) request_timeout: Option<Duration>,
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
            limits.max_age = parse(&config, "records", age, units::duration)?;
        }
        if let Some(size) = &written.max_size {
            limits.max_size = parse(&config, "records", size, units::size)?;
        }
        let mut patterns = None;
        for pattern in written.redact.iter().flatten() {
            let redactor = patterns.get_or_insert_with(Redactor::default);
            parse(&config, "records", pattern, |pattern| redactor.add_pattern(pattern))?;
        }
        let mut telemetry: TelemetrySettings = config.settings("telemetry")?.unwrap_or_default();
        if let Some(timeout) = &telemetry.timeout {
            telemetry.request_timeout = Some(parse(&config, "telemetry", timeout, units::duration)?);
        }
        Ok(RecordSettings { enabled: written.enabled.unwrap_or(true), limits, patterns, telemetry })
    }

    /// The directory of the journals.
    pub(crate) fn directory(state: &Path) -> std::path::PathBuf {
        state.join("records")
    }
}

/// Parses a value; an error names its line in the file.
fn parse<T>(
    config: &Config,
    section: &str,
    written: &Spanned<String>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    parse(&written.value).map_err(|error| {
        let message = format!("invalid value '{}' in [{section}]: {error}", written.value);
        haft_config::Error::at(ErrorKind::WrongValue, &config.locate(written.span), message).into()
    })
}
