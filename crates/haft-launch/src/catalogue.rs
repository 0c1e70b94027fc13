//! All agents, roles, contexts and tasks there are, read and checked.

use std::collections::HashMap;
use std::time::Duration;

use haft_config::{Config, Error, ErrorKind, Item, Layer, Located, Place, Source, suggest};

use serde::de::DeserializeOwned;

use crate::agent::Agent;
use crate::recipe::{self, DEFAULT_TIMEOUT, Parts, Recipe};
use crate::written::{self, Texts};

/// What haft knows about agents without being told.
const EMBEDDED: &str = include_str!("defaults.toml");

/// Everything that can be launched, and with what.
#[derive(Clone, Debug)]
pub struct Catalogue {
    pub(crate) config: Config,
    pub(crate) settings: Settings,
    pub(crate) agents: Vec<Agent>,
    pub(crate) roles: Vec<Role>,
    pub(crate) contexts: Vec<Context>,
    pub(crate) tasks: Vec<Task>,
}

/// What holds for every launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) default_agent: Option<String>,
    pub(crate) default_role: Option<String>,
    pub(crate) shell: Option<Located<Texts>>,
    pub(crate) timeout: Duration,
    pub(crate) mcp: bool,
}

/// Who an agent shall be.
#[derive(Clone, Debug)]
pub struct Role {
    /// What it is called.
    pub name: String,
    /// How its text is made.
    pub recipe: Recipe,
    /// Whether a launch goes on without it if it cannot be made.
    pub optional: bool,
    /// What it is for.
    pub description: Option<String>,
}

/// What an agent shall know.
#[derive(Clone, Debug)]
pub struct Context {
    /// What it is called.
    pub name: String,
    /// How its text is made.
    pub recipe: Recipe,
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
pub struct Task {
    /// What it is called.
    pub name: String,
    /// How its text is made.
    pub recipe: Recipe,
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
pub fn embedded() -> Source {
    Source {
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
    pub fn read(sources: impl IntoIterator<Item = Source>) -> Result<Catalogue, Error> {
        let (catalogue, errors) = Catalogue::survey(sources);
        errors.into_iter().next().map_or(Ok(catalogue), Err)
    }

    /// Reads as much of a configuration as can be understood. Yields all that is wrong with it besides: one thing an item.
    pub fn survey(sources: impl IntoIterator<Item = Source>) -> (Catalogue, Vec<Error>) {
        let mut config = Config::new();
        let mut errors = config.add_anyway(embedded());
        errors.extend(sources.into_iter().flat_map(|source| config.add_anyway(source)));
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

    fn read_tasks(&self, errors: &mut Vec<Error>) -> Vec<Task> {
        let (items, faults) = self.config.items_anyway::<written::Task>("task");
        errors.extend(faults);
        let mut names: HashMap<String, Place> =
            items.iter().map(|item| (item.name.clone(), item.place.clone())).collect();
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
        item: Item<written::Task>,
        names: &mut HashMap<String, Place>,
    ) -> Result<Task, Error> {
        self.refer("role", &item.value.role)?;
        self.refer("agent", &item.value.agent)?;
        if let Some(alias) = &item.value.alias {
            let place = self.config.place(alias.mark);
            if let Some(first) = names.insert(alias.value.clone(), place.clone()) {
                let message = format!("another [[task]] is called \"{}\"", alias.value);
                return Err(Error::at(ErrorKind::Duplicate, &place, message).and_at(&first, "this one"));
            }
        }
        task(&self.config, item)
    }

    /// Refuses a name that nothing has.
    fn refer(&self, kind: &str, wanted: &Option<Located<String>>) -> Result<(), Error> {
        let Some(wanted) = wanted else { return Ok(()) };
        let names: Vec<&str> = match kind {
            "agent" => self.agents.iter().map(Agent::name).collect(),
            _ => self.roles.iter().map(|role| role.name.as_str()).collect(),
        };
        if names.contains(&wanted.as_str()) {
            return Ok(());
        }
        let message = format!("there is no {kind} \"{}\"", wanted.value);
        let error = Error::at(ErrorKind::DanglingReference, &self.config.place(wanted.mark), message);
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
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The contexts, in order.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> &[Task] {
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
fn without_defaults(mut contexts: Vec<Context>) -> Vec<Context> {
    let is_embedded = |context: &Context| context.recipe.layer() == Layer::Embedded;
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
    read: impl Fn(&Config, Item<W>) -> Result<T, Error>,
) -> Vec<T> {
    let (items, faults) = config.items_anyway::<W>(section);
    errors.extend(faults);
    let read = |item| read(config, item).map_err(|error| errors.push(error)).ok();
    items.into_iter().filter_map(read).collect()
}

fn settings(config: &Config) -> Result<(Settings, written::Settings), Error> {
    let written = config.settings::<written::Settings>("settings")?.unwrap_or_default();
    let text = |located: &Option<Located<String>>| located.as_ref().map(|located| located.value.clone());
    let settings = Settings {
        timeout: recipe::timeout(config, &written.timeout)?.unwrap_or(DEFAULT_TIMEOUT),
        default_agent: text(&written.default_agent),
        default_role: text(&written.default_role),
        shell: written.shell.clone(),
        mcp: written.mcp.unwrap_or(true),
    };
    Ok((settings, written))
}

fn role(config: &Config, item: Item<written::Role>) -> Result<Role, Error> {
    let recipe = recipe_of("role", config, &item)?;
    let Item { name, value, .. } = item;
    Ok(Role { name, recipe, optional: value.optional, description: value.description })
}

fn context(config: &Config, item: Item<written::Context>) -> Result<Context, Error> {
    let recipe = recipe_of("context", config, &item)?;
    let Item { name, value, .. } = item;
    let written::Context { required, default, tags, description, .. } = value;
    Ok(Context { name, recipe, required, default, tags, description })
}

fn task(config: &Config, item: Item<written::Task>) -> Result<Task, Error> {
    let recipe = recipe_of("task", config, &item)?;
    let Item { name, value, .. } = item;
    let text = |located: Option<Located<String>>| located.map(|located| located.value);
    Ok(Task {
        name,
        recipe,
        role: text(value.role),
        agent: text(value.agent),
        model: value.model,
        alias: text(value.alias),
        tags: value.tags,
        description: value.description,
    })
}

fn recipe_of<T>(kind: &str, config: &Config, item: &Item<T>) -> Result<Recipe, Error>
where
    for<'w> Parts<'w>: From<&'w T>,
{
    let what = format!("[[{kind}]] \"{}\"", item.name);
    Recipe::read(config, &item.place, &what, &Parts::from(&item.value))
}
