//! What roles, contexts and tasks have in common: where their text comes from.

use std::path::PathBuf;
use std::time::Duration;

use haft_config::{Config, Error, ErrorKind, Layer, SourceLocation, Spanned};

use crate::config_types::{ContextConfig, RoleConfig, StringOrList, TaskConfig};
use crate::host_facts::HostFacts;
use crate::template::{Template, TemplateKind};
use crate::text_file;

/// How long a command may take unless it is said otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time a command can be given, in seconds.
const LONGEST: u64 = 3600;

/// How a text is made: of a template, else of a file, else of a command. What is not used is not read or run.
#[derive(Clone, Debug)]
pub struct TextSource {
    pub(crate) layer: Layer,
    pub(crate) location: Option<SourceLocation>,
    pub(crate) file: Option<String>,
    pub(crate) command: Option<StringOrList>,
    pub(crate) prompt: Option<Template>,
    pub(crate) prompt_text: Option<String>,
    pub(crate) shell: Option<StringOrList>,
    pub(crate) timeout: Option<Duration>,
}

/// The keys of a source as they are written.
pub(crate) struct TextKeys<'w> {
    pub(crate) file: &'w Option<Spanned<String>>,
    pub(crate) command: &'w Option<Spanned<StringOrList>>,
    pub(crate) prompt: &'w Option<Spanned<String>>,
    pub(crate) shell: &'w Option<StringOrList>,
    pub(crate) timeout: &'w Option<Spanned<u64>>,
}

/// Gives the source's part of an item.
macro_rules! parts {
    ($($item:ty),*) => {
        $(impl<'w> From<&'w $item> for TextKeys<'w> {
            fn from(item: &'w $item) -> TextKeys<'w> {
                TextKeys {
                    file: &item.file,
                    command: &item.command,
                    prompt: &item.prompt,
                    shell: &item.shell,
                    timeout: &item.timeout,
                }
            }
        })*
    };
}
parts!(RoleConfig, ContextConfig, TaskConfig);

impl TextSource {
    /// Reads the source of an item.
    pub(crate) fn read(
        config: &Config,
        location: &SourceLocation,
        what: &str,
        parts: &TextKeys<'_>,
    ) -> Result<TextSource, Error> {
        if parts.file.is_none() && parts.command.is_none() && parts.prompt.is_none() {
            let message = format!("{what} has no text");
            let error = Error::at(ErrorKind::MissingKey, location, message);
            return Err(error.with_hint("give it at least one of \"prompt\", \"file\" and \"command\""));
        }
        if let Some(command) = parts.command
            && command.all().first().is_none_or(|program| program.trim().is_empty())
        {
            let message = format!("the command of {what} is empty");
            return Err(Error::at(ErrorKind::WrongValue, &config.locate(command.span), message));
        }
        let prompt = parts.prompt.as_ref().map(|prompt| {
            let location = config.locate(prompt.span);
            let template = Template::parse(prompt, TemplateKind::Text, &location)?;
            check_sources(&template, parts, &location, what)?;
            Ok::<_, Error>(template)
        });
        Ok(TextSource {
            layer: location.layer(),
            location: Some(location.clone()),
            file: parts.file.as_ref().map(|file| file.value.clone()),
            command: parts.command.as_ref().map(|command| command.value.clone()),
            prompt: prompt.transpose()?,
            prompt_text: parts.prompt.as_ref().map(|prompt| prompt.value.clone()),
            shell: parts.shell.clone(),
            timeout: timeout(config, parts.timeout)?,
        })
    }

    /// The source of a file that the user has named.
    pub(crate) fn of_file(path: String) -> TextSource {
        TextSource {
            layer: Layer::User,
            location: None,
            file: Some(path),
            command: None,
            prompt: Some(Template::of_file()),
            prompt_text: None,
            shell: None,
            timeout: None,
        }
    }

    /// The layer it was written in.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// Where it is defined, if it is.
    pub fn location(&self) -> Option<&SourceLocation> {
        self.location.as_ref()
    }

    /// The file it reads.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Where the file it reads is, or would be.
    pub fn locate(&self, facts: &HostFacts) -> Option<PathBuf> {
        self.file.as_deref().map(|file| text_file::locate(file, self.layer, facts))
    }

    /// The words of the command it runs; one word is a line for a shell.
    pub fn command(&self) -> Option<Vec<String>> {
        self.command.as_ref().map(StringOrList::all)
    }

    /// The template, as it is written.
    pub fn prompt(&self) -> Option<&str> {
        self.prompt_text.as_deref()
    }

    /// Whether its text needs what the file holds.
    pub(crate) fn needs_file(&self) -> bool {
        match &self.prompt {
            Some(template) => template.names().any(|name| name == "file_contents"),
            None => self.file.is_some(),
        }
    }

    /// Whether its text needs what the command writes.
    pub(crate) fn needs_command(&self) -> bool {
        match &self.prompt {
            Some(template) => template.names().any(|name| name == "command_output"),
            None => self.file.is_none(),
        }
    }

    /// The names of the placeholders that its text is filled with.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.prompt.iter().flat_map(Template::names)
    }
}

/// A time that a command may take, within its bounds.
pub(crate) fn timeout(config: &Config, written: &Option<Spanned<u64>>) -> Result<Option<Duration>, Error> {
    match written {
        None => Ok(None),
        Some(seconds) if (1..=LONGEST).contains(&seconds.value) => {
            Ok(Some(Duration::from_secs(seconds.value)))
        }
        Some(seconds) => {
            let message = format!("a timeout is from 1 to {LONGEST} seconds, not {}", seconds.value);
            Err(Error::at(ErrorKind::WrongValue, &config.locate(seconds.span), message))
        }
    }
}

/// Refuses placeholders for a file or a command that is not there.
fn check_sources(
    template: &Template,
    parts: &TextKeys<'_>,
    location: &SourceLocation,
    what: &str,
) -> Result<(), Error> {
    for name in template.names() {
        let missing = match name {
            "file" | "file_contents" if parts.file.is_none() => "file",
            "command" | "command_output" if parts.command.is_none() => "command",
            _ => continue,
        };
        let written = format!("{{{name}}}");
        let message = format!("{what} uses {written} and has no \"{missing}\"");
        return Err(Error::at(ErrorKind::MissingKey, &location.narrowed(&written), message));
    }
    Ok(())
}
