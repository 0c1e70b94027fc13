//! StringOrList with placeholders, and the one time they are filled in.
//!
//! `{name}` stands for a value, `{name:json}` for the value as a JSON string, `{name:shell}` for the value as one word of a
//! shell, `{{` for a brace. A brace before anything that
//! is no name is a brace as well, so that JSON and code can be written as they are. PlaceholderValues are inserted as they are
//! and never looked at again.

use haft_config::{Error, ErrorKind, SourceLocation, suggest};

/// The placeholders of an agent's command and environment.
pub const AGENT_PLACEHOLDERS: &[&str] = &[
    "bin",
    "model",
    "role",
    "role_file",
    "prompt",
    "prompt_file",
    "mcp_config",
    "mcp_command",
    "cwd",
    "date",
    "datetime",
];

/// The placeholders of roles, contexts and tasks; besides these there is `env.NAME` for every variable.
pub const TEMPLATE_PLACEHOLDERS: &[&str] = &[
    "file",
    "file_contents",
    "command",
    "command_output",
    "instructions",
    "date",
    "datetime",
    "cwd",
    "home",
    "user",
    "hostname",
    "os",
    "shell",
    "git_branch",
    "git_root",
    "git_user",
    "git_email",
];

/// What begins the placeholder of an environment variable.
const VARIABLE: &str = "env.";

/// Where a template stands, which decides what it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    /// A word of an agent's command, or a variable of its environment.
    Agent,
    /// A line for a shell that starts an agent, where `${` belongs to the shell.
    Line,
    /// A role, context or task.
    Text,
}

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplatePart {
    Text(String),
    Value(Placeholder),
}

/// The location of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder {
    pub(crate) name: String,
    pub(crate) form: ValueEncoding,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueEncoding {
    Plain,
    Json,
    Shell,
}

impl ValueEncoding {
    /// What says so in a placeholder.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            ValueEncoding::Plain => "",
            ValueEncoding::Json => ":json",
            ValueEncoding::Shell => ":shell",
        }
    }
}

impl Placeholder {
    /// The value in the form that was asked for.
    pub(crate) fn form(&self, value: &[u8]) -> Vec<u8> {
        match self.form {
            ValueEncoding::Plain => value.to_vec(),
            ValueEncoding::Json => {
                let text = String::from_utf8_lossy(value);
                // A delete character is no text to TOML, which is where such strings are put.
                serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f").into_bytes()
            }
            ValueEncoding::Shell => quoted(value),
        }
    }
}

/// A value as one word of a shell; one that needs no quotes has none, since not everybody who splits words minds them.
fn quoted(value: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(byte);
    if !value.is_empty() && value.iter().all(plain) {
        return value.to_vec();
    }
    let mut word = b"'".to_vec();
    for byte in value {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            byte => word.push(*byte),
        }
    }
    word.push(b'\'');
    word
}

impl Template {
    /// Reads a text that stands at a location.
    pub(crate) fn parse(
        text: &str,
        room: TemplateKind,
        location: &SourceLocation,
    ) -> Result<Template, Error> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(brace) = rest.find(['{', '}']) {
            plain.push_str(&rest[..brace]);
            let shell = room == TemplateKind::Line && plain.ends_with('$');
            rest = &rest[brace..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push_str(&rest[..1]);
                rest = &rest[2..];
            } else if let Some((written, placeholder)) = placeholder(rest).filter(|_| !shell) {
                check(&placeholder, written, room, location)?;
                if !plain.is_empty() {
                    parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
                }
                parts.push(TemplatePart::Value(placeholder));
                rest = &rest[written.len()..];
            } else {
                plain.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(TemplatePart::Text(plain));
        }
        Ok(Template { parts })
    }

    /// A template that is one placeholder.
    pub(crate) fn of(name: &str) -> Template {
        Template {
            parts: vec![TemplatePart::Value(Placeholder {
                name: name.to_owned(),
                form: ValueEncoding::Plain,
            })],
        }
    }

    /// The text that a file is presented with which was named on the command line.
    pub(crate) fn of_file() -> Template {
        let value = |name: &str| {
            TemplatePart::Value(Placeholder { name: name.to_owned(), form: ValueEncoding::Plain })
        };
        let text = |text: &str| TemplatePart::Text(text.to_owned());
        Template { parts: vec![text("From "), value("file"), text(":\n\n"), value("file_contents")] }
    }

    pub(crate) fn parts(&self) -> &[TemplatePart] {
        &self.parts
    }

    /// The names of the placeholders, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Value(placeholder) => Some(placeholder.name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    /// The text with the values in their places.
    pub(crate) fn fill(&self, values: &dyn PlaceholderValues) -> Vec<u8> {
        let mut filled = Vec::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => filled.extend_from_slice(text.as_bytes()),
                TemplatePart::Value(placeholder) => {
                    filled.extend_from_slice(&placeholder.form(values.value(&placeholder.name)));
                }
            }
        }
        filled
    }
}

