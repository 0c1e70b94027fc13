//! Resolves a launch request: looks up names and applies defaults.

use std::borrow::Cow;
use std::ffi::OsString;
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
    /// Uses the required contexts and the task of this name, or the file at this path.
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
    /// Role name, or the path of a file.
    pub role: Option<String>,
    /// If true, no role is used.
    pub no_role: bool,
    /// Additional contexts by name, tag or path. Commas separate several of them.
    pub contexts: Vec<String>,
    /// The user's instructions.
    pub instructions: Option<Vec<u8>>,
    /// If true, the agent runs non-interactively.
    pub batch: bool,
    /// If true, the agent gets the `haft mcp` server, provided it supports MCP and the settings allow it.
    pub mcp: bool,
    /// Additional arguments for the agent.
    pub arguments: Vec<OsString>,
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
    pub role: Option<Cow<'c, AgentRole>>,
    /// The task.
    pub task: Option<Cow<'c, LaunchTask>>,
    pub(crate) contexts: Vec<SelectedContext>,
    /// Notes about default contexts that the agent reads itself.
    pub(crate) skipped: Vec<String>,
}

impl LaunchSelection<'_> {
    /// Whether the agent should have haft's tools, but a launch cannot give it an MCP server.
    pub fn lacks_mcp_server(&self, request: &LaunchRequest) -> bool {
        request.mcp && self.catalogue.settings.mcp && !self.agent.takes_mcp_server()
    }
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
            LaunchKind::Task(name) => Some(self.task_or_file(name, facts)?),
            LaunchKind::Plain | LaunchKind::Prompt => None,
        };
        let of_task =
            |key: fn(&LaunchTask) -> &Option<String>| task.as_deref().and_then(|task| key(task).as_deref());
        let wanted =
            request.agent.as_deref().or_else(|| of_task(|task| &task.agent)).or(self.default_agent());
        let agent = match wanted {
            Some(name) => self.agent(name)?,
            None => self.installed_agent(facts)?,
        };
        let model = agent.model(request.model.as_deref().or_else(|| of_task(|task| &task.model)));
        let named_role = request.role.as_deref().map(|name| self.role_or_file(name, facts));
        let default_role = || of_task(|task| &task.role).or(self.default_role());
        let configured_role = || default_role().map(|name| self.role(name).map(Cow::Borrowed));
        let role = match request.no_role {
            true => None,
            false => named_role.or_else(configured_role).transpose()?,
        };
        let mut skipped = Vec::new();
        let contexts = self.selected_contexts(request, agent, facts, &mut skipped)?;
        Ok(LaunchSelection { catalogue: self, agent, model, role, task, contexts, skipped })
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

    /// The role of this name, or the file at this path.
    fn role_or_file(&self, wanted: &str, facts: &HostFacts) -> Result<Cow<'_, AgentRole>, Error> {
        match self.roles.iter().all(|role| role.name != wanted).then(|| named_file(wanted, facts)).flatten() {
            None => self.role(wanted).map(Cow::Borrowed),
            Some(source) => Ok(Cow::Owned(AgentRole {
                name: wanted.to_owned(),
                source,
                optional: false,
                description: None,
            })),
        }
    }

    /// The task of this name, or the file at this path.
    fn task_or_file(&self, wanted: &str, facts: &HostFacts) -> Result<Cow<'_, LaunchTask>, Error> {
        let is_name = |task: &LaunchTask| task.name == wanted || task.alias.as_deref() == Some(wanted);
        match (!self.tasks.iter().any(is_name)).then(|| named_file(wanted, facts)).flatten() {
            None => self.task(wanted).map(Cow::Borrowed),
            Some(source) => Ok(Cow::Owned(LaunchTask {
                name: wanted.to_owned(),
                source,
                role: None,
                agent: None,
                model: None,
                alias: None,
                tags: Vec::new(),
                description: None,
            })),
        }
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

    /// The contexts of a launch: configured ones in definition order, then files in the order given. A default
    /// context that the agent reads itself is left out.
    fn selected_contexts(
        &self,
        request: &LaunchRequest,
        agent: &Agent,
        facts: &HostFacts,
        skipped: &mut Vec<String>,
    ) -> Result<Vec<SelectedContext>, Error> {
        let plain = request.kind == LaunchKind::Plain;
        let mut wanted: Vec<bool> = self.contexts.iter().map(|context| context.required).collect();
        for (context, wanted) in self.contexts.iter().zip(&mut wanted).filter(|_| plain) {
            match agent.file_read_by_itself(&context.source, facts) {
                _ if !context.default || *wanted => {}
                None => *wanted = true,
                Some(file) => skipped.push(format!(
                    "context '{}' is left out: {} reads {file} itself",
                    context.name, agent.name
                )),
            }
        }
        let mut files = Vec::new();
        for text in request.contexts.iter().flat_map(|text| self.split(text, facts)) {
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

    /// The contexts in a list with commas. The name of a context or an existing file may contain a comma.
    fn split<'t>(&self, text: &'t str, facts: &HostFacts) -> Vec<&'t str> {
        let is_context = self.contexts.iter().any(|context| context.name == text);
        if is_context || facts.working_directory.join(text).exists() {
            return vec![text];
        }
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
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
        if let Some(path) = named_path(wanted, facts) {
            return Ok(ContextMatch::File(file(wanted, &path)));
        }
        let names: Vec<&str> = self.contexts.iter().map(|context| context.name.as_str()).collect();
        Ok(ContextMatch::Contexts(vec![name_lookup::find("context", wanted, &names)?]))
    }
}

impl Agent {
    /// The file of a text source, if the agent reads this file itself.
    fn file_read_by_itself(&self, source: &TextSource, facts: &HostFacts) -> Option<&str> {
        let file = source.locate(facts)?.canonicalize().ok()?;
        let is_same = |name: &&String| {
            let read = crate::text_file::locate(name, haft_config::Layer::Embedded, facts);
            read.canonicalize().is_ok_and(|read| read == file)
        };
        self.reads.iter().find(is_same).map(String::as_str)
    }
}

/// The path, if the user names a file: a word with a slash, or the name of a file in the working directory.
fn named_path(wanted: &str, facts: &HostFacts) -> Option<std::path::PathBuf> {
    let path = facts.working_directory.join(wanted);
    (wanted.contains('/') || path.is_file()).then_some(path)
}

/// The text of a file that the user names as a role or task.
fn named_file(wanted: &str, facts: &HostFacts) -> Option<TextSource> {
    named_path(wanted, facts).map(|path| TextSource::of_plain_file(path.to_string_lossy().into_owned()))
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
