//! The section `[commands]` of the user's configuration.

use haft_config::trust::TrustStore;
use haft_config::{Config, Layer};
use serde::Deserialize;

use crate::places;
use crate::process_context::ProcessContext;

#[derive(Default, Deserialize)]
struct CommandsSection {
    /// Commands whose programs always run.
    host: Option<Vec<String>>,
}

/// The names of commands whose programs run instead of haft's own commands. A shell must not fail because of its configuration, so an
/// invalid file names none; `haft tool` and `haft launch` report it.
pub(crate) fn host_commands(process: &ProcessContext) -> Vec<String> {
    let places = places::find(process);
    let Some(user) = &places.user else { return Vec::new() };
    let trust = TrustStore::open(places.state.as_deref());
    let mut config = Config::new();
    let section = config
        .add_file(Layer::User, user, user, &trust.owners())
        .and_then(|()| config.settings::<CommandsSection>("commands"));
    section.ok().flatten().and_then(|section| section.host).unwrap_or_default()
}
