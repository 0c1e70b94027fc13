//! Merges configuration sources, layer over layer.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::deserialize::NodeDeserializer;
use crate::deserialize_error::DeserializeError;
use crate::error::{Error, ErrorKind};
use crate::file::Owners;
use crate::nearest::suggest;
use crate::section::{SECTIONS, Section, SectionShape};
use crate::source::{ConfigSource, ConfigSpan, Layer, SourceLocation};
use crate::tree::{TomlKey, TomlNode, TomlTable, TomlValue, parse};

/// Configuration from several sources. A later source overrides an earlier one: settings field by field,
/// named items as a whole.
#[derive(Clone, Debug, Default)]
pub struct Config {
    sources: Vec<Arc<ConfigSource>>,
    documents: Vec<TomlTable>,
}

/// An item of a list section (`[[section]]`).
#[derive(Clone, Debug)]
pub struct ConfigItem<T> {
    /// The value of its `name` key.
    pub name: String,
    /// Location of the `name` value.
    pub location: SourceLocation,
    /// The item's other keys.
    pub value: T,
}

impl Config {
    /// Creates a configuration without sources.
    pub fn new() -> Config {
        Config::default()
    }

    /// Adds a source on top of the existing ones.
    ///
    /// # Errors
    /// Fails if the source is not TOML or has an unknown section. The configuration is unchanged in that
    /// case.
    pub fn add(&mut self, source: ConfigSource) -> Result<(), Error> {
        let before = self.sources.len();
        match self.add_lenient(source).into_iter().next() {
            None => Ok(()),
            Some(error) => {
                self.sources.truncate(before);
                self.documents.truncate(before);
                Err(error)
            }
        }
    }

    /// Adds a source and returns every error found at the section level. A source that parses is kept even if
    /// it has errors.
    pub fn add_lenient(&mut self, source: ConfigSource) -> Vec<Error> {
        let source = Arc::new(source);
        let document = match parse(&source, self.sources.len()) {
            Ok(document) => document,
            Err(error) => return vec![error],
        };
        self.sources.push(source);
        let errors = self.check_sections(&document);
        self.documents.push(document);
        errors
    }

    /// Adds the configuration file in `directory`, if it exists. Messages call the directory `name`.
    ///
    /// # Errors
    /// Fails if [`ConfigSource::read`] fails, or if the file is not TOML or has an unknown section.
    pub fn add_file(
        &mut self,
        layer: Layer,
        directory: &Path,
        name: &Path,
        owners: &Owners,
    ) -> Result<(), Error> {
        ConfigSource::read(layer, directory, name, owners)?.map_or(Ok(()), |source| self.add(source))
    }

    /// The sources, from lowest to highest precedence.
    pub fn sources(&self) -> impl Iterator<Item = &ConfigSource> {
        self.sources.iter().map(Arc::as_ref)
    }

    /// Resolves a span into a location with its source.
    ///
    /// # Panics
    /// Panics if the span comes from another configuration.
    pub fn locate(&self, span: ConfigSpan) -> SourceLocation {
        SourceLocation { source: self.sources[span.source].clone(), start: span.start, end: span.end }
    }

    /// Returns true if any source has the section.
    pub fn has(&self, section: &str) -> bool {
        self.documents.iter().any(|document| document.get(section).is_some())
    }

    /// Returns the settings of a table section, merged field by field, or `None` if no source has the
    /// section.
    ///
    /// # Errors
    /// Fails on unknown keys and wrong values in any source, even if a later source overrides them.
    pub fn settings<T: DeserializeOwned>(&self, section: &str) -> Result<Option<T>, Error> {
        let mut merged: Option<TomlNode> = None;
        for node in self.documents.iter().filter_map(|document| document.get(section)) {
            let TomlValue::Table(table) = &node.value else { continue };
            self.read::<T>(node, &format!("[{section}]"))?;
            match &mut merged {
                Some(TomlNode { value: TomlValue::Table(all), .. }) => {
                    table.0.iter().for_each(|(key, node)| all.set(key.clone(), node.clone()));
                }
                _ => merged = Some(node.clone()),
            }
        }
        merged.map(|node| self.read(&node, &format!("[{section}]"))).transpose()
    }

    /// Returns the items of a list section in definition order. An item with the name of an earlier one
    /// replaces it in place.
    ///
    /// # Errors
    /// Fails on unknown keys, wrong values, items without a name, and duplicate names within one source.
    pub fn items<T: DeserializeOwned>(&self, section: &str) -> Result<Vec<ConfigItem<T>>, Error> {
        let (items, errors) = self.items_lenient(section);
        errors.into_iter().next().map_or(Ok(items), Err)
    }

