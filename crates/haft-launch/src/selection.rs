//! From what is asked for to what is launched: names are found, defaults taken.

use std::path::Path;

use crate::agent::Agent;
use crate::catalogue::{Catalogue, Context, Role, Task};
use crate::error::{Error, ErrorKind};
use crate::name;
use crate::recipe::Recipe;
use crate::surroundings::Surroundings;

/// What kind of launch it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// With the required and the default contexts.
    #[default]
    Plain,
    /// With a text of the user's own and the required contexts.
    Prompt,
    /// With a task of this name and the required contexts.
    Task(String),
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What kind of launch it is.
    pub kind: Kind,
    /// The agent, by name.
    pub agent: Option<String>,
    /// The model, by alias or id.
    pub model: Option<String>,
    /// The role, by name.
    pub role: Option<String>,
    /// Whether there shall be no role at all.
    pub no_role: bool,
    /// Contexts by name, tag or path, besides those that are there anyway.
    pub contexts: Vec<String>,
    /// What the user says.
    pub instructions: Option<Vec<u8>>,
    /// Whether the agent is started for a run without a person.
    pub batch: bool,
    /// Whether the agent is given `haft mcp`, if it can take it and the settings allow.
    pub mcp: bool,
}

/// What is launched.
#[derive(Clone, Debug)]
pub struct Selection<'c> {
    pub(crate) catalogue: &'c Catalogue,
    /// The agent.
    pub agent: &'c Agent,
    /// The id of the model.
    pub model: Option<String>,
    /// The role.
    pub role: Option<&'c Role>,
    /// The task.
    pub task: Option<&'c Task>,
    pub(crate) contexts: Vec<Chosen>,
}

/// A context that was chosen.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) name: String,
    pub(crate) recipe: Recipe,
    pub(crate) required: bool,
}

impl Catalogue {
    /// Finds what a request means.
    ///
    /// # Errors
    /// A name that nothing has or several have; no agent, or several to choose from.
    pub fn select(&self, request: &Request, surroundings: &Surroundings) -> Result<Selection<'_>, Error> {
        let task = match &request.kind {
            Kind::Task(name) => Some(self.task(name)?),
            Kind::Plain | Kind::Prompt => None,
        };
        let wanted = request.agent.as_deref().or_else(|| task?.agent.as_deref()).or(self.default_agent());
        let agent = match wanted {
            Some(name) => self.agent(name)?,
            None => self.installed_agent(surroundings)?,
        };
        let model = request.model.as_deref().or_else(|| task?.model.as_deref());
        let role = request.role.as_deref().or_else(|| task?.role.as_deref()).or(self.default_role());
        let role = role.filter(|_| !request.no_role).map(|name| self.role(name)).transpose()?;
        Ok(Selection {
            catalogue: self,
            agent,
            model: agent.model(model),
            role,
            task,
            contexts: self.chosen(request, surroundings)?,
        })
    }

    /// The agent that a name means.
    ///
    /// # Errors
    /// If none or several are meant.
    pub fn agent(&self, wanted: &str) -> Result<&Agent, Error> {
        let names: Vec<&str> = self.agents.iter().map(Agent::name).collect();
        Ok(&self.agents[name::find("agent", wanted, &names)?])
    }

    /// The role that a name means.
    ///
    /// # Errors
    /// If none or several are meant.
    pub fn role(&self, wanted: &str) -> Result<&Role, Error> {
        let names: Vec<&str> = self.roles.iter().map(|role| role.name.as_str()).collect();
        Ok(&self.roles[name::find("role", wanted, &names)?])
    }

    /// The task that a name or an alias means.
    ///
    /// # Errors
    /// If none or several are meant.
    pub fn task(&self, wanted: &str) -> Result<&Task, Error> {
        if let Some(task) = self.tasks.iter().find(|task| task.alias.as_deref() == Some(wanted)) {
            return Ok(task);
        }
        let names: Vec<&str> = self.tasks.iter().map(|task| task.name.as_str()).collect();
        Ok(&self.tasks[name::find("task", wanted, &names)?])
    }

    /// The only agent that is installed.
    fn installed_agent(&self, surroundings: &Surroundings) -> Result<&Agent, Error> {
        let installed: Vec<&Agent> =
            self.agents.iter().filter(|agent| surroundings.find(&agent.bin).is_some()).collect();
        let names: Vec<&str> = installed.iter().map(|agent| agent.name()).collect();
        match installed.as_slice() {
            [agent] => Ok(agent),
            [] => {
                let known: Vec<&str> = self.agents.iter().map(Agent::bin).collect();
                let error = Error::new(ErrorKind::AgentNotFound, "no agent is installed");
                Err(error
                    .with_hint(format!("install one of {}, or define one with [[agent]]", known.join(", "))))
            }
            _ => {
                let kind = ErrorKind::Undecided(names.iter().map(|name| (*name).to_owned()).collect());
                let error = Error::new(kind, format!("several agents are installed: {}", names.join(", ")));
                Err(error.with_hint("choose one with --agent, or set default_agent in [settings]"))
            }
        }
    }

    /// The contexts of a launch: those that are there anyway in their order, then files in the order they were named.
    fn chosen(&self, request: &Request, surroundings: &Surroundings) -> Result<Vec<Chosen>, Error> {
        let plain = request.kind == Kind::Plain;
        let mut wanted: Vec<bool> =
            self.contexts.iter().map(|context| context.required || (plain && context.default)).collect();
        let mut files = Vec::new();
        for text in &request.contexts {
            match self.context(text, surroundings)? {
                Found::Contexts(indices) => indices.into_iter().for_each(|index| wanted[index] = true),
                Found::File(chosen) => files.push(chosen),
            }
        }
        let named = self.contexts.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(context, _)| {
            Chosen { name: context.name.clone(), recipe: context.recipe.clone(), required: context.required }
        });
        Ok(named.chain(files).collect())
    }

    fn context(&self, wanted: &str, surroundings: &Surroundings) -> Result<Found, Error> {
        let all = |test: &dyn Fn(&Context) -> bool| -> Vec<usize> {
            self.contexts
                .iter()
                .enumerate()
                .filter(|(_, context)| test(context))
                .map(|(index, _)| index)
                .collect()
        };
        let exact = all(&|context| context.name == wanted);
        let tagged = all(&|context| context.tags.iter().any(|tag| tag == wanted));
        if let Some(found) = [exact, tagged].into_iter().find(|found| !found.is_empty()) {
            return Ok(Found::Contexts(found));
        }
        let path = surroundings.working_directory.join(wanted);
        if path.is_file() || wanted.contains('/') {
            return Ok(Found::File(file(wanted, &path)));
        }
        let names: Vec<&str> = self.contexts.iter().map(|context| context.name.as_str()).collect();
        Ok(Found::Contexts(vec![name::find("context", wanted, &names)?]))
    }
}

/// A file as a context: somebody has asked for it, so it has to be there.
fn file(wanted: &str, path: &Path) -> Chosen {
    let recipe = Recipe::of_file(path.to_string_lossy().into_owned());
    Chosen { name: wanted.to_owned(), recipe, required: true }
}

enum Found {
    Contexts(Vec<usize>),
    File(Chosen),
}
