//! An agent: how it is called, and what it takes in which way.

use std::collections::HashSet;

use haft_config::{Config, Error, ErrorKind, Item, Located, Place, suggest};
use serde::Serialize;

use crate::mcp::Format;
use crate::name;
use crate::template::{Room, Template};
use crate::words::{Invocation, Word};
use crate::written::{self, Words, WrittenWord};

/// A way in which an agent gets its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Way {
    /// As an argument, where `{prompt}` stands.
    Argv,
    /// In its environment, where `{prompt}` stands.
    Env,
    /// In a file, whose path stands for `{prompt_file}`.
    File,
    /// On its standard input.
    Stdin,
}

const WAYS: [(&str, Option<Way>); 5] = [
    ("argv", Some(Way::Argv)),
    ("stdin", Some(Way::Stdin)),
    ("file", Some(Way::File)),
    ("env", Some(Way::Env)),
    ("auto", None),
];

/// An agent that can be launched.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) bin: String,
    pub(crate) command: Invocation,
    pub(crate) batch: Option<Invocation>,
    /// The ways in which it takes its prompt, the preferred first; none if its command shall show it.
    pub(crate) ways: Vec<Way>,
    pub(crate) models: Vec<(String, String)>,
    pub(crate) default_model: Option<String>,
    pub(crate) environment: Vec<(String, Template)>,
    pub(crate) mcp: Format,
    pub(crate) description: Option<String>,
}

impl Agent {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program: a name to be found by `PATH`, or a path.
    pub fn bin(&self) -> &str {
        &self.bin
    }

    /// What it is, for people.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Where it is defined.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Its models: alias and id.
    pub fn models(&self) -> &[(String, String)] {
        &self.models
    }

    /// The words it is called by: those for a run without a person, if it has them and they are asked for.
    pub(crate) fn invocation(&self, batch: bool) -> &Invocation {
        self.batch.as_ref().filter(|_| batch).unwrap_or(&self.command)
    }

    /// The id of a model: by its alias, by the only alias it is a part of, or itself.
    pub fn model(&self, wanted: Option<&str>) -> Option<String> {
        let wanted = wanted.or(self.default_model.as_deref())?;
        let aliases: Vec<&str> = self.models.iter().map(|(alias, _)| alias.as_str()).collect();
        let is_id = self.models.iter().any(|(_, id)| id == wanted);
        let alias = match aliases.iter().position(|alias| *alias == wanted) {
            Some(index) => Some(index),
            None if is_id => None,
            None => match name::matching(wanted, &aliases).as_slice() {
                [index] => Some(*index),
                _ => None,
            },
        };
        Some(alias.map_or_else(|| wanted.to_owned(), |index| self.models[index].1.clone()))
    }

    /// Whether its variables use a placeholder.
    pub(crate) fn environment_uses(&self, name: &str) -> bool {
        self.environment.iter().any(|(_, value)| value.names().any(|used| used == name))
    }

    /// Reads one as it is written.
    pub(crate) fn read(config: &Config, item: Item<written::Agent>) -> Result<Agent, Error> {
        let written = item.value;
        let reader = Reader { config, name: &item.name, shell: written.shell };
        let default = || Invocation::Words(vec![single("bin"), Word::Group(vec![single("prompt")])]);
        let command = written.command.as_ref().map(|words| reader.invocation(words)).transpose()?;
        let batch = written.batch.as_ref().map(|words| reader.invocation(words)).transpose()?;
        let environment = reader.environment(&written.env.0)?;
        let agent = Agent {
            bin: written.bin.as_ref().map_or_else(|| item.name.clone(), |bin| bin.value.clone()),
            command: command.unwrap_or_else(default),
            batch,
            ways: written.prompt.as_ref().map(|ways| reader.ways(ways)).transpose()?.unwrap_or_default(),
            models: written.models.0,
            default_model: written.default_model,
            environment,
            mcp: written.mcp.as_ref().map(|format| reader.format(format)).transpose()?.unwrap_or_default(),
            description: written.description,
            name: item.name,
            place: item.place,
        };
        if let Some(bin) = written.bin.as_ref().filter(|bin| bin.is_empty()) {
            let message = format!("the \"bin\" of [[agent]] \"{}\" is empty", agent.name);
            return Err(Error::at(ErrorKind::WrongValue, &config.place(bin.mark), message));
        }
        if let Some(ways) = &written.prompt {
            agent.check_ways(&config.place(ways.mark))?;
        }
        Ok(agent)
    }

