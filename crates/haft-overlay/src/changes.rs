//! The changes that programs made in an overlay.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::base::{BaseEntry, BaseView};
use crate::node::{FileTime, Folder, Node};

/// A changed path.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The absolute path.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// How it changed.
    pub kind: ChangeKind,
    /// The file before the change, and after it.
    pub file: FileChange,
    /// For a renamed file: its path before.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_optional_text")]
    pub renamed_from: Option<PathBuf>,
}

/// Bytes that are not UTF-8 become U+FFFD, because JSON has no other text.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[expect(clippy::ref_option, reason = "serde passes the field")]
fn as_optional_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// How a path changed.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its contents are different.
    Modified,
    /// Only mode, owner, times or extended attributes are different.
    Attributes,
    /// It is gone.
    Deleted,
    /// It was moved from another path.
    Renamed,
}

impl ChangeKind {
    /// A letter for lists, as `git status` prints it.
    pub fn letter(self) -> char {
        match self {
            ChangeKind::Added => 'A',
            ChangeKind::Modified => 'M',
            ChangeKind::Attributes => 'T',
            ChangeKind::Deleted => 'D',
            ChangeKind::Renamed => 'R',
        }
    }
}

/// Types, modes and sizes of a changed file.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Before the change; missing if the file is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<FileState>,
    /// After the change; missing if the file is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<FileState>,
}

/// Type, mode and size of a file.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
pub struct FileState {
    /// The type of the file.
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// Permission bits.
    pub mode: u32,
    /// Size in bytes; 0 for directories.
    pub size: u64,
}

/// The type of a file.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe, socket or device.
    Special,
}

impl FileState {
    fn new(node: &Node) -> FileState {
        let kind = match node.kind {
            FileType::RegularFile => EntryType::File,
            FileType::Directory => EntryType::Directory,
            FileType::Symlink => EntryType::Symlink,
            _ => EntryType::Special,
        };
        let size = if node.is_dir() { 0 } else { node.size };
        FileState { kind, mode: node.mode, size }
    }
}

/// How an entry of the upper layer relates to the tree below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryDifference {
    /// The same in every respect.
    None,
    Attributes,
    Contents,
}

/// The changed paths of a tree, in the order of names, and what the tree had there.
pub(crate) struct Scan {
    pub(crate) changes: Vec<Change>,
    /// Paths are relative to the tree.
    pub(crate) base: Vec<(PathBuf, BaseEntry)>,
}

/// Lists every changed path of one tree. `root` is the absolute path of the tree.
pub(crate) fn scan(upper: &Folder, lower: &Folder, root: &Path, known: BaseView<'_>) -> io::Result<Scan> {
    let found = Scan { changes: Vec::new(), base: Vec::new() };
    let mut scanner = Scanner { root, known, found };
    scanner.folder(upper, Some(lower), Path::new(""), false)?;
    Ok(scanner.found)
}

struct Scanner<'a> {
    root: &'a Path,
    known: BaseView<'a>,
    found: Scan,
}

