//! All configured agents, roles, contexts and tasks.

use std::collections::HashMap;
use std::time::Duration;

use haft_config::{
    Config, ConfigItem, ConfigSource, Error, ErrorKind, Layer, SourceLocation, Spanned, suggest,
};

use serde::de::DeserializeOwned;

use crate::agent::Agent;
use crate::config_types::{ContextConfig, RoleConfig, SettingsConfig, StringOrList, TaskConfig};
use crate::text_source::{self, DEFAULT_TIMEOUT, TextKeys, TextSource};

/// Default definitions of agents and contexts.
const EMBEDDED: &str = include_str!("defaults.toml");

/// All configured agents, roles, contexts and tasks, with their references checked.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub(crate) config: Config,
    pub(crate) settings: LaunchSettings,
    pub(crate) agents: Vec<Agent>,
    pub(crate) roles: Vec<AgentRole>,
    pub(crate) contexts: Vec<PromptContext>,
    pub(crate) tasks: Vec<LaunchTask>,
}

/// Settings for all launches.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchSettings {
    pub(crate) default_agent: Option<String>,
    pub(crate) default_role: Option<String>,
    pub(crate) shell: Option<Spanned<StringOrList>>,
    pub(crate) timeout: Duration,
    pub(crate) mcp: bool,
    /// If true, haft's tools need no approval in a non-interactive run.
    pub(crate) approve_haft: bool,
}

/// A role: instructions about how the agent behaves.
#[derive(Clone, Debug)]
pub struct AgentRole {
    /// The name.
    pub name: String,
    /// The source of the text.
    pub source: TextSource,
    /// If true, a launch continues without the role when its text cannot be built.
    pub optional: bool,
    /// The description, if there is one.
    pub description: Option<String>,
}

/// A context: information for the prompt.
#[derive(Clone, Debug)]
pub struct PromptContext {
    /// The name.
    pub name: String,
    /// The source of the text.
    pub source: TextSource,
    /// If true, the context is part of every launch, and a launch fails without it.
    pub required: bool,
    /// If true, the context is part of launches without a task or prompt command.
    pub default: bool,
    /// Tags to select it by.
    pub tags: Vec<String>,
    /// The description, if there is one.
    pub description: Option<String>,
}

/// A task: a prompt with a name.
#[derive(Clone, Debug)]
pub struct LaunchTask {
    /// The name.
    pub name: String,
    /// The source of the text.
    pub source: TextSource,
    /// The role to use.
    pub role: Option<String>,
    /// The agent to use.
    pub agent: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// An alternative name.
    pub alias: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// The description, if there is one.
    pub description: Option<String>,
}

/// The embedded defaults as a configuration source of the lowest layer.
pub fn embedded() -> ConfigSource {
    ConfigSource {
        layer: Layer::Embedded,
        name: "haft's defaults".to_owned(),
        path: None,
        text: EMBEDDED.to_owned(),
    }
}

impl Catalogue {
    /// Reads and checks configuration on top of the embedded defaults.
    ///
    /// # Errors
    /// Fails with the first error found.
    pub fn read(sources: impl IntoIterator<Item = ConfigSource>) -> Result<Catalogue, Error> {
        let (catalogue, errors) = Catalogue::read_lenient(sources);
        errors.into_iter().next().map_or(Ok(catalogue), Err)
    }

    /// Reads configuration and returns the valid items together with all errors, at most one for each item.
    pub fn read_lenient(sources: impl IntoIterator<Item = ConfigSource>) -> (Catalogue, Vec<Error>) {
        let mut config = Config::new();
        let mut errors = config.add_lenient(embedded());
        errors.extend(sources.into_iter().flat_map(|source| config.add_lenient(source)));
        let agents = convert_items(&config, "agent", &mut errors, Agent::read);
        let roles = convert_items(&config, "role", &mut errors, role);
        let contexts = without_defaults(convert_items(&config, "context", &mut errors, context));
        let (settings, written) = settings(&config).unwrap_or_else(|error| {
            errors.push(error);
            Default::default()
        });
        let catalogue = Catalogue { settings, agents, roles, contexts, tasks: Vec::new(), config };
        errors.extend(catalogue.check_reference("agent", &written.default_agent).err());
        errors.extend(catalogue.check_reference("role", &written.default_role).err());
        let tasks = catalogue.read_tasks(&mut errors);
        (Catalogue { tasks, ..catalogue }, errors)
    }

    fn read_tasks(&self, errors: &mut Vec<Error>) -> Vec<LaunchTask> {
        let (items, item_errors) = self.config.items_lenient::<TaskConfig>("task");
        errors.extend(item_errors);
        let mut names: HashMap<String, SourceLocation> =
            items.iter().map(|item| (item.name.clone(), item.location.clone())).collect();
        let mut tasks = Vec::new();
        for item in items {
            match self.read_task(item, &mut names) {
                Ok(task) => tasks.push(task),
                Err(error) => errors.push(error),
            }
        }
        tasks
    }