    /// Refuses a way that the command has no place for.
    fn check_ways(&self, place: &Place) -> Result<(), Error> {
        let invocations = || [Some(&self.command), self.batch.as_ref()].into_iter().flatten();
        let uses = |name: &str| invocations().any(|invocation| invocation.uses(name));
        for way in &self.ways {
            let (word, missing) = match way {
                Way::Argv if !uses("prompt") => ("argv", "{prompt} is nowhere in its command"),
                Way::File if !uses("prompt_file") && !self.environment_uses("prompt_file") => {
                    ("file", "{prompt_file} is nowhere in its command or environment")
                }
                Way::Env if !self.environment_uses("prompt") => ("env", "{prompt} is nowhere in its \"env\""),
                _ => continue,
            };
            let message =
                format!("[[agent]] \"{}\" takes its prompt by \"{word}\", but {missing}", self.name);
            return Err(Error::at(ErrorKind::WrongValue, &place.narrowed(word), message));
        }
        Ok(())
    }
}

fn single(name: &str) -> Word {
    Word::Single(Template::of(name))
}

struct Reader<'c> {
    config: &'c Config,
    name: &'c str,
    shell: bool,
}

impl Reader<'_> {
    fn invocation(&self, written: &Located<Words>) -> Result<Invocation, Error> {
        let place = self.config.place(written.mark);
        let refuse = |message: &str, hint: &str| {
            let message = format!("the command of [[agent]] \"{}\" {message}", self.name);
            Err(Error::at(ErrorKind::WrongValue, &place, message).with_hint(hint))
        };
        match &written.value {
            Words::Line(line) if self.shell => {
                Ok(Invocation::Line(Template::parse(line, Room::Line, &place)?))
            }
            Words::Line(_) => refuse(
                "is one text",
                "write a list of arguments, [\"{bin}\", \"{prompt}\"], or set shell = true",
            ),
            Words::List(_) if self.shell => refuse("is a list, and shell = true", "a shell takes one text"),
            Words::List(words) if words.is_empty() => refuse("is empty", "it begins with \"{bin}\""),
            Words::List(words) => {
                let words = words.iter().map(|word| self.word(word)).collect::<Result<Vec<_>, _>>()?;
                if matches!(words.first(), Some(Word::Group(_))) {
                    return refuse("begins with a group", "the program is there in any case");
                }
                Ok(Invocation::Words(words))
            }
        }
    }

    fn word(&self, written: &Located<WrittenWord>) -> Result<Word, Error> {
        match &written.value {
            WrittenWord::Text(text) => {
                Ok(Word::Single(Template::parse(text, Room::Agent, &self.config.place(written.mark))?))
            }
            WrittenWord::Group(words) => {
                Ok(Word::Group(words.iter().map(|word| self.word(word)).collect::<Result<_, _>>()?))
            }
        }
    }

    fn environment(&self, written: &[(String, Located<String>)]) -> Result<Vec<(String, Template)>, Error> {
        let variable = |(name, value): &(String, Located<String>)| {
            let place = self.config.place(value.mark);
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!("\"{}\" cannot be an environment variable", name.escape_debug());
                return Err(Error::at(ErrorKind::WrongValue, &place, message));
            }
            Ok((name.clone(), Template::parse(value, Room::Agent, &place)?))
        };
        written.iter().map(variable).collect()
    }

    fn ways(&self, written: &Located<written::Texts>) -> Result<Vec<Way>, Error> {
        let mut ways = Vec::new();
        let mut seen = HashSet::new();
        for word in written.all() {
            let Some((_, way)) = WAYS.iter().find(|(known, _)| *known == word) else {
                let place = self.config.place(written.mark).narrowed(&word);
                return Err(self.unknown(&place, &word, "takes no prompt by", WAYS.map(|(way, _)| way)));
            };
            ways.extend(way.filter(|way| seen.insert(*way as u8)));
        }
        Ok(ways)
    }

    fn format(&self, written: &Located<String>) -> Result<Format, Error> {
        Format::named(written).ok_or_else(|| {
            let place = self.config.place(written.mark);
            self.unknown(&place, written, "has no MCP configuration of the form", Format::NAMES)
        })
    }

    fn unknown<const N: usize>(&self, place: &Place, word: &str, what: &str, known: [&str; N]) -> Error {
        let message = format!("[[agent]] \"{}\" {what} \"{word}\"", self.name);
        let error = Error::at(ErrorKind::WrongValue, place, message);
        error.with_hint(suggest(word, known).unwrap_or_default())
    }
}