impl Scanner<'_> {
    /// Compares two directories. In an opaque one, what only the lower one has is deleted.
    fn folder(
        &mut self,
        upper: &Folder,
        lower: Option<&Folder>,
        path: &Path,
        is_opaque: bool,
    ) -> io::Result<()> {
        let mut names = upper.names()?;
        if let (true, Some(lower)) = (is_opaque, lower) {
            names.extend(lower.names()?);
            names.sort_unstable();
            names.dedup();
        }
        let own = lower.map(Folder::own_node).transpose()?;
        for name in names {
            let whole = path.join(&name);
            let below = below(lower, &name)?;
            let above = upper.node(&name)?.filter(|node| !upper.is_whiteout(&name, node));
            if let (Some(_), Some(folder)) = (above, own) {
                let entry = self.known.entry(&whole, &folder, below.as_ref());
                self.found.base.push((whole.clone(), entry));
            }
            self.entry((upper, above), (lower, below), whole, &name)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        (upper, above): (&Folder, Option<Node>),
        (lower, below): (Option<&Folder>, Option<Node>),
        whole: PathBuf,
        name: &OsStr,
    ) -> io::Result<()> {
        match (above, below) {
            (None, None) => Ok(()),
            (None, Some(before)) => match lower {
                Some(lower) => self.removed(lower, &whole, name, &before),
                None => Ok(()),
            },
            (Some(after), None) => self.added(upper, &whole, name, &after),
            (Some(after), Some(before)) if after.is_dir() && before.is_dir() => {
                let Some(lower) = lower else { return Ok(()) };
                let (upper, lower) = (upper.open(name.as_ref())?, lower.open(name.as_ref())?);
                let here = OsStr::new("");
                if has_other_attributes(&upper, &after, &lower, &before, here)? {
                    self.push(whole.clone(), ChangeKind::Attributes, Some(&before), Some(&after));
                }
                let is_opaque = upper.is_opaque(here);
                self.folder(&upper, Some(&lower), &whole, is_opaque)
            }
            (Some(after), Some(before)) if after.kind != before.kind => {
                if before.is_dir() || after.is_dir() {
                    let Some(lower) = lower else { return Ok(()) };
                    self.removed(lower, &whole, name, &before)?;
                    return self.added(upper, &whole, name, &after);
                }
                self.push(whole, ChangeKind::Modified, Some(&before), Some(&after));
                Ok(())
            }
            (Some(after), Some(before)) => {
                let Some(lower) = lower else { return Ok(()) };
                match compare(upper, &after, lower, &before, name)? {
                    EntryDifference::None => {}
                    EntryDifference::Attributes => {
                        self.push(whole, ChangeKind::Attributes, Some(&before), Some(&after));
                    }
                    EntryDifference::Contents => {
                        self.push(whole, ChangeKind::Modified, Some(&before), Some(&after));
                    }
                }
                Ok(())
            }
        }
    }

    fn added(&mut self, upper: &Folder, path: &Path, name: &OsStr, node: &Node) -> io::Result<()> {
        self.push(path.to_owned(), ChangeKind::Added, None, Some(node));
        if node.is_dir() {
            let inner = upper.open(name.as_ref())?;
            return self.folder(&inner, None, path, false);
        }
        Ok(())
    }

    fn removed(&mut self, lower: &Folder, path: &Path, name: &OsStr, node: &Node) -> io::Result<()> {
        self.push(path.to_owned(), ChangeKind::Deleted, Some(node), None);
        if node.is_dir() {
            let inner = lower.open(name.as_ref())?;
            for name in inner.names()? {
                if let Some(node) = inner.node(&name)? {
                    self.removed(&inner, &path.join(&name), &name, &node)?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, path: PathBuf, kind: ChangeKind, before: Option<&Node>, after: Option<&Node>) {
        let file = FileChange { before: before.map(FileState::new), after: after.map(FileState::new) };
        let path = self.root.join(path);
        self.found.changes.push(Change { path, kind, file, renamed_from: None });
    }
}

/// The entry of the lower layer, which is missing if there is no lower directory.
pub(crate) fn below(lower: Option<&Folder>, name: &OsStr) -> io::Result<Option<Node>> {
    lower.map_or(Ok(None), |lower| lower.node(name))
}

/// Whether two directories differ in mode, owner or extended attributes. The times of a directory follow its entries.
pub(crate) fn has_other_attributes(
    upper: &Folder,
    after: &Node,
    lower: &Folder,
    before: &Node,
    name: &OsStr,
) -> io::Result<bool> {
    Ok(after.mode != before.mode
        || after.owner != before.owner
        || upper.extended(name)? != lower.extended(name)?)
}

/// Compares two files of the same type that are not directories.
pub(crate) fn compare(
    upper: &Folder,
    after: &Node,
    lower: &Folder,
    before: &Node,
    name: &OsStr,
) -> io::Result<EntryDifference> {
    let same = match after.kind {
        FileType::RegularFile => after.size == before.size && has_same_bytes(upper, lower, name)?,
        FileType::Symlink => upper.link_target(name)? == lower.link_target(name)?,
        FileType::BlockDevice | FileType::CharacterDevice => after.special_device == before.special_device,
        _ => true,
    };
    if !same {
        return Ok(EntryDifference::Contents);
    }
    let is_other =
        after.modified != before.modified || has_other_attributes(upper, after, lower, before, name)?;
    Ok(if is_other { EntryDifference::Attributes } else { EntryDifference::None })
}

fn has_same_bytes(upper: &Folder, lower: &Folder, name: &OsStr) -> io::Result<bool> {
    let (mut first, mut second) = (upper.read(name)?, lower.read(name)?);
    let (mut one, mut other) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let count = first.read(&mut one)?;
        if count == 0 {
            return Ok(second.read(&mut other[..1])? == 0);
        }
        match second.read_exact(&mut other[..count]) {
            Ok(()) if one[..count] == other[..count] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Whether an entry, or anything below it, has changed after a time.
pub(crate) fn has_changed_since(
    folder: &Folder,
    name: &OsStr,
    node: &Node,
    time: FileTime,
) -> io::Result<bool> {
    if node.changed > time {
        return Ok(true);
    }
    if !node.is_dir() {
        return Ok(false);
    }
    let inner = folder.open(name.as_ref())?;
    for name in inner.names()? {
        if let Some(node) = inner.node(&name)?
            && has_changed_since(&inner, &name, &node, time)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}
