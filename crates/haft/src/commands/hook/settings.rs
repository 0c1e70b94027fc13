//! The section `[hook]` of the user's configuration.

use haft_config::trust::TrustStore;
use haft_config::{Config, Layer};
use serde::Deserialize;

use crate::failure::Failure;
use crate::places;
use crate::process_context::ProcessContext;

/// Additional actions of a hook.
#[derive(Debug, Default)]
pub(super) struct HookSettings {
    /// Whether scripts run under `haft run`.
    pub(super) rewrite: bool,
    /// The options of `haft run`.
    pub(super) options: Vec<String>,
}

/// The section in the file.
#[derive(Default, Deserialize)]
struct HookSection {
    rewrite: Option<bool>,
    options: Option<Vec<String>>,
}

impl HookSettings {
    /// Reads the user's configuration.
    ///
    /// # Errors
    /// If it cannot be read or has mistakes.
    pub(super) fn read(process: &ProcessContext) -> Result<HookSettings, Failure> {
        let places = places::unchecked(process);
        let Some(user) = &places.user else { return Ok(HookSettings::default()) };
        let owners = TrustStore::open(places.state.as_deref()).owners();
        let mut config = Config::new();
        config.add_file(Layer::User, user, user, &owners)?;
        let section: HookSection = config.settings("hook")?.unwrap_or_default();
        Ok(HookSettings {
            rewrite: section.rewrite.unwrap_or(false),
            options: section.options.unwrap_or_default(),
        })
    }
}
