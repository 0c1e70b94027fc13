//! The stored record of an overlay.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conflict::Conflict;
use crate::copy::is_ordered;
use crate::error::Error;
use crate::node::FileTime;
use crate::swap::Step;

/// Names of the files in an overlay's directory.
pub(crate) const RECORD: &str = "record.json";
pub(crate) const JOURNAL: &str = "journal.json";

/// The record of an overlay: `record.json` in its directory.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    /// Seconds since the epoch.
    pub(crate) created: u64,
    pub(crate) level: OverlayLevel,
    pub(crate) trees: Vec<TreeRecord>,
    /// The commits that were not taken back, oldest first.
    pub(crate) commits: Vec<CommitRecord>,
    /// Whether nothing is left to commit.
    pub(crate) is_committed: bool,
    /// Number of the next commit.
    pub(crate) next_commit: u32,
    /// Conflicts that existed at the last commit or undo, in what it left alone.
    #[serde(default)]
    pub(crate) conflicts: Vec<Conflict>,
}

/// One directory under an overlay.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct TreeRecord {
    #[serde(with = "path_bytes")]
    pub(crate) path: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Directory with the changes.
    #[serde(with = "path_bytes")]
    pub(crate) data: PathBuf,
    /// A change in the tree after this time is a conflict.
    pub(crate) opened: FileTime,
}

/// A commit.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct CommitRecord {
    pub(crate) number: u32,
    /// Seconds since the epoch.
    pub(crate) time: u64,
    pub(crate) steps: Vec<Step>,
    /// Conflicts that existed at a later commit or undo.
    #[serde(default)]
    pub(crate) conflicts: Vec<Conflict>,
}

/// How an overlay is separated from the machine.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverlayLevel {
    /// overlayfs in a mount namespace.
    MountNamespace,
    /// overlayfs in a mount namespace that a user namespace owns, because the process is not privileged.
    UserNamespace,
}

/// A commit or undo in progress: `journal.json`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Journal {
    pub(crate) direction: Direction,
    /// Number of the commit.
    pub(crate) number: u32,
    pub(crate) phase: Phase,
    pub(crate) steps: Vec<Step>,
    /// The record once this is done.
    pub(crate) result: Record,
}

/// Which way objects move.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) enum Direction {
    /// From the overlay into the tree.
    Commit,
    /// Back.
    Undo,
}

/// How far a journal is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) enum Phase {
    /// Objects are moved next to the tree. A crash here is rolled back.
    Staging,
    /// Objects move in and out of the tree. A crash here is completed.
    Applying,
    /// Objects move to where they are kept. A crash here is completed.
    Settling,
}

/// Writes a JSON file so that it is either the old or the new one after a crash.
pub(crate) fn write_json<T: Serialize>(directory: &Path, name: &str, value: &T) -> Result<(), Error> {
    write_file(directory, name, value, std::fs::File::sync_data)?;
    sync_directory(directory).map_err(Error::file("write", &directory.join(name)))
}

/// Writes a JSON file that does not exist yet. After a crash it is complete, or empty or cut off.
pub(crate) fn create_json<T: Serialize>(directory: &Path, name: &str, value: &T) -> Result<(), Error> {
    let path = directory.join(name);
    let write = || {
        let mut file = std::fs::File::create(&path)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        file.sync_all()?;
        // On ext4 the file and its name are in one transaction.
        if is_ordered(&file) { Ok(()) } else { sync_directory(directory) }
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&path))).map_err(Error::file("write", &path))
}

/// Reads the journal. Returns `None` if there is none, or if it was not completely written, because nothing is changed before.
pub(crate) fn read_journal(directory: &Path) -> Result<Option<Journal>, Error> {
    let path = directory.join(JOURNAL);
    let Some(bytes) = read_file(&path)? else { return Ok(None) };
    match serde_json::from_slice(&bytes) {
        Ok(journal) => Ok(Some(journal)),
        Err(error) if error.is_eof() => Ok(None),
        Err(error) => Err(Error::Record { path, why: error.to_string() }),
    }
}

/// Writes a JSON file in place of another one. After a crash of the machine it may be damaged.
pub(crate) fn replace_json<T: Serialize>(directory: &Path, name: &str, value: &T) -> Result<(), Error> {
    write_file(directory, name, value, |_| Ok(()))
}

fn write_file<T: Serialize>(
    directory: &Path,
    name: &str,
    value: &T,
    sync: impl FnOnce(&std::fs::File) -> std::io::Result<()>,
) -> Result<(), Error> {
    let path = directory.join(name);
    let temporary = directory.join(format!("{name}.new"));
    let write = || {
        let bytes = serde_json::to_vec(value)?;
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(&bytes)?;
        sync(&file)?;
        std::fs::rename(&temporary, &path)
    };
    write().inspect_err(|_| drop(std::fs::remove_file(&temporary))).map_err(Error::file("write", &path))
}

/// Reads a JSON file, or returns `None` if it does not exist.
pub(crate) fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>, Error> {
    let Some(bytes) = read_file(path)? else { return Ok(None) };
    let damaged = |error: serde_json::Error| Error::Record { path: path.to_owned(), why: error.to_string() };
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

/// Reads a file, or returns `None` if it does not exist.
fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

/// Makes created and renamed entries of a directory permanent.
pub(crate) fn sync_directory(directory: &Path) -> std::io::Result<()> {
    std::fs::File::open(directory)?.sync_all()
}

/// Paths in JSON. A path that is not UTF-8 becomes an array of bytes.
pub(crate) mod path_bytes {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PathText {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match PathText::deserialize(deserializer)? {
            PathText::Text(text) => PathBuf::from(text),
            PathText::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}
