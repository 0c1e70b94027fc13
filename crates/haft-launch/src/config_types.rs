//! Types of the configuration sections as they are written.

use std::fmt;
use std::marker::PhantomData;

use haft_config::Spanned;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// `[settings]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct SettingsConfig {
    pub(crate) default_agent: Option<Spanned<String>>,
    pub(crate) default_role: Option<Spanned<String>>,
    pub(crate) shell: Option<Spanned<StringOrList>>,
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) mcp: Option<bool>,
    pub(crate) approve_haft: Option<bool>,
}

/// `[[agent]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct AgentConfig {
    pub(crate) bin: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<CommandConfig>>,
    pub(crate) batch: Option<Spanned<CommandConfig>>,
    pub(crate) shell: bool,
    pub(crate) models: OrderedTable<String>,
    pub(crate) default_model: Option<String>,
    pub(crate) prompt: Option<Spanned<StringOrList>>,
    pub(crate) env: OrderedTable<Spanned<String>>,
    pub(crate) mcp: Option<Spanned<String>>,
    pub(crate) reads: Vec<String>,
    pub(crate) description: Option<String>,
}

/// `[[role]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct RoleConfig {
    pub(crate) file: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<StringOrList>>,
    pub(crate) prompt: Option<Spanned<String>>,
    pub(crate) shell: Option<StringOrList>,
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) optional: bool,
    pub(crate) description: Option<String>,
}

/// `[[context]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct ContextConfig {
    pub(crate) file: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<StringOrList>>,
    pub(crate) prompt: Option<Spanned<String>>,
    pub(crate) shell: Option<StringOrList>,
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) required: bool,
    pub(crate) default: bool,
    pub(crate) tags: Vec<String>,
    pub(crate) description: Option<String>,
}

/// `[[task]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct TaskConfig {
    pub(crate) file: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<StringOrList>>,
    pub(crate) prompt: Option<Spanned<String>>,
    pub(crate) shell: Option<StringOrList>,
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) role: Option<Spanned<String>>,
    pub(crate) agent: Option<Spanned<String>>,
    pub(crate) model: Option<String>,
    pub(crate) alias: Option<Spanned<String>>,
    pub(crate) tags: Vec<String>,
    pub(crate) description: Option<String>,
}

/// A string or an array of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StringOrList {
    String(String),
    List(Vec<String>),
}

/// An agent's command: a shell command line, or words and groups of words.
#[derive(Debug)]
pub(crate) enum CommandConfig {
    Line(String),
    List(Vec<Spanned<CommandWordConfig>>),
}

#[derive(Debug)]
pub(crate) enum CommandWordConfig {
    Text(String),
    Group(Vec<Spanned<CommandWordConfig>>),
}

/// A table with arbitrary keys, in definition order.
#[derive(Debug)]
pub(crate) struct OrderedTable<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for OrderedTable<T> {
    fn default() -> OrderedTable<T> {
        OrderedTable(Vec::new())
    }
}

impl StringOrList {
    /// The strings as a list.
    pub(crate) fn all(&self) -> Vec<String> {
        match self {
            StringOrList::String(text) => vec![text.clone()],
            StringOrList::List(texts) => texts.clone(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OrderedTable<T>, D::Error> {
        struct TableVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
            type Value = OrderedTable<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedTable<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedTable(entries))
            }
        }
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

/// Implements `Deserialize` for an enum of a string and an array.
macro_rules! text_or_list {
    ($name:ident, $expected:literal, $element:ty, $text:expr, $list:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct StringOrListVisitor;
                impl<'de> Visitor<'de> for StringOrListVisitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        ($text)(text)
                    }

                    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<$name, A::Error> {
                        let mut elements: Vec<$element> = Vec::new();
                        while let Some(element) = list.next_element()? {
                            elements.push(element);
                        }
                        Ok(($list)(elements))
                    }
                }
                deserializer.deserialize_any(StringOrListVisitor)
            }
        }
    };
}

text_or_list!(
    StringOrList,
    "a string or an array of strings",
    String,
    |text: &str| Ok(StringOrList::String(text.to_owned())),
    StringOrList::List
);
text_or_list!(
    CommandConfig,
    "an array of arguments",
    Spanned<CommandWordConfig>,
    |text: &str| Ok(CommandConfig::Line(text.to_owned())),
    CommandConfig::List
);
text_or_list!(
    CommandWordConfig,
    "a string or an array of strings",
    Spanned<CommandWordConfig>,
    |text: &str| Ok(CommandWordConfig::Text(text.to_owned())),
    CommandWordConfig::Group
);
