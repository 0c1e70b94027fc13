//! `--json`: what a command found, as rows of typed cells.

use haft_fs::{FileType, Metadata, Timestamp};
use haft_kernel::builtins::Context;
use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;
use serde_json::{Map, Value};

use crate::arguments::CommandArguments;
use crate::descriptor::{CommandDescriptor, CommandParameter, JsonColumn, JsonKind};

/// The name of the option.
pub(crate) const JSON: &str = "json";

/// The value of a column in a row.
#[derive(Clone, Debug)]
pub(crate) enum JsonCell {
    Null,
    Boolean(bool),
    Number(u64),
    Integer(i64),
    Text(String),
    List(Vec<JsonCell>),
}

impl From<JsonCell> for Value {
    fn from(cell: JsonCell) -> Self {
        match cell {
            JsonCell::Null => Self::Null,
            JsonCell::Boolean(value) => value.into(),
            JsonCell::Number(value) => value.into(),
            JsonCell::Integer(value) => value.into(),
            JsonCell::Text(text) => text.into(),
            JsonCell::List(cells) => cells.into_iter().map(Self::from).collect(),
        }
    }
}

impl From<u64> for JsonCell {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for JsonCell {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for JsonCell {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<bool> for JsonCell {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

/// Bytes that are not UTF-8 become replacement characters.
impl From<&[u8]> for JsonCell {
    fn from(text: &[u8]) -> Self {
        Self::Text(String::from_utf8_lossy(text).into_owned())
    }
}

impl From<&str> for JsonCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for JsonCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for JsonCell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The rows of a command that was called with `--json`.
#[derive(Debug)]
pub(crate) struct JsonRows {
    columns: &'static [JsonColumn],
    rows: Vec<Value>,
}

impl JsonRows {
    /// `None` without `--json`.
    pub(crate) fn new(descriptor: &CommandDescriptor, arguments: &CommandArguments) -> Option<Self> {
        let parameter = descriptor.parameter(JSON.as_bytes()).filter(|_| arguments.flag(JSON))?;
        Some(Self { columns: parameter.columns(), rows: Vec::new() })
    }

    /// Adds a row. The cells are in the order of the columns.
    pub(crate) fn add(&mut self, cells: Vec<JsonCell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        let members =
            self.columns.iter().zip(cells).map(|(column, cell)| (column.name.to_owned(), cell.into()));
        self.rows.push(Value::Object(members.collect::<Map<_, _>>()));
    }

    /// Sets the data of the run, and returns the text for standard output.
    pub(crate) fn finish(self, context: &mut Context<'_>) -> Vec<u8> {
        let data = Value::Array(self.rows);
        let mut text = data.to_string().into_bytes();
        text.push(b'\n');
        context.set_data(data);
        text
    }
}

/// The option `--json` with the columns of a row.
pub(crate) const fn json_option(columns: &'static [JsonColumn]) -> CommandParameter {
    CommandParameter::json(JSON, columns)
}

/// A column.
pub(crate) const fn column(name: &'static str, kind: JsonKind, summary: &'static str) -> JsonColumn {
    JsonColumn { name, kind, summary }
}

/// The columns of a file.
pub(crate) const FILE_COLUMNS: &[JsonColumn] = &[
    column("path", JsonKind::Text, "The path, as it was given or found."),
    column(
        "type",
        JsonKind::Text,
        "`file`, `directory`, `symlink`, `fifo`, `socket`, `block` or `character`.",
    ),
    column("size", JsonKind::Number, "The size in bytes."),
    column("mode", JsonKind::Text, "The permissions in octal."),
    column("uid", JsonKind::Number, "The id of the owner."),
    column("gid", JsonKind::Number, "The id of the group."),
    column("links", JsonKind::Number, "The number of hard links."),
    column("inode", JsonKind::Number, "The inode number."),
    column("modified", JsonKind::Text, "The time of the last change of the content, in UTC."),
    column("accessed", JsonKind::Text, "The time of the last read."),
    column("changed", JsonKind::Text, "The time of the last change of content or metadata."),
    column("target", JsonKind::Text, "Where a symbolic link leads, else null."),
];

/// The cells of a file.
pub(crate) fn file_cells(path: &[u8], metadata: &Metadata, target: Option<&[u8]>) -> Vec<JsonCell> {
    let kind = match metadata.kind {
        FileType::File => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        FileType::Fifo => "fifo",
        FileType::Socket => "socket",
        FileType::BlockDevice => "block",
        FileType::CharacterDevice => "character",
    };
    vec![
        path.into(),
        kind.into(),
        metadata.size.into(),
        format!("{:04o}", metadata.mode & 0o7777).into(),
        metadata.uid.into(),
        metadata.gid.into(),
        metadata.links.into(),
        metadata.inode.into(),
        time_text(metadata.modified).into(),
        time_text(metadata.accessed).into(),
        time_text(metadata.changed).into(),
        target.into(),
    ]
}

/// A time in UTC, with nanoseconds if it has any.
pub(crate) fn time_text(time: Timestamp) -> String {
    let whole = strftime::format(b"%Y-%m-%dT%H:%M:%S", &LocalZone::utc().local_time(time.seconds));
    let whole = String::from_utf8_lossy(&whole);
    match time.nanoseconds {
        0 => format!("{whole}Z"),
        nanoseconds => format!("{whole}.{nanoseconds:09}Z"),
    }
}
