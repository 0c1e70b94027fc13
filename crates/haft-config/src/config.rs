//! All sources together, layer over layer.

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

/// Configuration from several sources. Later ones win: settings field by field, items as a whole by their names.
#[derive(Clone, Debug, Default)]
pub struct Config {
    sources: Vec<Arc<ConfigSource>>,
    documents: Vec<TomlTable>,
}

/// An item of a list section.
#[derive(Clone, Debug)]
pub struct ConfigItem<T> {
    /// What it is called.
    pub name: String,
    /// Where its name stands.
    pub location: SourceLocation,
    /// What else is written about it.
    pub value: T,
}

impl Config {
    /// No configuration at all.
    pub fn new() -> Config {
        Config::default()
    }

    /// Adds a source on top of those that are there.
    ///
    /// # Errors
    /// If it is no TOML, or has sections that nobody knows.
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

    /// Adds a source as far as it can be understood. Yields all that is wrong with it as a whole.
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

    /// Adds the file of a layer from its directory, if there is one. `name` is what the directory is called in messages.
    ///
    /// # Errors
    /// If [`ConfigSource::read`] fails, or the file is not TOML or has unknown sections.
    pub fn add_file(
        &mut self,
        layer: Layer,
        directory: &Path,
        name: &Path,
        owners: &Owners,
    ) -> Result<(), Error> {
        ConfigSource::read(layer, directory, name, owners)?.map_or(Ok(()), |source| self.add(source))
    }

    /// The sources, the strongest last.
    pub fn sources(&self) -> impl Iterator<Item = &ConfigSource> {
        self.sources.iter().map(Arc::as_ref)
    }

    /// The location that a span of this configuration stands for.
    ///
    /// # Panics
    /// Never for a span that was read from this configuration.
    pub fn locate(&self, span: ConfigSpan) -> SourceLocation {
        SourceLocation { source: self.sources[span.source].clone(), start: span.start, end: span.end }
    }

    /// Whether any source has a section.
    pub fn has(&self, section: &str) -> bool {
        self.documents.iter().any(|document| document.get(section).is_some())
    }

    /// The settings of a table section, merged field by field; `None` if no source has the section.
    ///
    /// # Errors
    /// Unknown keys and wrong values, in whichever source: what is overridden is not forgiven.
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

    /// The items of a list section in the order of their definition. One that has the name of an earlier one replaces it
    /// where it stands.
    ///
    /// # Errors
    /// Unknown keys and wrong values in whichever source, items without a name, and two of one name in one source.
    pub fn items<T: DeserializeOwned>(&self, section: &str) -> Result<Vec<ConfigItem<T>>, Error> {
        let (items, errors) = self.items_lenient(section);
        errors.into_iter().next().map_or(Ok(items), Err)
    }

    /// The items that can be understood, and for each of the others why not.
    pub fn items_lenient<T: DeserializeOwned>(&self, section: &str) -> (Vec<ConfigItem<T>>, Vec<Error>) {
        let (mut items, mut errors): (Vec<ConfigItem<T>>, Vec<Error>) = (Vec::new(), Vec::new());
        let mut locations: HashMap<String, usize> = HashMap::new();
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
                match locations.get(&item.name) {
                    Some(&index) => items[index] = item,
                    None => {
                        locations.insert(item.name.clone(), items.len());
                        items.push(item);
                    }
                }
            }
        }
        (items, errors)
    }

    fn item<T: DeserializeOwned>(&self, node: &TomlNode, section: &str) -> Result<ConfigItem<T>, Error> {
        let TomlValue::Table(table) = &node.value else {
            let message = format!("expected a table, found {} in [[{section}]]", node.value.word());
            return Err(Error::at(ErrorKind::WrongValue, &self.locate(node.span), message));
        };
        let mut table = table.clone();
        let Some((_, name)) = table.take("name") else {
            let message = format!("the key \"name\" is missing in [[{section}]]");
            return Err(Error::at(ErrorKind::MissingKey, &self.locate(node.span), message));
        };
        let TomlValue::Text(text) = &name.value else {
            let message = format!("expected a text, found {} in [[{section}]]", name.value.word());
            return Err(Error::at(ErrorKind::WrongValue, &self.locate(name.span), message));
        };
        if text.is_empty() || text.contains(char::is_control) {
            let message = format!("\"{}\" cannot be a name in [[{section}]]", text.escape_debug());
            return Err(Error::at(ErrorKind::WrongValue, &self.locate(name.span), message));
        }
        let node = TomlNode { span: name.span, value: TomlValue::Table(table) };
        let value = self.read(&node, &format!("[[{section}]] \"{text}\""))?;
        Ok(ConfigItem { name: text.clone(), location: self.locate(name.span), value })
    }

    fn read<T: DeserializeOwned>(&self, node: &TomlNode, within: &str) -> Result<T, Error> {
        let explain = |fault: DeserializeError| fault.explain(within, |span| self.locate(span), node.span);
        T::deserialize(NodeDeserializer(node)).map_err(explain)
    }

    fn check_sections(&self, document: &TomlTable) -> Vec<Error> {
        let check = |(key, node): &(TomlKey, TomlNode)| {
            let location = self.locate(key.span);
            match SECTIONS.iter().find(|section| section.name == key.name) {
                None => Some(unknown_section(&key.name, &location)),
                Some(section) if !section.form.fits(&node.value) => {
                    Some(wrong_form(section, node, &location))
                }
                Some(_) => None,
            }
        };
        document.0.iter().filter_map(check).collect()
    }
}

fn unknown_section(name: &str, location: &SourceLocation) -> Error {
    let error = Error::at(ErrorKind::UnknownKey, location, format!("unknown section \"{name}\""));
    match suggest(name, SECTIONS.iter().map(|section| section.name)) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn wrong_form(section: &Section, node: &TomlNode, location: &SourceLocation) -> Error {
    let found = node.value.word();
    let (wanted, way) = match section.form {
        SectionShape::Table => ("a table", format!("write [{}]", section.name)),
        SectionShape::List => ("a list of tables", format!("write [[{}]] for each", section.name)),
    };
    let message = format!("the section \"{}\" is {wanted}, found {found}", section.name);
    Error::at(ErrorKind::WrongValue, location, message).with_hint(way)
}

fn duplicate<T>(section: &str, item: &ConfigItem<T>, first: &SourceLocation) -> Error {
    let message = format!("there is another [[{section}]] \"{}\" in the same file", item.name);
    Error::at(ErrorKind::Duplicate, &item.location, message).and_at(first, "the first one")
}