/// The values of placeholders by name; what has none is empty.
pub(crate) trait PlaceholderValues {
    fn value(&self, name: &str) -> &[u8];
}

/// The placeholder that a text begins with, if it does, and how it is written.
fn placeholder(text: &str) -> Option<(&str, Placeholder)> {
    let inner = text.strip_prefix('{')?;
    let inner = &inner[..inner.find('}')?];
    let (name, form) = inner.split_once(':').map_or((inner, None), |(name, form)| (name, Some(form)));
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.'));
    let form = match form {
        None => ValueEncoding::Plain,
        Some("json") => ValueEncoding::Json,
        Some("shell") => ValueEncoding::Shell,
        Some(_) => return None,
    };
    (begins && goes_on).then(|| (&text[..inner.len() + 2], Placeholder { name: name.to_owned(), form }))
}

/// Refuses a placeholder that does not exist where it stands.
fn check(
    placeholder: &Placeholder,
    written: &str,
    room: TemplateKind,
    location: &SourceLocation,
) -> Result<(), Error> {
    let name = placeholder.name.as_str();
    let (known, where_to) = match room {
        TemplateKind::Agent | TemplateKind::Line => (AGENT_PLACEHOLDERS, "an agent's command"),
        TemplateKind::Text => (TEMPLATE_PLACEHOLDERS, "a template"),
    };
    let variable =
        room == TemplateKind::Text && name.strip_prefix(VARIABLE).is_some_and(|name| !name.is_empty());
    if variable || known.contains(&name) {
        return Ok(());
    }
    let message = format!("there is no placeholder {written} in {where_to}");
    let error = Error::at(ErrorKind::UnknownKey, &location.narrowed(written), message);
    let hint = suggest(name, known.iter().copied()).unwrap_or_default();
    Err(error.with_hint(format!("{hint} (a brace is written {{{{)")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_config::{Config, ConfigSource, Layer, Spanned};

    #[derive(serde::Deserialize)]
    struct Holder {
        prompt: Spanned<String>,
    }

    /// A location to stand at, for a text.
    fn location() -> SourceLocation {
        let mut config = Config::new();
        let text = "[[role]]\nname='x'\nprompt='{x}'".to_owned();
        config.add(ConfigSource { layer: Layer::User, name: "test".to_owned(), path: None, text }).unwrap();
        let items = config.items::<Holder>("role").unwrap();
        config.locate(items[0].value.prompt.span)
    }

    struct Echo;

    impl PlaceholderValues for Echo {
        fn value(&self, name: &str) -> &[u8] {
            match name {
                "prompt" | "instructions" => b"{model} {{ \"$(x)\"\n",
                "env.HOME" => b"/home",
                _ => b"",
            }
        }
    }

    fn filled(text: &str, room: TemplateKind) -> String {
        let template = Template::parse(text, room, &location()).unwrap();
        String::from_utf8(template.fill(&Echo)).unwrap()
    }

    #[test]
    fn values_are_inserted_once() {
        assert_eq!(filled("<{prompt}>", TemplateKind::Agent), "<{model} {{ \"$(x)\"\n>");
        assert_eq!(filled("{instructions}{env.HOME}", TemplateKind::Text), "{model} {{ \"$(x)\"\n/home");
        assert_eq!(filled("{prompt:json}", TemplateKind::Agent), r#""{model} {{ \"$(x)\"\n""#);
        assert_eq!(filled("{prompt:shell}", TemplateKind::Agent), "'{model} {{ \"$(x)\"\n'");
        assert_eq!(filled("{env.HOME:shell}", TemplateKind::Text), "/home");
        assert_eq!(quoted(b"it's"), b"'it'\\''s'");
    }

    #[test]
    fn braces_that_hold_no_name_are_braces() {
        for text in ["{", "}", "{}", "{ a }", "{\"a\": 1}", "a{1,2}", "{a b}", "{a:b}", "{é}", "{a"] {
            assert_eq!(filled(text, TemplateKind::Text), text);
        }
        assert_eq!(filled("{{prompt}} }}", TemplateKind::Agent), "{prompt} }");
        assert_eq!(filled("${HOME} ${unknown}", TemplateKind::Line), "${HOME} ${unknown}");
    }

    #[test]
    fn every_placeholder_is_documented() {
        let text = include_str!("../../../docs/launch.md");
        for name in AGENT_PLACEHOLDERS.iter().chain(TEMPLATE_PLACEHOLDERS) {
            assert!(text.contains(&format!("{{{name}}}")), "{name}");
        }
    }

    #[test]
    fn what_does_not_exist_is_refused_with_what_is_near() {
        let error = Template::parse("{promt}", TemplateKind::Agent, &location()).unwrap_err();
        assert_eq!(error.hint(), Some("did you mean \"prompt\"? (a brace is written {{)"));
        assert!(Template::parse("{env.}", TemplateKind::Text, &location()).is_err());
        assert!(Template::parse("{env.X}", TemplateKind::Agent, &location()).is_err());
        assert!(Template::parse("{file}", TemplateKind::Agent, &location()).is_err());
    }
}
