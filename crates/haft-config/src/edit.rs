//! Edits the items of a configuration file and keeps the rest of its text, comments included.

use std::fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::source::{ConfigSource, Layer};
use crate::tree::{TomlNode, TomlTable, TomlValue, parse};

/// The text of a configuration file, divided into items.
///
/// ```
/// use haft_config::{ConfigSource, ConfigText, Layer};
///
/// let text = "# mine\n[[role]]\nname = 'a'\nprompt = 'A'\n\n[[role]]\nname = 'b'\nprompt = 'B'\n".to_owned();
/// let source = ConfigSource { layer: Layer::User, name: "config.toml".into(), path: None, text };
/// let mut config = ConfigText::parse(source)?;
/// let item = config.item("role", "a").map(str::trim_end);
/// assert_eq!(item, Some("# mine\n[[role]]\nname = 'a'\nprompt = 'A'"));
/// config.order("role", &["b".to_owned()]);
/// assert!(config.text().starts_with("[[role]]\nname = 'b'"));
/// config.remove("role", "a");
/// assert_eq!(config.text().trim_end(), "[[role]]\nname = 'b'\nprompt = 'B'");
/// # Ok::<(), haft_config::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConfigText {
    /// The text before the first item, then items and the texts between them.
    pieces: Vec<TextPiece>,
}

/// A part of the text: an item with the comment above it, or text that belongs to no item.
#[derive(Clone, Debug)]
struct TextPiece {
    item: Option<ItemName>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ItemName {
    section: String,
    name: String,
}

impl ConfigText {
    /// Divides the text of a source.
    ///
    /// # Errors
    /// Fails if the text is not TOML, or if an item is not written as `[[section]]`.
    pub fn parse(source: ConfigSource) -> Result<ConfigText, Error> {
        let source = Arc::new(source);
        let document = parse(&source, 0)?;
        let headers = headers(&source.text, &document);
        let names = item_names(&document);
        let mut pieces: Vec<TextPiece> = Vec::new();
        let mut start = 0;
        for (index, header) in headers.iter().enumerate() {
            let end = headers.get(index + 1).map_or(source.text.len(), |next| next.start);
            if index == 0 && header.start > 0 {
                pieces.push(TextPiece { item: None, text: source.text[..header.start].to_owned() });
            }
            start = end;
            let text = source.text[header.start..end].to_owned();
            let inside = header.start..end;
            let item =
                names.iter().find(|(span, _)| inside.contains(&span.start)).map(|(_, item)| item.clone());
            match pieces.last_mut() {
                // The header of a table within the item above.
                Some(last) if header.belongs_above && item.is_none() => last.text += &text,
                _ => pieces.push(TextPiece { item, text }),
            }
        }
        if headers.is_empty() {
            pieces.push(TextPiece { item: None, text: source.text.clone() });
        }
        debug_assert!(headers.is_empty() || start == source.text.len());
        let found = pieces.iter().filter(|piece| piece.item.is_some()).count();
        if found != names.len() {
            let location = crate::SourceLocation { source: source.clone(), start: 0, end: 0 };
            let message = "the items of this file are not written as [[section]]";
            let error = Error::at(ErrorKind::WrongValue, &location, message);
            return Err(error.with_hint("change the file with `haft launch edit`"));
        }
        Ok(ConfigText { pieces })
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// The text of an item with the comment above it.
    pub fn item(&self, section: &str, name: &str) -> Option<&str> {
        self.position(section, name).map(|index| self.pieces[index].text.as_str())
    }

    /// The names of a section's items, in order.
    pub fn names(&self, section: &str) -> Vec<&str> {
        let items = self.pieces.iter().filter_map(|piece| piece.item.as_ref());
        items.filter(|item| item.section == section).map(|item| item.name.as_str()).collect()
    }

    /// The value of an item's key, if it is a string.
    pub fn string_value(&self, section: &str, name: &str, key: &str) -> Option<String> {
        let text = self.item(section, name)?.to_owned();
        let source = ConfigSource { layer: Layer::User, name: String::new(), path: None, text };
        let document = parse(&Arc::new(source), 0).ok()?;
        let TomlValue::List(nodes) = &document.get(section)?.value else { return None };
        let TomlValue::Table(table) = &nodes.first()?.value else { return None };
        match &table.get(key)?.value {
            TomlValue::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Replaces an item in place, or appends it. `text` starts with `[[section]]`.
    pub fn set(&mut self, section: &str, name: &str, text: &str) {
        let text = format!("{}\n", text.trim_end());
        if let Some(index) = self.position(section, name) {
            let more = index + 1 < self.pieces.len();
            self.pieces[index].text = if more { text + "\n" } else { text };
            return;
        }
        if let Some(last) = self.pieces.last_mut().filter(|last| !last.text.trim().is_empty()) {
            last.text = format!("{}\n\n", last.text.trim_end());
        }
        let item = ItemName { section: section.to_owned(), name: name.to_owned() };
        self.pieces.push(TextPiece { item: Some(item), text });
    }

    /// Removes an item. Returns its text.
    pub fn remove(&mut self, section: &str, name: &str) -> Option<String> {
        let index = self.position(section, name)?;
        let removed = self.pieces.remove(index).text;
        self.close_end();
        Some(removed)
    }

    /// Puts the named items of a section first, in this order. The others follow in their order.
    pub fn order(&mut self, section: &str, names: &[String]) {
        let is_item = |piece: &TextPiece| piece.item.as_ref().is_some_and(|item| item.section == section);
        let places: Vec<usize> =
            (0..self.pieces.len()).filter(|&index| is_item(&self.pieces[index])).collect();
        let mut items: Vec<TextPiece> = places.iter().map(|&index| self.pieces[index].clone()).collect();
        items.sort_by_key(|piece| {
            let name = piece.item.as_ref().map(|item| &item.name);
            names.iter().position(|wanted| Some(wanted) == name).unwrap_or(names.len())
        });
        for (place, mut piece) in places.into_iter().zip(items) {
            piece.text = format!("{}\n\n", piece.text.trim_end());
            self.pieces[place] = piece;
        }
        self.close_end();
    }

    /// Ends the text with one newline.
    fn close_end(&mut self) {
        if let Some(last) = self.pieces.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                last.text.push('\n');
            }
        }
    }

    fn position(&self, section: &str, name: &str) -> Option<usize> {
        let is_wanted = |item: &ItemName| item.section == section && item.name == name;
        self.pieces.iter().position(|piece| piece.item.as_ref().is_some_and(is_wanted))
    }
}

/// Replaces a file's content in one step, and keeps its mode. Creates missing directories. A symbolic link keeps leading
/// to its target.
///
/// # Errors
/// Fails if the file cannot be written. It is unchanged then.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let directory = real.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(content)?;
    let mode = fs::metadata(&real).map_or(0o644, |found| found.permissions().mode());
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    file.persist(&real).map(drop).map_err(|error| error.error)
}

/// A line that starts a table.
struct Header {
    /// The start of the comment above it, or of the line.
    start: usize,
    /// Whether it is `[section.key]`, a table within an item.
    belongs_above: bool,
}

/// The lines that start a table. Lines within a value do not count.
fn headers(text: &str, document: &TomlTable) -> Vec<Header> {
    let mut values = Vec::new();
    document.0.iter().for_each(|(_, node)| leaves(node, &mut values));
    let mut headers: Vec<Header> = Vec::new();
    let mut comment = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_start();
        let inside = values.iter().any(|value: &Range<usize>| value.start < start && start < value.end);
        if plain.starts_with('[') && !inside {
            let key = plain.trim_start_matches('[').split([']', '#']).next().unwrap_or_default();
            let belongs_above = !plain.starts_with("[[") && key.contains('.');
            headers.push(Header { start: comment.take().unwrap_or(start), belongs_above });
        } else if plain.starts_with('#') && !inside {
            comment = comment.or(Some(start));
        } else {
            comment = None;
        }
        start += line.len();
    }
    headers
}

