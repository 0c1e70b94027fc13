//! Agent definitions: the command, and how the agent accepts its prompt.

use std::collections::HashSet;

use haft_config::{Config, ConfigItem, Error, ErrorKind, SourceLocation, Spanned, suggest};
use serde::Serialize;

use crate::config_types::{AgentConfig, CommandConfig, CommandWordConfig, StringOrList};
use crate::invocation::{CommandWord, Invocation};
use crate::mcp_config::McpFormat;
use crate::name_lookup;
use crate::template::{Template, TemplateKind};

/// How an agent receives its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PromptDelivery {
    /// As an argument, in place of `{prompt}`.
    Argv,
    /// In an environment variable, in place of `{prompt}`.
    Env,
    /// In a file whose path replaces `{prompt_file}`.
    File,
    /// On standard input.
    Stdin,
}

const DELIVERIES: [(&str, Option<PromptDelivery>); 5] = [
    ("argv", Some(PromptDelivery::Argv)),
    ("stdin", Some(PromptDelivery::Stdin)),
    ("file", Some(PromptDelivery::File)),
    ("env", Some(PromptDelivery::Env)),
    ("auto", None),
];

/// An agent that can be launched.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) location: SourceLocation,
    pub(crate) bin: String,
    pub(crate) command: Invocation,
    pub(crate) batch: Option<Invocation>,
    /// Accepted prompt deliveries in order of preference. Empty if they follow from the command's
    /// placeholders.
    pub(crate) deliveries: Vec<PromptDelivery>,
    pub(crate) models: Vec<(String, String)>,
    pub(crate) default_model: Option<String>,
    pub(crate) environment: Vec<(String, Template)>,
    pub(crate) mcp: McpFormat,
    /// Files of the project that the agent reads itself.
    pub(crate) reads: Vec<String>,
    pub(crate) description: Option<String>,
}

impl Agent {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program: a path, or a name to look up in `PATH`.
    pub fn bin(&self) -> &str {
        &self.bin
    }

    /// The description, if there is one.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The place of the agent's definition.
    pub fn location(&self) -> &SourceLocation {
        &self.location
    }

    /// The models as pairs of alias and id.
    pub fn models(&self) -> &[(String, String)] {
        &self.models
    }

    /// Whether the command that runs starts `bin`. A shell command line may start another program.
    pub fn starts_bin(&self, batch: bool) -> bool {
        self.invocation(batch).uses("bin")
    }

    /// Whether a launch gives the agent the `haft mcp` server. Others read servers from their own files only.
    pub fn takes_mcp_server(&self) -> bool {
        ["mcp_config", "mcp_command"]
            .iter()
            .any(|name| self.any_command_uses(name) || self.environment_uses(name))
    }

    /// The command to run. With `batch`, the non-interactive command if the agent has one.
    pub(crate) fn invocation(&self, batch: bool) -> &Invocation {
        self.batch.as_ref().filter(|_| batch).unwrap_or(&self.command)
    }

    /// Resolves a model: an alias, a unique part of one, or an id. Without `wanted`, the default model.
    pub fn model(&self, wanted: Option<&str>) -> Option<String> {
        let wanted = wanted.or(self.default_model.as_deref())?;
        let aliases: Vec<&str> = self.models.iter().map(|(alias, _)| alias.as_str()).collect();
        let is_id = self.models.iter().any(|(_, id)| id == wanted);
        let alias = match aliases.iter().position(|alias| *alias == wanted) {
            Some(index) => Some(index),
            None if is_id => None,
            None => match name_lookup::matching(wanted, &aliases).as_slice() {
                [index] => Some(*index),
                _ => None,
            },
        };
        Some(alias.map_or_else(|| wanted.to_owned(), |index| self.models[index].1.clone()))
    }

    /// Returns true if one of the agent's commands uses the placeholder.
    pub(crate) fn any_command_uses(&self, name: &str) -> bool {
        [Some(&self.command), self.batch.as_ref()]
            .into_iter()
            .flatten()
            .any(|invocation| invocation.uses(name))
    }

    /// Returns true if an environment variable of the agent uses the placeholder.
    pub(crate) fn environment_uses(&self, name: &str) -> bool {
        self.environment.iter().any(|(_, value)| value.names().any(|used| used == name))
    }

    /// Converts a configuration item.
    pub(crate) fn read(config: &Config, item: ConfigItem<AgentConfig>) -> Result<Agent, Error> {
        let written = item.value;
        let reader = AgentReader { config, name: &item.name, shell: written.shell };
        let default = || Invocation::Words(vec![single("bin"), CommandWord::Group(vec![single("prompt")])]);
        let command = written.command.as_ref().map(|words| reader.invocation(words)).transpose()?;
        let batch = written.batch.as_ref().map(|words| reader.invocation(words)).transpose()?;
        let environment = reader.environment(&written.env.0)?;
        let agent = Agent {
            bin: written.bin.as_ref().map_or_else(|| item.name.clone(), |bin| bin.value.clone()),
            command: command.unwrap_or_else(default),
            batch,
            deliveries: written
                .prompt
                .as_ref()
                .map(|deliveries| reader.deliveries(deliveries))
                .transpose()?
                .unwrap_or_default(),
            models: written.models.0,
            default_model: written.default_model,
            environment,
            mcp: written.mcp.as_ref().map(|format| reader.format(format)).transpose()?.unwrap_or_default(),
            reads: written.reads,
            description: written.description,
            name: item.name,
            location: item.location,
        };
        if let Some(bin) = written.bin.as_ref().filter(|bin| bin.is_empty()) {
            let message = format!("'bin' of [[agent]] '{}' is empty", agent.name);
            return Err(Error::at(ErrorKind::WrongValue, &config.locate(bin.span), message));
        }
        if let Some(deliveries) = &written.prompt {
            agent.check_ways(&config.locate(deliveries.span))?;
        }
        Ok(agent)
    }

