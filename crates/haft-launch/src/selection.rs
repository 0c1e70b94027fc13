//! Resolves a launch request: looks up names and applies defaults.

use std::path::Path;

use crate::agent::Agent;
use crate::catalogue::{AgentRole, Catalogue, LaunchTask, PromptContext};
use crate::error::{Error, ErrorKind};
use crate::host_facts::HostFacts;
use crate::name_lookup;
use crate::text_source::TextSource;

/// The kind of launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LaunchKind {
    /// Uses the required and default contexts.
    #[default]
    Plain,
    /// Uses the required contexts and the user's text.
    Prompt,
    /// Uses the required contexts and the task of this name.
    Task(String),
}

/// A launch request.
#[derive(Clone, Debug, Default)]
pub struct LaunchRequest {
    /// The kind of launch.
    pub kind: LaunchKind,
    /// Agent name.
    pub agent: Option<String>,
    /// Model alias or id.
    pub model: Option<String>,
    /// Role name.
    pub role: Option<String>,
    /// If true, no role is used.
    pub no_role: bool,
    /// Additional contexts by name, tag or path.
    pub contexts: Vec<String>,
    /// The user's instructions.
    pub instructions: Option<Vec<u8>>,
    /// If true, the agent runs non-interactively.
    pub batch: bool,
    /// If true, the agent gets the `haft mcp` server, provided it supports MCP and the settings allow it.
    pub mcp: bool,
}

/// The resolved agent, role, task and contexts of a launch.
#[derive(Clone, Debug)]
pub struct LaunchSelection<'c> {
    pub(crate) catalogue: &'c Catalogue,
    /// The agent.
    pub agent: &'c Agent,
    /// The model id.
    pub model: Option<String>,
    /// The role.
    pub role: Option<&'c AgentRole>,
    /// The task.
    pub task: Option<&'c LaunchTask>,
    pub(crate) contexts: Vec<SelectedContext>,
}

/// A selected context.
#[derive(Clone, Debug)]
pub(crate) struct SelectedContext {
    pub(crate) name: String,
    pub(crate) source: TextSource,
    pub(crate) required: bool,
}

impl Catalogue {
    /// Resolves a request.
    ///
    /// # Errors
    /// Fails if a name is unknown or ambiguous, or if no agent or several agents are installed and none is
    /// chosen.
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
            contexts: self.selected_contexts(request, facts)?,
        })
    }

    /// Finds an agent by name or by a unique part of it.
    ///
    /// # Errors
    /// Fails if the name is unknown or ambiguous.
    pub fn agent(&self, wanted: &str) -> Result<&Agent, Error> {
        let names: Vec<&str> = self.agents.iter().map(Agent::name).collect();
        Ok(&self.agents[name_lookup::find("agent", wanted, &names)?])
    }

    /// Finds a role by name or by a unique part of it.
    ///
    /// # Errors
    /// Fails if the name is unknown or ambiguous.
    pub fn role(&self, wanted: &str) -> Result<&AgentRole, Error> {
        let names: Vec<&str> = self.roles.iter().map(|role| role.name.as_str()).collect();
        Ok(&self.roles[name_lookup::find("role", wanted, &names)?])
    }

    /// Finds a task by name, by a unique part of it, or by its alias.
    ///
    /// # Errors
    /// Fails if the name is unknown or ambiguous.
    pub fn task(&self, wanted: &str) -> Result<&LaunchTask, Error> {
        if let Some(task) = self.tasks.iter().find(|task| task.alias.as_deref() == Some(wanted)) {
            return Ok(task);
        }
        let names: Vec<&str> = self.tasks.iter().map(|task| task.name.as_str()).collect();
        Ok(&self.tasks[name_lookup::find("task", wanted, &names)?])
    }

    /// The only installed agent.
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

    /// The contexts of a launch: configured ones in definition order, then files in the order given.
    fn selected_contexts(
        &self,
        request: &LaunchRequest,
        facts: &HostFacts,
    ) -> Result<Vec<SelectedContext>, Error> {
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

/// A file that the user names as a context. It must exist.
fn file(wanted: &str, path: &Path) -> SelectedContext {
    let source = TextSource::of_file(path.to_string_lossy().into_owned());
    SelectedContext { name: wanted.to_owned(), source, required: true }
}

enum ContextMatch {
    Contexts(Vec<usize>),
    File(SelectedContext),
}
