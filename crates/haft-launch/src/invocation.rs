//! An agent's command: words, optional groups of words, or a shell command line.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use crate::template::{PlaceholderValues, Template, TemplatePart};

/// An agent's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// A list of arguments.
    Words(Vec<CommandWord>),
    /// A command line for a shell.
    Line(Template),
}

/// An argument or a group of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandWord {
    /// One argument.
    Single(Template),
    /// Arguments that are present only if all their placeholders have values. Nested groups are decided
    /// separately.
    Group(Vec<CommandWord>),
}

impl Invocation {
    /// Returns true if the command uses the placeholder.
    pub(crate) fn uses(&self, name: &str) -> bool {
        fn any(words: &[CommandWord], name: &str) -> bool {
            words.iter().any(|word| match word {
                CommandWord::Single(template) => template.names().any(|used| used == name),
                CommandWord::Group(words) => any(words, name),
            })
        }
        match self {
            Invocation::Words(words) => any(words, name),
            Invocation::Line(line) => line.names().any(|used| used == name),
        }
    }

    /// Expands to the program and its arguments. `extra` are the user's arguments for the agent: they replace the
    /// word `{arguments}`. Without it, they come before the word `--`, or at the end.
    pub(crate) fn expand(
        &self,
        values: &dyn PlaceholderValues,
        extra: &[OsString],
        shell: &[String],
    ) -> Vec<OsString> {
        match self {
            Invocation::Words(words) => {
                let mut arguments = Vec::new();
                add(&mut arguments, words, values, extra);
                if !self.uses("arguments") {
                    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
                    arguments.splice(end..end, extra.iter().cloned());
                }
                arguments
            }
            Invocation::Line(line) => through_shell(line, values, extra, shell),
        }
    }
}

fn add(
    arguments: &mut Vec<OsString>,
    words: &[CommandWord],
    values: &dyn PlaceholderValues,
    extra: &[OsString],
) {
    for word in words {
        match word {
            CommandWord::Single(template) if template.is_only("arguments") => {
                arguments.extend(extra.iter().cloned());
            }
            CommandWord::Single(template) => arguments.push(OsString::from_vec(template.fill(values))),
            CommandWord::Group(words) if is_complete(words, values) => add(arguments, words, values, extra),
            CommandWord::Group(_) => {}
        }
    }
}

fn is_complete(words: &[CommandWord], values: &dyn PlaceholderValues) -> bool {
    words.iter().all(|word| match word {
        CommandWord::Single(template) => {
            template.names().all(|name| name == "arguments" || !values.value(name).is_empty())
        }
        CommandWord::Group(_) => true,
    })
}

/// Builds a shell invocation that passes each value as a positional parameter. The shell parses only the
/// configured line, so a value is never interpreted as code.
fn through_shell(
    line: &Template,
    values: &dyn PlaceholderValues,
    extra: &[OsString],
    shell: &[String],
) -> Vec<OsString> {
    let mut text = String::new();
    let mut parameters: Vec<OsString> = Vec::new();
    let add_extra = |text: &mut String, parameters: &mut Vec<OsString>| {
        for argument in extra {
            parameters.push(argument.clone());
            let separator = if text.ends_with(' ') { "" } else { " " };
            *text += &format!("{separator}\"${{{}}}\"", parameters.len());
        }
    };
    let mut quotes = Quotes::None;
    for part in line.parts() {
        match part {
            TemplatePart::Text(plain) => {
                quotes = quotes.after(plain);
                text.push_str(plain);
            }
            TemplatePart::Value(placeholder) if placeholder.name == "arguments" => {
                add_extra(&mut text, &mut parameters);
            }
            TemplatePart::Value(placeholder) => {
                let value = placeholder.form(values.value(&placeholder.name));
                parameters.push(OsString::from_vec(value));
                let parameter = format!("${{{}}}", parameters.len());
                text.push_str(&match quotes {
                    Quotes::None => format!("\"{parameter}\""),
                    Quotes::Double => parameter,
                    Quotes::Single => format!("'\"{parameter}\"'"),
                });
            }
        }
    }
    if !line.names().any(|name| name == "arguments") {
        add_extra(&mut text, &mut parameters);
    }
    let words = shell.iter().map(OsString::from).chain([text.into(), "haft".into()]);
    words.chain(parameters).collect()
}

/// Quotes that are open at a position of the line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    fn after(self, text: &str) -> Quotes {
        let mut now = self;
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            now = match (now, letter) {
                (Quotes::None, '\'') => Quotes::Single,
                (Quotes::None, '"') => Quotes::Double,
                (Quotes::Single, '\'') | (Quotes::Double, '"') => Quotes::None,
                (Quotes::None | Quotes::Double, '\\') => {
                    letters.next();
                    now
                }
                _ => now,
            };
        }
        now
    }
}