    /// Fails if a configured delivery has no matching placeholder.
    fn check_ways(&self, location: &SourceLocation) -> Result<(), Error> {
        let uses = |name: &str| self.any_command_uses(name);
        for delivery in &self.deliveries {
            let (word, missing) = match delivery {
                PromptDelivery::Argv if !uses("prompt") => ("argv", "its command has no {prompt}"),
                PromptDelivery::File if !uses("prompt_file") && !self.environment_uses("prompt_file") => {
                    ("file", "neither its command nor its 'env' has {prompt_file}")
                }
                PromptDelivery::Env if !self.environment_uses("prompt") => {
                    ("env", "its 'env' has no {prompt}")
                }
                _ => continue,
            };
            let message = format!("[[agent]] '{}' uses prompt delivery '{word}', but {missing}", self.name);
            return Err(Error::at(ErrorKind::WrongValue, &location.narrowed(word), message));
        }
        Ok(())
    }
}

fn single(name: &str) -> CommandWord {
    CommandWord::Single(Template::of(name))
}

struct AgentReader<'c> {
    config: &'c Config,
    name: &'c str,
    shell: bool,
}

impl AgentReader<'_> {
    fn invocation(&self, written: &Spanned<CommandConfig>) -> Result<Invocation, Error> {
        let location = self.config.locate(written.span);
        let refuse = |message: &str, hint: &str| {
            let message = format!("the command of [[agent]] '{}' {message}", self.name);
            Err(Error::at(ErrorKind::WrongValue, &location, message).with_hint(hint))
        };
        let invocation = match &written.value {
            CommandConfig::Line(line) if self.shell => {
                Invocation::Line(Template::parse(line, TemplateKind::Line, &location)?)
            }
            CommandConfig::Line(_) => {
                return refuse(
                    "is a string",
                    "write an array of arguments, [\"{bin}\", \"{prompt}\"], or set shell = true",
                );
            }
            CommandConfig::List(_) if self.shell => {
                return refuse("is an array, but shell = true", "with shell = true, write one string");
            }
            CommandConfig::List(words) if words.is_empty() => {
                return refuse("is empty", "start it with \"{bin}\"");
            }
            CommandConfig::List(words) => {
                let words = words.iter().map(|word| self.word(word)).collect::<Result<Vec<_>, _>>()?;
                if matches!(words.first(), Some(CommandWord::Group(_))) {
                    return refuse("starts with a group", "the program cannot be optional");
                }
                Invocation::Words(words)
            }
        };
        // A shell command line may start anything.
        if !self.shell && !invocation.uses("bin") {
            return refuse(
                "has no {bin}",
                "write \"{bin}\" for the program, and name the program with bin = \"…\"",
            );
        }
        Ok(invocation)
    }

    fn word(&self, written: &Spanned<CommandWordConfig>) -> Result<CommandWord, Error> {
        match &written.value {
            CommandWordConfig::Text(text) => Ok(CommandWord::Single(Template::parse(
                text,
                TemplateKind::Agent,
                &self.config.locate(written.span),
            )?)),
            CommandWordConfig::Group(words) => {
                Ok(CommandWord::Group(words.iter().map(|word| self.word(word)).collect::<Result<_, _>>()?))
            }
        }
    }

    fn environment(&self, written: &[(String, Spanned<String>)]) -> Result<Vec<(String, Template)>, Error> {
        let variable = |(name, value): &(String, Spanned<String>)| {
            let location = self.config.locate(value.span);
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!("invalid environment variable name '{}'", name.escape_debug());
                return Err(Error::at(ErrorKind::WrongValue, &location, message));
            }
            Ok((name.clone(), Template::parse(value, TemplateKind::Agent, &location)?))
        };
        written.iter().map(variable).collect()
    }

    fn deliveries(&self, written: &Spanned<StringOrList>) -> Result<Vec<PromptDelivery>, Error> {
        let mut deliveries = Vec::new();
        let mut seen = HashSet::new();
        for word in written.all() {
            let Some((_, delivery)) = DELIVERIES.iter().find(|(known, _)| *known == word) else {
                let location = self.config.locate(written.span).narrowed(&word);
                return Err(self.unknown(
                    &location,
                    &word,
                    "prompt delivery",
                    DELIVERIES.map(|(delivery, _)| delivery),
                ));
            };
            deliveries.extend(delivery.filter(|delivery| seen.insert(*delivery as u8)));
        }
        Ok(deliveries)
    }

    fn format(&self, written: &Spanned<String>) -> Result<McpFormat, Error> {
        McpFormat::named(written).ok_or_else(|| {
            let location = self.config.locate(written.span);
            self.unknown(&location, written, "MCP format", McpFormat::NAMES)
        })
    }

    fn unknown<const N: usize>(
        &self,
        location: &SourceLocation,
        word: &str,
        what: &str,
        known: [&str; N],
    ) -> Error {
        let message = format!("unknown {what} '{word}' in [[agent]] '{}'", self.name);
        let error = Error::at(ErrorKind::WrongValue, location, message);
        error.with_hint(suggest(word, known).unwrap_or_default())
    }
}
