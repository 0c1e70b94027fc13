//! What a project's configuration could do, and whether somebody has allowed it.

use std::path::Path;

use haft_config::trust::{ContentHash, Standing, Trust};
use haft_config::{Layer, Source, printable};

use crate::catalogue::Catalogue;
use crate::error::{Error, ErrorKind};

impl Catalogue {
    /// The items of the project's configuration that run programs or put text into a prompt. Each in a few words.
    pub fn project_powers(&self) -> Vec<String> {
        let mut powers = Vec::new();
        let shell = self.settings.shell.as_ref().map(|shell| self.config.place(shell.mark).layer());
        if shell == Some(Layer::Project) {
            powers.push("the shell".to_owned());
        }
        let agents = self.agents.iter().filter(|agent| agent.place.layer() == Layer::Project);
        powers.extend(agents.map(|agent| format!("agent \"{}\"", agent.name)));
        let roles = self.roles.iter().map(|role| ("role", &role.name, &role.recipe));
        let contexts = self.contexts.iter().map(|context| ("context", &context.name, &context.recipe));
        let tasks = self.tasks.iter().map(|task| ("task", &task.name, &task.recipe));
        for (kind, name, recipe) in roles.chain(contexts).chain(tasks) {
            if recipe.layer() == Layer::Project {
                powers.push(format!("{kind} \"{name}\""));
            }
        }
        powers
    }

    /// Refuses a project's configuration that runs programs or speaks to the agent and is not trusted.
    ///
    /// # Errors
    /// If it is not trusted with the content it has.
    pub fn check_trust(&self, trust: &Trust) -> Result<(), Error> {
        let powers = self.project_powers();
        if powers.is_empty() {
            return Ok(());
        }
        let projects = self.config.sources().filter(|source| source.layer == Layer::Project);
        for source in projects {
            let state = match standing(source, trust) {
                Standing::Trusted => continue,
                Standing::New => "is not trusted",
                Standing::Changed => "has changed since it was trusted",
            };
            let message = format!(
                "\"{}\" runs programs or gives the agent instructions ({}) and {state}",
                source.name,
                powers.join(", ")
            );
            let error = Error::new(ErrorKind::Untrusted, message);
            let directory = source.path.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
            let directory = printable(directory);
            return Err(error.with_hint(format!("look at it, then run `haft trust '{directory}'`")));
        }
        Ok(())
    }
}

/// How the text of a source stands to what is trusted.
pub fn standing(source: &Source, trust: &Trust) -> Standing {
    match &source.path {
        Some(path) => trust.standing(path, &ContentHash::of(source.text.as_bytes())),
        None => Standing::Trusted,
    }
}
