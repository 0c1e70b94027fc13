//! The order in which GNU's programs visit the files of a directory.

use std::io;
use std::path::Path;

use haft_fs::{DirEntry, DirectoryEntries, FileSystem};

/// Directories with more entries than this are visited in the order of inode numbers.
const MAX_UNSORTED: usize = 10_000;

/// The entries that are sorted at once.
const MAX_SORTED: usize = 100_000;

/// File systems whose inode numbers say nothing about the place of a file: tmpfs, NFS and CIFS.
const UNSORTED_FILE_SYSTEMS: [i64; 3] = [0x0102_1994, 0x6969, 0xFF53_4D42];

/// The entries of a directory as GNU's library for file hierarchies returns them.
pub(crate) fn in_fts_order(
    files: &dyn FileSystem,
    directory: &Path,
    entries: DirectoryEntries,
) -> Vec<io::Result<DirEntry>> {
    let mut entries: Vec<io::Result<DirEntry>> = entries.collect();
    if entries.len() > MAX_UNSORTED && is_sorted(files, directory) {
        for part in entries.chunks_mut(MAX_SORTED).filter(|part| part.len() > MAX_UNSORTED) {
            part.sort_by_key(|entry| entry.as_ref().map_or(u64::MAX, |entry| entry.inode));
        }
    }
    entries
}

fn is_sorted(files: &dyn FileSystem, directory: &Path) -> bool {
    let real = files.real_path(directory);
    let kind = real.and_then(|path| rustix::fs::statfs(&path).ok()).map(|found| found.f_type);
    kind.is_some_and(|kind| !UNSORTED_FILE_SYSTEMS.contains(&kind))
}
