//! The content of a directory after a script.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Every entry below a directory, by its path from there.
pub(crate) type Tree = BTreeMap<PathBuf, Entry>;

/// A file, directory or other entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
}

/// The type of an entry, with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
    Fifo,
    Other,
}

/// Reads everything below a directory.
pub(crate) fn of(directory: &Path) -> Tree {
    let mut tree = Tree::new();
    collect(directory, Path::new(""), &mut tree);
    tree
}

fn collect(root: &Path, below: &Path, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(root.join(below)) else { return };
    for entry in entries.flatten() {
        let path = below.join(entry.file_name());
        let Ok(metadata) = entry.metadata() else { continue };
        let kind = kind_of(&entry.path(), &metadata);
        let is_directory = kind == Kind::Directory;
        tree.insert(path.clone(), Entry { kind, mode: metadata.permissions().mode() & 0o7777 });
        if is_directory {
            collect(root, &path, tree);
        }
    }
}

fn kind_of(path: &Path, metadata: &fs::Metadata) -> Kind {
    let kind = metadata.file_type();
    if kind.is_dir() {
        Kind::Directory
    } else if kind.is_file() {
        Kind::File(fs::read(path).unwrap_or_else(|error| error.to_string().into_bytes()))
    } else if kind.is_symlink() {
        Kind::Link(fs::read_link(path).unwrap_or_default())
    } else if kind.is_fifo() {
        Kind::Fifo
    } else {
        Kind::Other
    }
}

/// Removes a directory, regardless of the permissions in it.
pub(crate) fn remove(directory: &Path) {
    if fs::remove_dir_all(directory).is_err() && directory.exists() {
        open_up(directory);
        fs::remove_dir_all(directory).expect("a directory that can be removed");
    }
}

fn open_up(directory: &Path) {
    let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
