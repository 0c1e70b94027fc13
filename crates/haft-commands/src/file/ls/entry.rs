//! Files that `ls` lists, and their order.

use std::cmp::Ordering;

use haft_fs::{FileType, Metadata, Timestamp};

use super::options::{Indicator, ListOptions, SortKey, TimeKind};
use crate::text::sort::compare::version;

/// A file that is listed.
pub(super) struct ListedFile {
    pub(super) name: Vec<u8>,
    /// `None` if it could not be read.
    pub(super) metadata: Option<Metadata>,
    /// The target of a symbolic link.
    pub(super) target: Option<Vec<u8>>,
    /// The file that a symbolic link leads to.
    pub(super) target_metadata: Option<Metadata>,
    /// The type, if the metadata was not read.
    pub(super) kind: Option<FileType>,
}

impl ListedFile {
    pub(super) fn kind(&self) -> Option<FileType> {
        self.metadata.map(|metadata| metadata.kind).or(self.kind)
    }

    /// Whether it is listed with the directories: it is one, or leads to one.
    pub(super) fn is_directory(&self) -> bool {
        self.kind() == Some(FileType::Directory)
            || self.target_metadata.is_some_and(|metadata| metadata.is_dir())
    }

    pub(super) fn time(&self, kind: TimeKind) -> Timestamp {
        let Some(metadata) = self.metadata else { return Timestamp::default() };
        match kind {
            TimeKind::Modified => metadata.modified,
            TimeKind::Accessed => metadata.accessed,
            TimeKind::Changed => metadata.changed,
        }
    }

    /// The character after the name that shows the type.
    pub(super) fn indicator(&self, style: Indicator) -> Option<u8> {
        let mode = self.metadata.map_or(0, |metadata| metadata.mode);
        indicator(self.kind()?, mode, style)
    }
}

/// The character after the name that shows a type.
pub(super) fn indicator(kind: FileType, mode: u32, style: Indicator) -> Option<u8> {
    const EXECUTABLE: u32 = 0o111;
    match (kind, style) {
        (_, Indicator::None) => None,
        (FileType::Directory, _) => Some(b'/'),
        (_, Indicator::Slash) => None,
        (FileType::File, Indicator::Classify) if mode & EXECUTABLE != 0 => Some(b'*'),
        (FileType::Symlink, _) => Some(b'@'),
        (FileType::Fifo, _) => Some(b'|'),
        (FileType::Socket, _) => Some(b'='),
        _ => None,
    }
}

/// Sorts files.
pub(super) fn sort(files: &mut [ListedFile], options: &ListOptions) {
    let by_key = |first: &ListedFile, second: &ListedFile| {
        let order = match options.sort {
            SortKey::Directory => return Ordering::Equal,
            SortKey::Name => Ordering::Equal,
            SortKey::Time => second.time(options.time).cmp(&first.time(options.time)),
            SortKey::Size => {
                let size = |file: &ListedFile| file.metadata.map_or(0, |metadata| metadata.size);
                size(second).cmp(&size(first))
            }
            SortKey::Extension => extension(&first.name).cmp(extension(&second.name)),
            SortKey::Version => version(&first.name, &second.name),
        };
        let order = order.then_with(|| first.name.cmp(&second.name));
        if options.reverse { order.reverse() } else { order }
    };
    files.sort_by(|first, second| match options.directories_first {
        true => second.is_directory().cmp(&first.is_directory()).then_with(|| by_key(first, second)),
        false => by_key(first, second),
    });
}

fn extension(name: &[u8]) -> &[u8] {
    name.iter().rposition(|&byte| byte == b'.').map_or(b"", |dot| &name[dot..])
}
