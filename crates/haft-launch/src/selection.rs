//! From what is asked for to what is launched: names are found, defaults taken.

use std::path::Path;

use crate::agent::Agent;
use crate::catalogue::{AgentRole, Catalogue, LaunchTask, PromptContext};
use crate::error::{Error, ErrorKind};
use crate::host_facts::HostFacts;
use crate::name_lookup;
use crate::text_source::TextSource;

/// What kind of launch it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LaunchKind {
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
pub struct LaunchRequest {
    /// What kind of launch it is.
    pub kind: LaunchKind,
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
pub struct LaunchSelection<'c> {
    pub(crate) catalogue: &'c Catalogue,
    /// The agent.
    pub agent: &'c Agent,
    /// The id of the model.
    pub model: Option<String>,
    /// The role.
    pub role: Option<&'c AgentRole>,
    /// The task.
    pub task: Option<&'c LaunchTask>,
    pub(crate) contexts: Vec<SelectedContext>,
}

/// A context that was chosen.
#[derive(Clone, Debug)]
pub(crate) struct SelectedContext {
    pub(crate) name: String,
    pub(crate) source: TextSource,
    pub(crate) required: bool,
}

impl Catalogue {
    /// Finds what a request means.
    ///
    /// # Errors
    /// A name that nothing has or several have; no agent, or several to choose from.
    pub fn select(&self, request: &LaunchRequest, facts: &HostFacts) -> Result<LaunchSelection<'_>, Error> {
        let task = match &request.kind {
            LaunchKind::Task(name) => Some(self.task(name)?),
            LaunchKind::Plain | LaunchKind::Prompt => None,
        };
        let wanted = request.agent.as_deref().or_else(|| task?.agent.as_deref()).or(self.default_agent());
        let agent = match wanted {
            Some(name) => self.agent(name)?,
            None => self.installed_agent(facts)?,
        };
        let model = request.model.as_deref().or_else(|| task?.model.as_deref());
        let role = request.role.as_deref().or_else(|| task?.role.as_deref()).or(self.default_role());
        let role = role.filter(|_| !request.no_role).map(|name| self.role(name)).transpose()?;
        Ok(LaunchSelection {
            catalogue: self,
            agent,
            model: agent.model(model),
            role,
            task,
            contexts: self.chosen(request, facts)?,
        })
    }

    /// The agent that a name means.
    ///
    /// # Errors
    /// If none or several are meant.
    pub fn agent(&self, wanted: &str) -> Result<&Agent, Error> {
        let names: Vec<&str> = self.agents.iter().map(Agent::name).collect();
        Ok(&self.agents[name_lookup::find("agent", wanted, &names)?])
    }

    /// The role that a name means.
    ///
    /// # Errors
    /// If none or several are meant.
    pub fn role(&self, wanted: &str) -> Result<&AgentRole, Error> {
        let names: Vec<&str> = self.roles.iter().map(|role| role.name.as_str()).collect();
        Ok(&self.roles[name_lookup::find("role", wanted, &names)?])
    }

    /// The task that a name or an alias means.
    ///
    /// # Errors
    /// If none or several are meant.
    pub fn task(&self, wanted: &str) -> Result<&LaunchTask, Error> {
        if let Some(task) = self.tasks.iter().find(|task| task.alias.as_deref() == Some(wanted)) {
            return Ok(task);
        }
        let names: Vec<&str> = self.tasks.iter().map(|task| task.name.as_str()).collect();
        Ok(&self.tasks[name_lookup::find("task", wanted, &names)?])
    }

    /// The only agent that is installed.
    fn installed_agent(&self, facts: &HostFacts) -> Result<&Agent, Error> {
        let installed: Vec<&Agent> =
            self.agents.iter().filter(|agent| facts.find(&agent.bin).is_some()).collect();
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
    fn chosen(&self, request: &LaunchRequest, facts: &HostFacts) -> Result<Vec<SelectedContext>, Error> {
        let plain = request.kind == LaunchKind::Plain;
        let mut wanted: Vec<bool> =
            self.contexts.iter().map(|context| context.required || (plain && context.default)).collect();
        let mut files = Vec::new();
        for text in &request.contexts {
            match self.context(text, facts)? {
                ContextMatch::Contexts(indices) => indices.into_iter().for_each(|index| wanted[index] = true),
                ContextMatch::File(chosen) => files.push(chosen),
            }
        }
        let named = self.contexts.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(context, _)| {
            SelectedContext {
                name: context.name.clone(),
                source: context.source.clone(),
                required: context.required,
            }
        });
        Ok(named.chain(files).collect())
    }

    fn context(&self, wanted: &str, facts: &HostFacts) -> Result<ContextMatch, Error> {
        let all = |test: &dyn Fn(&PromptContext) -> bool| -> Vec<usize> {
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
            return Ok(ContextMatch::Contexts(found));
        }
        let path = facts.working_directory.join(wanted);
        if path.is_file() || wanted.contains('/') {
            return Ok(ContextMatch::File(file(wanted, &path)));
        }
        let names: Vec<&str> = self.contexts.iter().map(|context| context.name.as_str()).collect();
        Ok(ContextMatch::Contexts(vec![name_lookup::find("context", wanted, &names)?]))
    }
}

/// A file as a context: somebody has asked for it, so it has to be there.
fn file(wanted: &str, path: &Path) -> SelectedContext {
    let source = TextSource::of_file(path.to_string_lossy().into_owned());
    SelectedContext { name: wanted.to_owned(), source, required: true }
}

enum ContextMatch {
    Contexts(Vec<usize>),
    File(SelectedContext),
}
