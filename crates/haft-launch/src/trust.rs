//! Trust checks for a project's configuration.

use std::path::Path;

use haft_config::trust::{ContentHash, TrustStatus, TrustStore};
use haft_config::{ConfigSource, Layer, printable};

use crate::catalogue::Catalogue;
use crate::error::{Error, ErrorKind};

impl Catalogue {
    /// Lists the items of the project's configuration that run programs or put text into a prompt.
    pub fn items_needing_trust(&self) -> Vec<String> {
        let mut items = Vec::new();
        let shell = self.settings.shell.as_ref().map(|shell| self.config.locate(shell.span).layer());
        if shell == Some(Layer::Project) {
            items.push("the shell".to_owned());
        }
        let agents = self.agents.iter().filter(|agent| agent.location.layer() == Layer::Project);
        items.extend(agents.map(|agent| format!("agent '{}'", agent.name)));
        let roles = self.roles.iter().map(|role| ("role", &role.name, &role.source));
        let contexts = self.contexts.iter().map(|context| ("context", &context.name, &context.source));
        let tasks = self.tasks.iter().map(|task| ("task", &task.name, &task.source));
        for (kind, name, source) in roles.chain(contexts).chain(tasks) {
            if source.layer() == Layer::Project {
                items.push(format!("{kind} '{name}'"));
            }
        }
        items
    }

    /// Checks that a project's configuration which runs programs or instructs the agent is trusted.
    ///
    /// # Errors
    /// Fails if it is not trusted with its current content.
    pub fn check_trust(&self, trust: &TrustStore) -> Result<(), Error> {
        let items = self.items_needing_trust();
        if items.is_empty() {
            return Ok(());
        }
        let projects = self.config.sources().filter(|source| source.layer == Layer::Project);
        for source in projects {
            let state = match trust_status(source, trust) {
                TrustStatus::Trusted => continue,
                TrustStatus::New => "is not trusted",
                TrustStatus::Changed => "has changed since it was trusted",
            };
            let message = format!(
                "'{}' runs programs or gives the agent instructions ({}) and {state}",
                source.name,
                items.join(", ")
            );
            let error = Error::new(ErrorKind::Untrusted, message);
            let directory = source.path.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
            let directory = printable(directory);
            return Err(error.with_hint(format!("review it, then run `haft trust '{directory}'`")));
        }
        Ok(())
    }
}

/// The trust status of a configuration source.
pub fn trust_status(source: &ConfigSource, trust: &TrustStore) -> TrustStatus {
    match &source.path {
        Some(path) => trust.status(path, &ContentHash::of(source.text.as_bytes())),
        None => TrustStatus::Trusted,
    }
}
