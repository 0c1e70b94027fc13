//! A TOML tree in which every value has a span.

use std::borrow::Cow;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, ErrorKind};
use crate::source::{ConfigSource, ConfigSpan, SourceLocation};

/// A value with its span.
#[derive(Clone, Debug)]
pub(crate) struct TomlNode {
    pub(crate) span: ConfigSpan,
    pub(crate) value: TomlValue,
}

/// A TOML value. Tables keep their order.
#[derive(Clone, Debug)]
pub(crate) enum TomlValue {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Date(String),
    List(Vec<TomlNode>),
    Table(TomlTable),
}

impl TomlValue {
    /// Description in messages, with an article.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            TomlValue::Text(_) => "a string",
            TomlValue::Integer(_) | TomlValue::Float(_) => "a number",
            TomlValue::Flag(_) => "a boolean",
            TomlValue::Date(_) => "a date",
            TomlValue::List(_) => "an array",
            TomlValue::Table(_) => "a table",
        }
    }
}

/// Entries in definition order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TomlTable(pub(crate) Vec<(TomlKey, TomlNode)>);

#[derive(Clone, Debug)]
pub(crate) struct TomlKey {
    pub(crate) name: String,
    pub(crate) span: ConfigSpan,
}

impl TomlTable {
    pub(crate) fn get(&self, name: &str) -> Option<&TomlNode> {
        self.0.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Removes and returns an entry.
    pub(crate) fn take(&mut self, name: &str) -> Option<(TomlKey, TomlNode)> {
        let index = self.0.iter().position(|(key, _)| key.name == name)?;
        Some(self.0.remove(index))
    }

    /// Replaces an entry in place, or appends it.
    pub(crate) fn set(&mut self, key: TomlKey, node: TomlNode) {
        match self.0.iter_mut().find(|(taken, _)| taken.name == key.name) {
            Some(entry) => *entry = (key, node),
            None => self.0.push((key, node)),
        }
    }
}

/// Parses a source. Spans carry the index `number`.
pub(crate) fn parse(source: &Arc<ConfigSource>, number: usize) -> Result<TomlTable, Error> {
    let builder = TreeBuilder { source, number };
    let table = DeTable::parse(&source.text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        Error::at(ErrorKind::Syntax, &builder.locate(span.start, span.end), message)
    })?;
    builder.table(table.into_inner())
}

struct TreeBuilder<'s> {
    source: &'s Arc<ConfigSource>,
    number: usize,
}

impl TreeBuilder<'_> {
    fn table(&self, table: DeTable<'_>) -> Result<TomlTable, Error> {
        let entry = |(key, value): (Spanned<Cow<'_, str>>, Spanned<DeValue<'_>>)| {
            let span = self.span(&key);
            Ok((TomlKey { name: key.into_inner().into_owned(), span }, self.node(value)?))
        };
        Ok(TomlTable(table.into_iter().map(entry).collect::<Result<_, Error>>()?))
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Result<TomlNode, Error> {
        let span = self.span(&value);
        let out_of_range = |what: &dyn std::fmt::Display| {
            let location = self.locate(span.start, span.end);
            Error::at(ErrorKind::WrongValue, &location, format!("number {what} is out of range"))
        };
        let value = match value.into_inner() {
            DeValue::String(text) => TomlValue::Text(text.into_owned()),
            DeValue::Integer(number) => TomlValue::Integer(
                i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| out_of_range(&number))?,
            ),
            DeValue::Float(number) => {
                TomlValue::Float(number.as_str().parse().map_err(|_| out_of_range(&number))?)
            }
            DeValue::Boolean(flag) => TomlValue::Flag(flag),
            DeValue::Datetime(date) => TomlValue::Date(date.to_string()),
            DeValue::Array(list) => {
                TomlValue::List(list.into_iter().map(|value| self.node(value)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => TomlValue::Table(self.table(table)?),
        };
        Ok(TomlNode { span, value })
    }

    fn span<T>(&self, spanned: &Spanned<T>) -> ConfigSpan {
        let span = spanned.span();
        ConfigSpan { source: self.number, start: span.start, end: span.end }
    }

    fn locate(&self, start: usize, end: usize) -> SourceLocation {
        SourceLocation { source: self.source.clone(), start, end }
    }
}
