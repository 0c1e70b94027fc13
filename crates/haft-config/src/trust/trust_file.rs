//! The file of the trust store.
//!
//! Writers replace the file atomically, so readers need no lock. Writers exclude each other with a lock on a
//! separate file, which is never replaced.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ContentHash, Error, TrustEntry};
use crate::file::{FileErrorKind, FileRules, MAX_STATE_BYTES, Owners};

/// Maximum size of a content that is kept.
const MAX_KEPT_BYTES: u64 = 256 << 10;

#[derive(Clone, Debug)]
pub(super) struct TrustFile {
    directory: PathBuf,
    file: PathBuf,
}

/// Content of the file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustFileContent {
    pub(super) trusted: Vec<TrustEntry>,
    /// Directories whose owner and mode are not checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) owners: Vec<PathBuf>,
}

impl TrustFile {
    pub(super) fn at(directory: &Path) -> TrustFile {
        TrustFile { directory: directory.to_path_buf(), file: directory.join("trust.json") }
    }

    /// Reads the file. It must belong to this user or root.
    pub(super) fn read(&self) -> Result<TrustFileContent, Error> {
        match FileRules::up_to(MAX_STATE_BYTES).owned_by(&Owners::of_process()).read(&self.file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| Error::corrupt(&self.file, &error)),
            Err(error) if error.kind() == FileErrorKind::NotFound => Ok(TrustFileContent::default()),
            Err(error) => Err(Error::io("read", &self.file, error.into())),
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut TrustFileContent)) -> Result<(), Error> {
        let failed = |error| Error::io("write", &self.file, error);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(failed)?;
        let _lock = self.lock().map_err(failed)?;
        let mut content = self.read()?;
        change(&mut content);
        self.replace(&content).map_err(failed)
    }

    /// The kept content with this hash.
    pub(super) fn content(&self, hash: &ContentHash) -> Option<Vec<u8>> {
        let rules = FileRules::up_to(MAX_KEPT_BYTES).owned_by(&Owners::of_process());
        rules
            .read(&self.contents().join(hash.as_str()))
            .ok()
            .filter(|content| ContentHash::of(content) == *hash)
    }

    /// Keeps a content, unless it is too large.
    pub(super) fn keep_content(&self, hash: &ContentHash, content: &[u8]) -> io::Result<()> {
        if content.len() as u64 > MAX_KEPT_BYTES {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(self.contents())?;
        let mut file = tempfile::Builder::new().prefix("content.").tempfile_in(&self.directory)?;
        file.write_all(content)?;
        file.persist(self.contents().join(hash.as_str()))?;
        Ok(())
    }

    /// Removes the kept contents of files that are no longer trusted.
    pub(super) fn remove_other_contents(&self) {
        let Ok(content) = self.read() else { return };
        for entry in std::fs::read_dir(self.contents()).into_iter().flatten().flatten() {
            let is_trusted = |trusted: &TrustEntry| entry.file_name() == trusted.hash.as_str();
            if !content.trusted.iter().any(is_trusted) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn contents(&self) -> PathBuf {
        self.directory.join("trusted")
    }

    /// Waits for the write lock, which is released when the returned file is closed.
    fn lock(&self) -> io::Result<File> {
        let path = self.directory.join("trust.lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        lock.lock()?;
        Ok(lock)
    }

    fn replace(&self, content: &TrustFileContent) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(content)?;
        bytes.push(b'\n');
        let mut file = tempfile::Builder::new().prefix("trust.").tempfile_in(&self.directory)?;
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        file.persist(&self.file)?;
        Ok(())
    }
}