    /// Returns the valid items, and one error for each invalid item.
    pub fn items_lenient<T: DeserializeOwned>(&self, section: &str) -> (Vec<ConfigItem<T>>, Vec<Error>) {
        let (mut items, mut errors): (Vec<ConfigItem<T>>, Vec<Error>) = (Vec::new(), Vec::new());
        let mut positions: HashMap<String, usize> = HashMap::new();
        for document in &self.documents {
            let Some(TomlNode { value: TomlValue::List(nodes), .. }) = document.get(section) else {
                continue;
            };
            let mut seen: HashMap<String, SourceLocation> = HashMap::new();
            for node in nodes {
                let item: ConfigItem<T> = match self.item(node, section) {
                    Ok(item) => item,
                    Err(error) => {
                        errors.push(error);
                        continue;
                    }
                };
                if let Some(first) = seen.insert(item.name.clone(), item.location.clone()) {
                    errors.push(duplicate(section, &item, &first));
                    continue;
                }
                match positions.get(&item.name) {
                    Some(&index) => items[index] = item,
                    None => {
                        positions.insert(item.name.clone(), items.len());
                        items.push(item);
                    }
                }
            }
        }
        (items, errors)
    }

    fn item<T: DeserializeOwned>(&self, node: &TomlNode, section: &str) -> Result<ConfigItem<T>, Error> {
        let TomlValue::Table(table) = &node.value else {
            let message = format!("expected a table, found {} in [[{section}]]", node.value.describe());
            return Err(Error::at(ErrorKind::WrongValue, &self.locate(node.span), message));
        };
        let mut table = table.clone();
        let Some((_, name)) = table.take("name") else {
            let message = format!("missing key 'name' in [[{section}]]");
            return Err(Error::at(ErrorKind::MissingKey, &self.locate(node.span), message));
        };
        let TomlValue::Text(text) = &name.value else {
            let message = format!("expected a string, found {} in [[{section}]]", name.value.describe());
            return Err(Error::at(ErrorKind::WrongValue, &self.locate(name.span), message));
        };
        if text.is_empty() || text.contains(char::is_control) {
            let message = format!("invalid name '{}' in [[{section}]]", text.escape_debug());
            return Err(Error::at(ErrorKind::WrongValue, &self.locate(name.span), message));
        }
        let node = TomlNode { span: name.span, value: TomlValue::Table(table) };
        let value = self.read(&node, &format!("[[{section}]] '{text}'"))?;
        Ok(ConfigItem { name: text.clone(), location: self.locate(name.span), value })
    }

    fn read<T: DeserializeOwned>(&self, node: &TomlNode, within: &str) -> Result<T, Error> {
        let explain = |error: DeserializeError| error.explain(within, |span| self.locate(span), node.span);
        T::deserialize(NodeDeserializer(node)).map_err(explain)
    }

    fn check_sections(&self, document: &TomlTable) -> Vec<Error> {
        let check = |(key, node): &(TomlKey, TomlNode)| {
            let location = self.locate(key.span);
            match SECTIONS.iter().find(|section| section.name == key.name) {
                None => Some(unknown_section(&key.name, &location)),
                Some(section) if !section.shape.fits(&node.value) => {
                    Some(wrong_shape(section, node, &location))
                }
                Some(_) => None,
            }
        };
        document.0.iter().filter_map(check).collect()
    }
}

fn unknown_section(name: &str, location: &SourceLocation) -> Error {
    let error = Error::at(ErrorKind::UnknownKey, location, format!("unknown section '{name}'"));
    match suggest(name, SECTIONS.iter().map(|section| section.name)) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn wrong_shape(section: &Section, node: &TomlNode, location: &SourceLocation) -> Error {
    let found = node.value.describe();
    let (expected, hint) = match section.shape {
        SectionShape::Table => ("a table", format!("write [{}]", section.name)),
        SectionShape::List => ("an array of tables", format!("write [[{}]] for each item", section.name)),
    };
    let message = format!("section '{}' must be {expected}, found {found}", section.name);
    Error::at(ErrorKind::WrongValue, location, message).with_hint(hint)
}

fn duplicate<T>(section: &str, item: &ConfigItem<T>, first: &SourceLocation) -> Error {
    let message = format!("duplicate [[{section}]] '{}' in the same file", item.name);
    Error::at(ErrorKind::Duplicate, &item.location, message).and_at(first, "first defined here")
}
