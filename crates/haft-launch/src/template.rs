//! Templates with placeholders.
//!
//! `{name}` is replaced by a value, `{name:json}` by the value as a JSON string, and `{name:shell}` by the
//! value as one shell word. `{{` is a literal brace. A brace that does not start a placeholder is also
//! literal, so JSON and code need no escaping. Values are inserted unchanged and never expanded again.

use haft_config::{Error, ErrorKind, SourceLocation, suggest};

/// Placeholders in an agent's command and environment.
pub const AGENT_PLACEHOLDERS: &[&str] = &[
    "bin",
    "model",
    "role",
    "role_file",
    "prompt",
    "prompt_file",
    "prompt_stdin",
    "mcp_config",
    "mcp_command",
    "approved",
    "approved_server",
    "arguments",
    "cwd",
    "date",
    "datetime",
];

/// Placeholders in roles, contexts and tasks. `env.NAME` is available for every environment variable, too.
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

/// Prefix of placeholders for environment variables.
const ENV_PREFIX: &str = "env.";

/// The use of a template, which decides its placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    /// An argument or an environment variable of an agent.
    Agent,
    /// A shell command line that starts an agent. `${` belongs to the shell.
    Line,
    /// The text of a role, context or task.
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

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder {
    pub(crate) name: String,
    pub(crate) form: ValueEncoding,
}

/// How a value is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueEncoding {
    Plain,
    Json,
    Shell,
}

impl ValueEncoding {
    /// The suffix in a placeholder.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            ValueEncoding::Plain => "",
            ValueEncoding::Json => ":json",
            ValueEncoding::Shell => ":shell",
        }
    }
}

impl Placeholder {
    /// Encodes a value.
    pub(crate) fn form(&self, value: &[u8]) -> Vec<u8> {
        match self.form {
            ValueEncoding::Plain => value.to_vec(),
            ValueEncoding::Json => {
                let text = String::from_utf8_lossy(value);
                // TOML does not allow a raw DEL character in a string.
                serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f").into_bytes()
            }
            ValueEncoding::Shell => shell_quoted(value),
        }
    }
}

/// Quotes a value as one shell word. Plain words stay unquoted because some programs split words without
/// removing quotes.
fn shell_quoted(value: &[u8]) -> Vec<u8> {
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
    /// Parses a template. `location` is used for errors.
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

    /// A template that consists of one placeholder.
    pub(crate) fn of(name: &str) -> Template {
        Template {
            parts: vec![TemplatePart::Value(Placeholder {
                name: name.to_owned(),
                form: ValueEncoding::Plain,
            })],
        }
    }

    /// The template for a file that was named on the command line.
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

    /// Returns true if the template is this placeholder and nothing else.
    pub(crate) fn is_only(&self, name: &str) -> bool {
        matches!(self.parts.as_slice(), [TemplatePart::Value(placeholder)] if placeholder.name == name)
    }

    /// The names of the placeholders in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Value(placeholder) => Some(placeholder.name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    /// Replaces all placeholders by their values.
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

/// Values of placeholders by name. A missing value is empty.
pub(crate) trait PlaceholderValues {
    fn value(&self, name: &str) -> &[u8];
}

/// Parses a placeholder at the start of `text` and returns it with its source text.
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

/// Fails if the placeholder does not exist in this kind of template.
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
        room == TemplateKind::Text && name.strip_prefix(ENV_PREFIX).is_some_and(|name| !name.is_empty());
    if variable || known.contains(&name) {
        return Ok(());
    }
    let message = format!("unknown placeholder {written} in {where_to}");
    let error = Error::at(ErrorKind::UnknownKey, &location.narrowed(written), message);
    let hint = suggest(name, known.iter().copied()).unwrap_or_default();
    Err(error.with_hint(format!("{hint} (write {{{{ for a literal brace)")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_config::{Config, ConfigSource, Layer, Spanned};

    #[derive(serde::Deserialize)]
    struct Holder {
        prompt: Spanned<String>,
    }

    /// Any location.
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
        assert_eq!(shell_quoted(b"it's"), b"'it'\\''s'");
    }

    #[test]
    fn braces_without_a_placeholder_are_literal() {
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
    fn an_unknown_placeholder_is_an_error_with_a_suggestion() {
        let error = Template::parse("{promt}", TemplateKind::Agent, &location()).unwrap_err();
        assert_eq!(error.hint(), Some("did you mean 'prompt'? (write {{ for a literal brace)"));
        assert!(Template::parse("{env.}", TemplateKind::Text, &location()).is_err());
        assert!(Template::parse("{env.X}", TemplateKind::Agent, &location()).is_err());
        assert!(Template::parse("{file}", TemplateKind::Agent, &location()).is_err());
    }
}
