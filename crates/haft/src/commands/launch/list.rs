//! `haft launch list` and `haft launch show`.

use std::fmt::Write as _;
use std::path::Path;

use haft_launch::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::catalogue::LaunchSetup;
use super::share::Origin;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// The items of each kind.
type Kinds = [(&'static str, Vec<Value>); 4];

/// Everything that the configuration defines. Each item has the keys of its definition, `name` among them.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LaunchListReport<'a> {
    default_agent: Option<&'a str>,
    default_role: Option<&'a str>,
    /// Agents; `installed` is the path of the program, or null.
    agents: Vec<Value>,
    roles: Vec<Value>,
    contexts: Vec<Value>,
    tasks: Vec<Value>,
}

/// An agent, role, context or task, with the keys of its definition.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LaunchItemReport {
    /// `agent`, `role`, `context` or `task`.
    kind: &'static str,
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, Value>")]
    item: Value,
}

/// The items that a search found.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LaunchSearchReport {
    items: Vec<LaunchItemReport>,
}

/// Lists agents, roles, contexts and tasks.
pub(super) fn all(as_json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let catalogue = world.catalogue()?;
    let kinds = kinds(&catalogue, &world);
    if as_json {
        let [agents, roles, contexts, tasks] = kinds.map(|(_, items)| items);
        let report = LaunchListReport {
            default_agent: catalogue.default_agent(),
            default_role: catalogue.default_role(),
            agents,
            roles,
            contexts,
            tasks,
        };
        return Ok(print_json(&report, 0));
    }
    let sections = kinds.iter().filter(|(_, items)| !items.is_empty());
    let text: Vec<String> = sections.map(|(kind, items)| section(kind, items, &catalogue)).collect();
    Ok(print_text(&text.join("\n"), 0))
}

fn section(kind: &str, items: &[Value], catalogue: &Catalogue) -> String {
    let mut text = format!("{kind}s\n");
    let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
    let width = items.iter().map(|item| name(item).chars().count()).max().unwrap_or(0);
    for item in items {
        let name = name(item);
        let default = match kind {
            "agent" => catalogue.default_agent() == Some(&name),
            "role" => catalogue.default_role() == Some(&name),
            _ => item["default"] == true,
        };
        let flags = [
            ("required", item["required"] == true),
            ("default", default),
            ("not installed", kind == "agent" && item["installed"].is_null()),
        ];
        let flags: Vec<&str> = flags.iter().filter(|(_, set)| *set).map(|(flag, _)| *flag).collect();
        let flags = if flags.is_empty() { String::new() } else { format!("  [{}]", flags.join(", ")) };
        let description = item["description"].as_str().unwrap_or_default();
        let line = format!("  {name:width$}  {description}{flags}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Shows one item of any kind.
pub(super) fn one(wanted: &str, as_json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let catalogue = world.catalogue()?;
    let (kind, item) = find(wanted, kinds(&catalogue, &world))?;
    if as_json {
        return Ok(print_json(&LaunchItemReport { kind, item }, 0));
    }
    let mut text = format!("[[{kind}]]\n");
    for (key, field) in item.as_object().into_iter().flatten() {
        let comment = if ["defined", "installed"].contains(&key.as_str()) { "# " } else { "" };
        let _ = writeln!(text, "{comment}{key} = {}", as_toml(field));
    }
    Ok(print_text(&text, 0))
}

/// Lists the items whose name, description or text contains a word.
pub(super) fn search(
    word: &str,
    from: Option<&Path>,
    as_json: bool,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let catalogue = match from {
        Some(from) => Origin::open(&world.launch.working_directory.join(from))?.catalogue()?,
        None => world.catalogue()?,
    };
    let word = word.to_lowercase();
    let has_word = |value: &Value| value.as_str().is_some_and(|text| text.to_lowercase().contains(&word));
    let matches = |item: &Value| {
        let keys = ["name", "description", "prompt", "file", "alias", "bin"].iter();
        let tags = item["tags"].as_array().into_iter().flatten();
        keys.map(|key| &item[*key]).chain(tags).any(has_word)
    };
    let embedded = |item: &Value| from.is_some() && item["defined"].as_str().is_some_and(is_embedded);
    let found = kinds(&catalogue, &world)
        .into_iter()
        .flat_map(|(kind, items)| items.into_iter().map(move |item| LaunchItemReport { kind, item }));
    let items: Vec<LaunchItemReport> =
        found.filter(|found| matches(&found.item) && !embedded(&found.item)).collect();
    let status = i32::from(items.is_empty());
    if as_json {
        return Ok(print_json(&LaunchSearchReport { items }, status));
    }
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let line = |LaunchItemReport { kind, item }: &LaunchItemReport| {
        let line = format!("{kind}/{}  {}", text(item, "name"), text(item, "description"));
        format!("{}  # {}\n", line.trim_end(), text(item, "defined"))
    };
    Ok(print_text(&items.iter().map(line).collect::<String>(), status))
}

fn is_embedded(defined: &str) -> bool {
    defined.starts_with("haft's defaults")
}

/// A value in TOML syntax.
fn as_toml(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Array(list) => format!("[{}]", list.iter().map(as_toml).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{} = {}", Value::from(key.as_str()), as_toml(value))
            };
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

fn kinds(catalogue: &Catalogue, world: &LaunchSetup) -> Kinds {
    let agent = |agent: &haft_launch::Agent| {
        let mut value = agent.describe();
        value["installed"] = world.launch.find(agent.bin()).map(|path| path.display().to_string()).into();
        value
    };
    [
        ("agent", catalogue.agents().iter().map(agent).collect()),
        ("role", catalogue.roles().iter().map(haft_launch::AgentRole::describe).collect()),
        ("context", catalogue.contexts().iter().map(haft_launch::PromptContext::describe).collect()),
        ("task", catalogue.tasks().iter().map(haft_launch::LaunchTask::describe).collect()),
    ]
}

/// Finds the item with this name, else the only one whose name contains it.
fn find(wanted: &str, kinds: Kinds) -> Result<(&'static str, Value), Failure> {
    let items: Vec<(&str, Value)> =
        kinds.into_iter().flat_map(|(kind, items)| items.into_iter().map(move |item| (kind, item))).collect();
    let called = |test: &dyn Fn(&str, &str) -> bool| -> Vec<usize> {
        let name = |index: &usize| items[*index].1["name"].as_str().unwrap_or_default().to_owned();
        (0..items.len()).filter(|index| test(items[*index].0, &name(index))).collect()
    };
    let exact = called(&|kind, name| name == wanted || format!("{kind}/{name}") == wanted);
    let found = if exact.is_empty() { called(&|_, name| name.contains(wanted)) } else { exact };
    let names = |found: &[usize]| -> String {
        let name = |index: &usize| {
            let (kind, item) = &items[*index];
            format!("'{kind}/{}'", item["name"].as_str().unwrap_or_default())
        };
        found.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    match found.as_slice() {
        [index] => Ok(items[*index].clone()),
        [] => {
            let all: Vec<String> =
                items.iter().filter_map(|(_, item)| item["name"].as_str().map(str::to_owned)).collect();
            let hint = haft_config::suggest(wanted, all.iter().map(String::as_str));
            Err(Failure { hint, ..Failure::usage(format!("nothing is named '{wanted}'")) })
        }
        several => {
            let hint = Some(format!("candidates: {}", names(several)));
            Err(Failure { hint, ..Failure::usage(format!("'{wanted}' is ambiguous")) })
        }
    }
}