/// The spans of all values that are neither tables nor lists of tables.
fn leaves(node: &TomlNode, spans: &mut Vec<Range<usize>>) {
    match &node.value {
        TomlValue::Table(table) => table.0.iter().for_each(|(_, node)| leaves(node, spans)),
        TomlValue::List(nodes) if nodes.iter().any(|node| matches!(node.value, TomlValue::Table(_))) => {
            nodes.iter().for_each(|node| leaves(node, spans));
        }
        _ => spans.push(node.span.start..node.span.end),
    }
}

/// All named items, with the span of the name.
fn item_names(document: &TomlTable) -> Vec<(Range<usize>, ItemName)> {
    let mut names = Vec::new();
    for (key, node) in &document.0 {
        let TomlValue::List(nodes) = &node.value else { continue };
        for node in nodes {
            let TomlValue::Table(table) = &node.value else { continue };
            if let Some(TomlNode { span, value: TomlValue::Text(name) }) = table.get("name") {
                let item = ItemName { section: key.name.clone(), name: name.clone() };
                names.push((span.start..span.end, item));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# top\n\n[settings]\ntimeout = 3\n\n# the first\n[[agent]]\nname = 'a'\ncommand = [\n  '{bin}',\n  ['x'],\n]\n\
                        [agent.env]\nX = '''\n[[agent]]\nname = 'no'\n'''\n\n[[role]]\nname = 'r'\nprompt = 'R'\n\n[[agent]]\nname = 'b'\n";

    fn parsed(text: &str) -> ConfigText {
        let source =
            ConfigSource { layer: Layer::User, name: "t".to_owned(), path: None, text: text.to_owned() };
        ConfigText::parse(source).unwrap()
    }

    #[test]
    fn an_item_includes_its_comment_and_its_tables() {
        let config = parsed(TEXT);
        assert_eq!(config.text(), TEXT);
        assert_eq!(config.names("agent"), ["a", "b"]);
        let item = config.item("agent", "a").unwrap();
        assert!(item.starts_with("# the first\n[[agent]]\n") && item.ends_with("'''\n\n"), "{item:?}");
    }

    #[test]
    fn edits_leave_the_rest_as_it_is() {
        let mut config = parsed(TEXT);
        config.order("agent", &["b".to_owned()]);
        assert_eq!(config.names("agent"), ["b", "a"]);
        assert!(
            config
                .text()
                .starts_with("# top\n\n[settings]\ntimeout = 3\n\n[[agent]]\nname = 'b'\n\n[[role]]")
        );
        config.remove("agent", "a");
        config.set("role", "r", "[[role]]\nname = 'r'\nprompt = 'S'");
        config.set("role", "s", "[[role]]\nname = 's'\nprompt = 'S'\n");
        let expected = "# top\n\n[settings]\ntimeout = 3\n\n[[agent]]\nname = 'b'\n\n[[role]]\nname = 'r'\nprompt = 'S'\n\n\
                        [[role]]\nname = 's'\nprompt = 'S'\n";
        assert_eq!(config.text(), expected);
        assert_eq!(parsed("").text(), "");
    }
}
