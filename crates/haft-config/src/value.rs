//! TOML as a tree in which everything knows its place.

use std::borrow::Cow;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, ErrorKind};
use crate::source::{Mark, Place, Source};

/// A value with where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) mark: Mark,
    pub(crate) value: Value,
}

/// A value, its tables in the order they were written.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// What it is called in messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Entries in the order they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<(Key, Node)>);

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) mark: Mark,
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.0.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Takes an entry out.
    pub(crate) fn take(&mut self, name: &str) -> Option<(Key, Node)> {
        let index = self.0.iter().position(|(key, _)| key.name == name)?;
        Some(self.0.remove(index))
    }

    /// Replaces an entry where it stands, or adds it.
    pub(crate) fn set(&mut self, key: Key, node: Node) {
        match self.0.iter_mut().find(|(taken, _)| taken.name == key.name) {
            Some(entry) => *entry = (key, node),
            None => self.0.push((key, node)),
        }
    }
}

/// Reads a text, whose marks shall carry this number.
pub(crate) fn parse(source: &Arc<Source>, number: usize) -> Result<Table, Error> {
    let reader = Reader { source, number };
    let table = DeTable::parse(&source.text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        Error::at(ErrorKind::Syntax, &reader.place(span.start, span.end), message)
    })?;
    reader.table(table.into_inner())
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    number: usize,
}

impl Reader<'_> {
    fn table(&self, table: DeTable<'_>) -> Result<Table, Error> {
        let entry = |(key, value): (Spanned<Cow<'_, str>>, Spanned<DeValue<'_>>)| {
            let mark = self.mark(&key);
            Ok((Key { name: key.into_inner().into_owned(), mark }, self.node(value)?))
        };
        Ok(Table(table.into_iter().map(entry).collect::<Result<_, Error>>()?))
    }

    fn node(&self, value: Spanned<DeValue<'_>>) -> Result<Node, Error> {
        let mark = self.mark(&value);
        let out_of_range = |what: &dyn std::fmt::Display| {
            let place = self.place(mark.start, mark.end);
            Error::at(ErrorKind::WrongValue, &place, format!("the number {what} is out of range"))
        };
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => Value::Integer(
                i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| out_of_range(&number))?,
            ),
            DeValue::Float(number) => {
                Value::Float(number.as_str().parse().map_err(|_| out_of_range(&number))?)
            }
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(list) => {
                Value::List(list.into_iter().map(|value| self.node(value)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Node { mark, value })
    }

    fn mark<T>(&self, spanned: &Spanned<T>) -> Mark {
        let span = spanned.span();
        Mark { source: self.number, start: span.start, end: span.end }
    }

    fn place(&self, start: usize, end: usize) -> Place {
        Place { source: self.source.clone(), start, end }
    }
}