    fn read_task(
        &self,
        item: ConfigItem<TaskConfig>,
        names: &mut HashMap<String, SourceLocation>,
    ) -> Result<LaunchTask, Error> {
        self.check_reference("role", &item.value.role)?;
        self.check_reference("agent", &item.value.agent)?;
        if let Some(alias) = &item.value.alias {
            let location = self.config.locate(alias.span);
            if let Some(first) = names.insert(alias.value.clone(), location.clone()) {
                let message = format!("duplicate name '{}' in [[task]]", alias.value);
                return Err(
                    Error::at(ErrorKind::Duplicate, &location, message).and_at(&first, "first defined here")
                );
            }
        }
        task(&self.config, item)
    }

    /// Fails if no agent or role has the name.
    fn check_reference(&self, kind: &str, wanted: &Option<Spanned<String>>) -> Result<(), Error> {
        let Some(wanted) = wanted else { return Ok(()) };
        let names: Vec<&str> = match kind {
            "agent" => self.agents.iter().map(Agent::name).collect(),
            _ => self.roles.iter().map(|role| role.name.as_str()).collect(),
        };
        if names.contains(&wanted.as_str()) {
            return Ok(());
        }
        let message = format!("unknown {kind} '{}'", wanted.value);
        let error = Error::at(ErrorKind::DanglingReference, &self.config.locate(wanted.span), message);
        Err(match suggest(wanted, names.iter().copied()) {
            Some(hint) => error.with_hint(hint),
            None => error.with_hint(format!("define it with [[{kind}]]")),
        })
    }

    /// The agents in definition order.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The roles in definition order.
    pub fn roles(&self) -> &[AgentRole] {
        &self.roles
    }

    /// The contexts in definition order.
    pub fn contexts(&self) -> &[PromptContext] {
        &self.contexts
    }

    /// The tasks in definition order.
    pub fn tasks(&self) -> &[LaunchTask] {
        &self.tasks
    }

    /// The agent to launch by default.
    pub fn default_agent(&self) -> Option<&str> {
        self.settings.default_agent.as_deref()
    }

    /// The role to use by default.
    pub fn default_role(&self) -> Option<&str> {
        self.settings.default_role.as_deref()
    }

    /// The underlying configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// Drops the embedded contexts if the configuration defines its own.
fn without_defaults(mut contexts: Vec<PromptContext>) -> Vec<PromptContext> {
    let is_embedded = |context: &PromptContext| context.source.layer() == Layer::Embedded;
    if !contexts.iter().all(is_embedded) {
        contexts.retain(|context| !is_embedded(context));
    }
    contexts
}

/// Converts the items of a section and collects errors.
fn convert_items<W: DeserializeOwned, T>(
    config: &Config,
    section: &str,
    errors: &mut Vec<Error>,
    read: impl Fn(&Config, ConfigItem<W>) -> Result<T, Error>,
) -> Vec<T> {
    let (items, item_errors) = config.items_lenient::<W>(section);
    errors.extend(item_errors);
    let read = |item| read(config, item).map_err(|error| errors.push(error)).ok();
    items.into_iter().filter_map(read).collect()
}

fn settings(config: &Config) -> Result<(LaunchSettings, SettingsConfig), Error> {
    let written = config.settings::<SettingsConfig>("settings")?.unwrap_or_default();
    let text = |located: &Option<Spanned<String>>| located.as_ref().map(|located| located.value.clone());
    let settings = LaunchSettings {
        timeout: text_source::timeout(config, &written.timeout)?.unwrap_or(DEFAULT_TIMEOUT),
        default_agent: text(&written.default_agent),
        default_role: text(&written.default_role),
        shell: written.shell.clone(),
        mcp: written.mcp.unwrap_or(true),
        approve_haft: written.approve_haft.unwrap_or(true),
    };
    Ok((settings, written))
}

fn role(config: &Config, item: ConfigItem<RoleConfig>) -> Result<AgentRole, Error> {
    let source = text_source_of("role", config, &item)?;
    let ConfigItem { name, value, .. } = item;
    Ok(AgentRole { name, source, optional: value.optional, description: value.description })
}

fn context(config: &Config, item: ConfigItem<ContextConfig>) -> Result<PromptContext, Error> {
    let source = text_source_of("context", config, &item)?;
    let ConfigItem { name, value, .. } = item;
    let ContextConfig { required, default, tags, description, .. } = value;
    Ok(PromptContext { name, source, required, default, tags, description })
}

fn task(config: &Config, item: ConfigItem<TaskConfig>) -> Result<LaunchTask, Error> {
    let source = text_source_of("task", config, &item)?;
    let ConfigItem { name, value, .. } = item;
    let text = |located: Option<Spanned<String>>| located.map(|located| located.value);
    Ok(LaunchTask {
        name,
        source,
        role: text(value.role),
        agent: text(value.agent),
        model: value.model,
        alias: text(value.alias),
        tags: value.tags,
        description: value.description,
    })
}

fn text_source_of<T>(kind: &str, config: &Config, item: &ConfigItem<T>) -> Result<TextSource, Error>
where
    for<'w> TextKeys<'w>: From<&'w T>,
{
    let what = format!("[[{kind}]] '{}'", item.name);
    TextSource::read(config, &item.location, &what, &TextKeys::from(&item.value))
}
