//! JSON descriptions of agents, roles, contexts and tasks.

use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::catalogue::{AgentRole, LaunchTask, PromptContext};
use crate::invocation::{CommandWord, Invocation};
use crate::template::{Template, TemplatePart};
use crate::text_source::TextSource;

impl Agent {
    /// Describes the agent with its configuration keys.
    pub fn describe(&self) -> Value {
        let models: Map<String, Value> =
            self.models.iter().map(|(alias, id)| (alias.clone(), id.clone().into())).collect();
        let environment: Map<String, Value> =
            self.environment.iter().map(|(name, value)| (name.clone(), template(value).into())).collect();
        object([
            ("name", self.name.clone().into()),
            ("description", self.description.clone().into()),
            ("bin", self.bin.clone().into()),
            ("command", invocation(&self.command)),
            ("batch", self.batch.as_ref().map_or(Value::Null, invocation)),
            ("models", models.into()),
            ("default_model", self.default_model.clone().into()),
            ("prompt", json!(self.deliveries)),
            ("env", environment.into()),
            ("reads", self.reads.clone().into()),
            ("defined", self.location.to_string().into()),
        ])
    }
}

impl AgentRole {
    /// Describes the role with its configuration keys.
    pub fn describe(&self) -> Value {
        let own = [("optional", self.optional.into())];
        item(&self.name, &self.description, &self.source, own)
    }
}

impl PromptContext {
    /// Describes the context with its configuration keys.
    pub fn describe(&self) -> Value {
        let own = [
            ("required", self.required.into()),
            ("default", self.default.into()),
            ("tags", self.tags.clone().into()),
        ];
        item(&self.name, &self.description, &self.source, own)
    }
}

impl LaunchTask {
    /// Describes the task with its configuration keys.
    pub fn describe(&self) -> Value {
        let own = [
            ("role", self.role.clone().into()),
            ("agent", self.agent.clone().into()),
            ("model", self.model.clone().into()),
            ("alias", self.alias.clone().into()),
            ("tags", self.tags.clone().into()),
        ];
        item(&self.name, &self.description, &self.source, own)
    }
}

fn item<const N: usize>(
    name: &str,
    description: &Option<String>,
    source: &TextSource,
    own: [(&str, Value); N],
) -> Value {
    let command = source.command.as_ref().map_or(Value::Null, |command| json!(command.all()));
    let common = [
        ("name", name.into()),
        ("description", description.clone().into()),
        ("prompt", source.prompt().into()),
        ("file", source.file().into()),
        ("command", command),
        ("timeout", source.timeout.map(|timeout| timeout.as_secs()).into()),
    ];
    let defined = source.location().map(ToString::to_string);
    object(common.into_iter().chain(own).chain([("defined", defined.into())]))
}

/// Builds an object without unset entries.
fn object<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let is_set = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(table) => !table.is_empty(),
        _ => true,
    };
    let set = entries.into_iter().filter(|(_, value)| is_set(value));
    Value::Object(set.map(|(key, value)| (key.to_owned(), value)).collect())
}

fn invocation(invocation: &Invocation) -> Value {
    match invocation {
        Invocation::Words(list) => words(list),
        Invocation::Line(line) => template(line).into(),
    }
}

fn words(list: &[CommandWord]) -> Value {
    let word = |word: &CommandWord| match word {
        CommandWord::Single(single) => template(single).into(),
        CommandWord::Group(group) => words(group),
    };
    Value::Array(list.iter().map(word).collect())
}

/// The template as it was written.
fn template(template: &Template) -> String {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => text.replace('{', "{{").replace('}', "}}"),
        TemplatePart::Value(placeholder) => format!("{{{}{}}}", placeholder.name, placeholder.form.suffix()),
    };
    template.parts().iter().map(part).collect()
}
