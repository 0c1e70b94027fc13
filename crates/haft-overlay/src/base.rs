//! The state of the real tree before the overlay was used.
//!
//! overlayfs does not say whether a file in the upper layer is new or replaced one of the tree. As long as the tree's own
//! entry exists, the tree answers that. After someone else removed the entry, only this memory does. It is written whenever
//! the changes are listed, which happens at the end of every run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::names::NameReader;
use crate::node::{FileTime, Node};
use crate::record::{path_bytes, read_json, replace_json};

/// Name of the file, in the overlay's data of a tree.
const FILE: &str = "base.json";
/// Stands for the inode of an entry that may have existed.
const UNKNOWN_INODE: u64 = 0;

/// The objects of the tree at the paths of the upper layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    entries: BTreeMap<PathBuf, BaseEntry>,
    has_news: bool,
}

/// The object of the tree at one path: an inode, or nothing.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct BaseEntry(Option<u64>);

#[derive(Deserialize, Serialize)]
struct StoredEntry(#[serde(with = "path_bytes")] PathBuf, BaseEntry);

impl BaseEntry {
    /// Whether the tree had an entry, or may have had one.
    pub(crate) fn existed(self) -> bool {
        self.0.is_some()
    }

    /// Whether the tree had another entry than this one, or may have had one.
    pub(crate) fn was_other(self, node: &Node) -> bool {
        self.0.is_some_and(|inode| inode != node.inode)
    }
}

/// Answers for one tree: from memory, or from the tree as it is now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaseView<'a> {
    pub(crate) base: &'a Base,
    /// The names that the tree had while a program ran.
    pub(crate) names: Option<&'a NameReader>,
    /// Changes in the tree after this time were made by others.
    pub(crate) opened: FileTime,
}

impl BaseView<'_> {
    /// Returns the object that the tree had at a path. `folder` is the directory that contains it, as it is now, and `present` its entry.
    pub(crate) fn entry(&self, path: &Path, folder: &Node, present: Option<&Node>) -> BaseEntry {
        if let Some(known) = self.base.entries.get(path) {
            return *known;
        }
        // Nobody added or removed an entry of a directory that did not change.
        if folder.changed <= self.opened || present.is_some_and(|node| node.changed <= self.opened) {
            return BaseEntry(present.map(|node| node.inode));
        }
        match self.names.and_then(|names| names.entry(path)) {
            Some(inode) => BaseEntry(inode),
            None => BaseEntry(Some(UNKNOWN_INODE)),
        }
    }
}

impl Base {
    /// Reads what was remembered. A damaged file counts as none.
    pub(crate) fn read(data: &Path) -> Base {
        let stored: Vec<StoredEntry> = read_json(&data.join(FILE)).ok().flatten().unwrap_or_default();
        Base { entries: stored.into_iter().map(|entry| (entry.0, entry.1)).collect(), has_news: false }
    }

    /// Remembers paths, unless they are known.
    pub(crate) fn add_all(&mut self, entries: Vec<(PathBuf, BaseEntry)>) {
        for (path, entry) in entries {
            self.entries.entry(path).or_insert_with(|| {
                self.has_news = true;
                entry
            });
        }
    }

    /// Forgets paths for which `is_kept` is false.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&Path) -> bool) {
        self.has_news = true;
        self.entries.retain(|path, _| is_kept(path));
    }

    /// Writes what was added or removed. If that fails, as on a full disk, everything is forgotten, and what cannot be told
    /// later is a conflict.
    pub(crate) fn write(&mut self, data: &Path) {
        if self.has_news {
            let stored: Vec<StoredEntry> =
                self.entries.iter().map(|(path, entry)| StoredEntry(path.clone(), *entry)).collect();
            if replace_json(data, FILE, &stored).is_err() {
                let _ = std::fs::remove_file(data.join(FILE));
            }
            self.has_news = false;
        }
    }
}
