//! What roles, contexts and tasks have in common: where their text comes from.

use std::path::PathBuf;
use std::time::Duration;

use haft_config::{Config, Error, ErrorKind, Layer, Located, Place};

use crate::source_file;
use crate::surroundings::Surroundings;
use crate::template::{Room, Template};
use crate::written::{self, Texts};

/// How long a command may take unless it is said otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time a command can be given, in seconds.
const LONGEST: u64 = 3600;

/// How a text is made: of a template, else of a file, else of a command. What is not used is not read or run.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub(crate) layer: Layer,
    pub(crate) place: Option<Place>,
    pub(crate) file: Option<String>,
    pub(crate) command: Option<Texts>,
    pub(crate) prompt: Option<Template>,
    pub(crate) prompt_text: Option<String>,
    pub(crate) shell: Option<Texts>,
    pub(crate) timeout: Option<Duration>,
}

/// The keys of a recipe as they are written.
pub(crate) struct Parts<'w> {
    pub(crate) file: &'w Option<Located<String>>,
    pub(crate) command: &'w Option<Located<Texts>>,
    pub(crate) prompt: &'w Option<Located<String>>,
    pub(crate) shell: &'w Option<Texts>,
    pub(crate) timeout: &'w Option<Located<u64>>,
}

/// Gives the recipe's part of an item.
macro_rules! parts {
    ($($item:ty),*) => {
        $(impl<'w> From<&'w $item> for Parts<'w> {
            fn from(item: &'w $item) -> Parts<'w> {
                Parts {
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
parts!(written::Role, written::Context, written::Task);

impl Recipe {
    /// Reads the recipe of an item.
    pub(crate) fn read(
        config: &Config,
        place: &Place,
        what: &str,
        parts: &Parts<'_>,
    ) -> Result<Recipe, Error> {
        if parts.file.is_none() && parts.command.is_none() && parts.prompt.is_none() {
            let message = format!("{what} has no text");
            let error = Error::at(ErrorKind::MissingKey, place, message);
            return Err(error.with_hint("give it at least one of \"prompt\", \"file\" and \"command\""));
        }
        if let Some(command) = parts.command
            && command.all().first().is_none_or(|program| program.trim().is_empty())
        {
            let message = format!("the command of {what} is empty");
            return Err(Error::at(ErrorKind::WrongValue, &config.place(command.mark), message));
        }
        let prompt = parts.prompt.as_ref().map(|prompt| {
            let place = config.place(prompt.mark);
            let template = Template::parse(prompt, Room::Text, &place)?;
            check_sources(&template, parts, &place, what)?;
            Ok::<_, Error>(template)
        });
        Ok(Recipe {
            layer: place.layer(),
            place: Some(place.clone()),
            file: parts.file.as_ref().map(|file| file.value.clone()),
            command: parts.command.as_ref().map(|command| command.value.clone()),
            prompt: prompt.transpose()?,
            prompt_text: parts.prompt.as_ref().map(|prompt| prompt.value.clone()),
            shell: parts.shell.clone(),
            timeout: timeout(config, parts.timeout)?,
        })
    }

    /// The recipe of a file that the user has named.
    pub(crate) fn of_file(path: String) -> Recipe {
        Recipe {
            layer: Layer::User,
            place: None,
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
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The file it reads.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Where the file it reads is, or would be.
    pub fn locate(&self, surroundings: &Surroundings) -> Option<PathBuf> {
        self.file.as_deref().map(|file| source_file::locate(file, self.layer, surroundings))
    }

    /// The words of the command it runs; one word is a line for a shell.
    pub fn command(&self) -> Option<Vec<String>> {
        self.command.as_ref().map(Texts::all)
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
pub(crate) fn timeout(config: &Config, written: &Option<Located<u64>>) -> Result<Option<Duration>, Error> {
    match written {
        None => Ok(None),
        Some(seconds) if (1..=LONGEST).contains(&seconds.value) => {
            Ok(Some(Duration::from_secs(seconds.value)))
        }
        Some(seconds) => {
            let message = format!("a timeout is from 1 to {LONGEST} seconds, not {}", seconds.value);
            Err(Error::at(ErrorKind::WrongValue, &config.place(seconds.mark), message))
        }
    }
}

/// Refuses placeholders for a file or a command that is not there.
fn check_sources(template: &Template, parts: &Parts<'_>, place: &Place, what: &str) -> Result<(), Error> {
    for name in template.names() {
        let missing = match name {
            "file" | "file_contents" if parts.file.is_none() => "file",
            "command" | "command_output" if parts.command.is_none() => "command",
            _ => continue,
        };
        let written = format!("{{{name}}}");
        let message = format!("{what} uses {written} and has no \"{missing}\"");
        return Err(Error::at(ErrorKind::MissingKey, &place.narrowed(&written), message));
    }
    Ok(())
}
