//! All agents, roles, contexts and tasks there are, read and checked.

use std::collections::HashMap;
use std::time::Duration;

use haft_config::{
    Config, ConfigItem, ConfigSource, Error, ErrorKind, Layer, SourceLocation, Spanned, suggest,
};

use serde::de::DeserializeOwned;

use crate::agent::Agent;
use crate::config_types::{ContextConfig, RoleConfig, SettingsConfig, StringOrList, TaskConfig};
use crate::text_source::{self, DEFAULT_TIMEOUT, TextKeys, TextSource};

/// What haft knows about agents without being told.
const EMBEDDED: &str = include_str!("defaults.toml");

/// Everything that can be launched, and with what.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub(crate) config: Config,
    pub(crate) settings: LaunchSettings,
    pub(crate) agents: Vec<Agent>,
    pub(crate) roles: Vec<AgentRole>,
    pub(crate) contexts: Vec<PromptContext>,
    pub(crate) tasks: Vec<LaunchTask>,
}

/// What holds for every launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchSettings {
    pub(crate) default_agent: Option<String>,
    pub(crate) default_role: Option<String>,
    pub(crate) shell: Option<Spanned<StringOrList>>,
    pub(crate) timeout: Duration,
    pub(crate) mcp: bool,
}

/// Who an agent shall be.
#[derive(Clone, Debug)]
pub struct AgentRole {
    /// What it is called.
    pub name: String,
    /// How its text is made.
    pub source: TextSource,
    /// Whether a launch goes on without it if it cannot be made.
    pub optional: bool,
    /// What it is for.
    pub description: Option<String>,
}

/// What an agent shall know.
#[derive(Clone, Debug)]
pub struct PromptContext {
    /// What it is called.
    pub name: String,
    /// How its text is made.
    pub source: TextSource,
    /// Whether it is part of every launch, and stops it if it cannot be made.
    pub required: bool,
    /// Whether it is part of a launch that says nothing else.
    pub default: bool,
    /// Names that it shares with others.
    pub tags: Vec<String>,
    /// What it is about.
    pub description: Option<String>,
}

/// What an agent is often asked to do.
#[derive(Clone, Debug)]
pub struct LaunchTask {
    /// What it is called.
    pub name: String,
    /// How its text is made.
    pub source: TextSource,
    /// The role that goes with it.
    pub role: Option<String>,
    /// The agent that does it.
    pub agent: Option<String>,
    /// The model it is done with.
    pub model: Option<String>,
    /// Another name.
    pub alias: Option<String>,
    /// Names that it shares with others.
    pub tags: Vec<String>,
    /// What it is about.
    pub description: Option<String>,
}

/// What haft knows without being told, as the lowest layer.
pub fn embedded() -> ConfigSource {
    ConfigSource {
        layer: Layer::Embedded,
        name: "haft's defaults".to_owned(),
        path: None,
        text: EMBEDDED.to_owned(),
    }
}

impl Catalogue {
    /// Reads and checks a configuration, on top of what haft knows without being told.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn read(sources: impl IntoIterator<Item = ConfigSource>) -> Result<Catalogue, Error> {
        let (catalogue, errors) = Catalogue::survey(sources);
        errors.into_iter().next().map_or(Ok(catalogue), Err)
    }

    /// Reads as much of a configuration as can be understood. Yields all that is wrong with it besides: one thing an item.
    pub fn survey(sources: impl IntoIterator<Item = ConfigSource>) -> (Catalogue, Vec<Error>) {
        let mut config = Config::new();
        let mut errors = config.add_lenient(embedded());
        errors.extend(sources.into_iter().flat_map(|source| config.add_lenient(source)));
        let agents = understood(&config, "agent", &mut errors, Agent::read);
        let roles = understood(&config, "role", &mut errors, role);
        let contexts = without_defaults(understood(&config, "context", &mut errors, context));
        let (settings, written) = settings(&config).unwrap_or_else(|error| {
            errors.push(error);
            Default::default()
        });
        let catalogue = Catalogue { settings, agents, roles, contexts, tasks: Vec::new(), config };
        errors.extend(catalogue.refer("agent", &written.default_agent).err());
        errors.extend(catalogue.refer("role", &written.default_role).err());
        let tasks = catalogue.read_tasks(&mut errors);
        (Catalogue { tasks, ..catalogue }, errors)
    }

    fn read_tasks(&self, errors: &mut Vec<Error>) -> Vec<LaunchTask> {
        let (items, faults) = self.config.items_lenient::<TaskConfig>("task");
        errors.extend(faults);
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
        self.refer("role", &item.value.role)?;
        self.refer("agent", &item.value.agent)?;
        if let Some(alias) = &item.value.alias {
            let location = self.config.locate(alias.span);
            if let Some(first) = names.insert(alias.value.clone(), location.clone()) {
                let message = format!("another [[task]] is called \"{}\"", alias.value);
                return Err(Error::at(ErrorKind::Duplicate, &location, message).and_at(&first, "this one"));
            }
        }
        task(&self.config, item)
    }

    /// Refuses a name that nothing has.
    fn refer(&self, kind: &str, wanted: &Option<Spanned<String>>) -> Result<(), Error> {
        let Some(wanted) = wanted else { return Ok(()) };
        let names: Vec<&str> = match kind {
            "agent" => self.agents.iter().map(Agent::name).collect(),
            _ => self.roles.iter().map(|role| role.name.as_str()).collect(),
        };
        if names.contains(&wanted.as_str()) {
            return Ok(());
        }
        let message = format!("there is no {kind} \"{}\"", wanted.value);
        let error = Error::at(ErrorKind::DanglingReference, &self.config.locate(wanted.span), message);
        Err(match suggest(wanted, names.iter().copied()) {
            Some(hint) => error.with_hint(hint),
            None => error.with_hint(format!("define it with [[{kind}]]")),
        })
    }

    /// The agents, in order.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The roles, in order.
    pub fn roles(&self) -> &[AgentRole] {
        &self.roles
    }

    /// The contexts, in order.
    pub fn contexts(&self) -> &[PromptContext] {
        &self.contexts
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> &[LaunchTask] {
        &self.tasks
    }

    /// The agent that is launched unless another is asked for.
    pub fn default_agent(&self) -> Option<&str> {
        self.settings.default_agent.as_deref()
    }

    /// The role that is taken unless another is asked for.
    pub fn default_role(&self) -> Option<&str> {
        self.settings.default_role.as_deref()
    }

    /// The configuration it was read from.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// The contexts that haft knows by itself are for those who have none of their own.
fn without_defaults(mut contexts: Vec<PromptContext>) -> Vec<PromptContext> {
    let is_embedded = |context: &PromptContext| context.source.layer() == Layer::Embedded;
    if !contexts.iter().all(is_embedded) {
        contexts.retain(|context| !is_embedded(context));
    }
    contexts
}

/// The items of a section that can be understood.
fn understood<W: DeserializeOwned, T>(
    config: &Config,
    section: &str,
    errors: &mut Vec<Error>,
    read: impl Fn(&Config, ConfigItem<W>) -> Result<T, Error>,
) -> Vec<T> {
    let (items, faults) = config.items_lenient::<W>(section);
    errors.extend(faults);
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
    let what = format!("[[{kind}]] \"{}\"", item.name);
    TextSource::read(config, &item.location, &what, &TextKeys::from(&item.value))
}
