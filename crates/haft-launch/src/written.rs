//! The configuration as it is written: types that say what may stand in each section.

use std::fmt;
use std::marker::PhantomData;

use haft_config::Located;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// `[settings]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    pub(crate) default_agent: Option<Located<String>>,
    pub(crate) default_role: Option<Located<String>>,
    pub(crate) shell: Option<Located<Texts>>,
    pub(crate) timeout: Option<Located<u64>>,
    pub(crate) mcp: Option<bool>,
}

/// `[[agent]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Agent {
    pub(crate) bin: Option<Located<String>>,
    pub(crate) command: Option<Located<Words>>,
    pub(crate) batch: Option<Located<Words>>,
    pub(crate) shell: bool,
    pub(crate) models: Entries<String>,
    pub(crate) default_model: Option<String>,
    pub(crate) prompt: Option<Located<Texts>>,
    pub(crate) env: Entries<Located<String>>,
    pub(crate) mcp: Option<Located<String>>,
    pub(crate) description: Option<String>,
}

/// `[[role]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Role {
    pub(crate) file: Option<Located<String>>,
    pub(crate) command: Option<Located<Texts>>,
    pub(crate) prompt: Option<Located<String>>,
    pub(crate) shell: Option<Texts>,
    pub(crate) timeout: Option<Located<u64>>,
    pub(crate) optional: bool,
    pub(crate) description: Option<String>,
}

/// `[[context]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Context {
    pub(crate) file: Option<Located<String>>,
    pub(crate) command: Option<Located<Texts>>,
    pub(crate) prompt: Option<Located<String>>,
    pub(crate) shell: Option<Texts>,
    pub(crate) timeout: Option<Located<u64>>,
    pub(crate) required: bool,
    pub(crate) default: bool,
    pub(crate) tags: Vec<String>,
    pub(crate) description: Option<String>,
}

/// `[[task]]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Task {
    pub(crate) file: Option<Located<String>>,
    pub(crate) command: Option<Located<Texts>>,
    pub(crate) prompt: Option<Located<String>>,
    pub(crate) shell: Option<Texts>,
    pub(crate) timeout: Option<Located<u64>>,
    pub(crate) role: Option<Located<String>>,
    pub(crate) agent: Option<Located<String>>,
    pub(crate) model: Option<String>,
    pub(crate) alias: Option<Located<String>>,
    pub(crate) tags: Vec<String>,
    pub(crate) description: Option<String>,
}

/// One text, or a list of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    One(String),
    Many(Vec<String>),
}

/// A command as it is written: a line, or words and groups of words.
#[derive(Debug)]
pub(crate) enum Words {
    Line(String),
    List(Vec<Located<WrittenWord>>),
}

#[derive(Debug)]
pub(crate) enum WrittenWord {
    Text(String),
    Group(Vec<Located<WrittenWord>>),
}

/// A table whose keys are the user's own, in the order they were written.
#[derive(Debug)]
pub(crate) struct Entries<T>(pub(crate) Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Entries<T> {
        Entries(Vec::new())
    }
}

impl Texts {
    /// All of them.
    pub(crate) fn all(&self) -> Vec<String> {
        match self {
            Texts::One(text) => vec![text.clone()],
            Texts::Many(texts) => texts.clone(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<T>, D::Error> {
        struct Table<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
            type Value = Entries<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Table(PhantomData))
    }
}

/// Implements reading of what is either one text or a list.
macro_rules! text_or_list {
    ($name:ident, $expected:literal, $element:ty, $text:expr, $list:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct Either;
                impl<'de> Visitor<'de> for Either {
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
                deserializer.deserialize_any(Either)
            }
        }
    };
}

text_or_list!(
    Texts,
    "a text or a list of texts",
    String,
    |text: &str| Ok(Texts::One(text.to_owned())),
    Texts::Many
);
text_or_list!(
    Words,
    "a list of arguments",
    Located<WrittenWord>,
    |text: &str| Ok(Words::Line(text.to_owned())),
    Words::List
);
text_or_list!(
    WrittenWord,
    "a text or a list of texts",
    Located<WrittenWord>,
    |text: &str| Ok(WrittenWord::Text(text.to_owned())),
    WrittenWord::Group
);
