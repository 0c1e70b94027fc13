//! Text sources of roles, contexts and tasks.

use std::path::PathBuf;
use std::time::Duration;

use haft_config::{Config, Error, ErrorKind, Layer, SourceLocation, Spanned};

use crate::config_types::{ContextConfig, RoleConfig, StringOrList, TaskConfig};
use crate::host_facts::HostFacts;
use crate::template::{Template, TemplateKind};
use crate::text_file;

/// Default time limit of a command.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time limit of a command, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 3600;

/// The source of a text: a template, else a file, else a command. Unused files are not read and unused
/// commands do not run.
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

/// The keys of a text source as they are written.
pub(crate) struct TextKeys<'w> {
    pub(crate) file: &'w Option<Spanned<String>>,
    pub(crate) command: &'w Option<Spanned<StringOrList>>,
    pub(crate) prompt: &'w Option<Spanned<String>>,
    pub(crate) shell: &'w Option<StringOrList>,
    pub(crate) timeout: &'w Option<Spanned<u64>>,
}

/// Implements access to the text keys of an item.
macro_rules! text_keys {
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
text_keys!(RoleConfig, ContextConfig, TaskConfig);

impl TextSource {
    /// Converts the keys of an item. `what` names the item in errors.
    pub(crate) fn read(
        config: &Config,
        location: &SourceLocation,
        what: &str,
        keys: &TextKeys<'_>,
    ) -> Result<TextSource, Error> {
        if keys.file.is_none() && keys.command.is_none() && keys.prompt.is_none() {
            let message = format!("{what} has no text");
            let error = Error::at(ErrorKind::MissingKey, location, message);
            return Err(error.with_hint("set at least one of 'prompt', 'file' and 'command'"));
        }
        if let Some(command) = keys.command
            && command.all().first().is_none_or(|program| program.trim().is_empty())
        {
            let message = format!("the command of {what} is empty");
            return Err(Error::at(ErrorKind::WrongValue, &config.locate(command.span), message));
        }
        let prompt = keys.prompt.as_ref().map(|prompt| {
            let location = config.locate(prompt.span);
            let template = Template::parse(prompt, TemplateKind::Text, &location)?;
            check_sources(&template, keys, &location, what)?;
            Ok::<_, Error>(template)
        });
        Ok(TextSource {
            layer: location.layer(),
            location: Some(location.clone()),
            file: keys.file.as_ref().map(|file| file.value.clone()),
            command: keys.command.as_ref().map(|command| command.value.clone()),
            prompt: prompt.transpose()?,
            prompt_text: keys.prompt.as_ref().map(|prompt| prompt.value.clone()),
            shell: keys.shell.clone(),
            timeout: timeout(config, keys.timeout)?,
        })
    }

    /// The text source for a file that the user names: its name and its content.
    pub(crate) fn of_file(path: String) -> TextSource {
        TextSource { prompt: Some(Template::of_file()), ..TextSource::of_plain_file(path) }
    }

    /// The text source for a file that the user names: its content.
    pub(crate) fn of_plain_file(path: String) -> TextSource {
        TextSource {
            layer: Layer::User,
            location: None,
            file: Some(path),
            command: None,
            prompt: None,
            prompt_text: None,
            shell: None,
            timeout: None,
        }
    }

    /// The layer of its definition.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The place of its definition, unless the user named it on the command line.
    pub fn location(&self) -> Option<&SourceLocation> {
        self.location.as_ref()
    }

    /// The file to read.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The path of the file, whether it exists or not.
    pub fn locate(&self, facts: &HostFacts) -> Option<PathBuf> {
        self.file.as_deref().map(|file| text_file::locate(file, self.layer, facts))
    }

    /// The command to run. A single string is a shell command line.
    pub fn command(&self) -> Option<Vec<String>> {
        self.command.as_ref().map(StringOrList::all)
    }

    /// The template as it was written.
    pub fn prompt(&self) -> Option<&str> {
        self.prompt_text.as_deref()
    }

    /// Returns true if the text uses the content of the file.
    pub(crate) fn needs_file(&self) -> bool {
        match &self.prompt {
            Some(template) => template.names().any(|name| name == "file_contents"),
            None => self.file.is_some(),
        }
    }

    /// Returns true if the text uses the output of the command.
    pub(crate) fn needs_command(&self) -> bool {
        match &self.prompt {
            Some(template) => template.names().any(|name| name == "command_output"),
            None => self.file.is_none(),
        }
    }

    /// The names of the placeholders in the template.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.prompt.iter().flat_map(Template::names)
    }
}

/// Converts a timeout and checks its range.
pub(crate) fn timeout(config: &Config, written: &Option<Spanned<u64>>) -> Result<Option<Duration>, Error> {
    match written {
        None => Ok(None),
        Some(seconds) if (1..=MAX_TIMEOUT_SECONDS).contains(&seconds.value) => {
            Ok(Some(Duration::from_secs(seconds.value)))
        }
        Some(seconds) => {
            let message =
                format!("timeout must be between 1 and {MAX_TIMEOUT_SECONDS} seconds, not {}", seconds.value);
            Err(Error::at(ErrorKind::WrongValue, &config.locate(seconds.span), message))
        }
    }
}

/// Fails if the template uses a file or command that is not defined.
fn check_sources(
    template: &Template,
    keys: &TextKeys<'_>,
    location: &SourceLocation,
    what: &str,
) -> Result<(), Error> {
    for name in template.names() {
        let missing = match name {
            "file" | "file_contents" if keys.file.is_none() => "file",
            "command" | "command_output" if keys.command.is_none() => "command",
            _ => continue,
        };
        let written = format!("{{{name}}}");
        let message = format!("{what} uses {written} but has no '{missing}'");
        return Err(Error::at(ErrorKind::MissingKey, &location.narrowed(&written), message));
    }
    Ok(())
}
