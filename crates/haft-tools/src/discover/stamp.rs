//! File stamps, which detect changes without reading the file.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Size, times and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
}

impl FileStamp {
    pub(crate) fn of(path: &Path) -> io::Result<FileStamp> {
        let metadata = path.metadata()?;
        Ok(FileStamp {
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        })
    }
}
