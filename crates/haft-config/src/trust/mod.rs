//! What a user has allowed to run, by content.
//!
//! A project directory comes from somebody else, and cloning it is no consent to run what is in it. So a file of a project
//! does something only once the user has trusted *this path with this content*: trust is kept by hash and lapses as soon as
//! a byte changes. There is one store for a user, a file that several processes may change at the same time.
//!
//! ```
//! use haft_config::trust::{ContentHash, TrustStore};
//!
//! let state = tempfile::tempdir()?;
//! let file = state.path().join("x-tool");
//! std::fs::write(&file, "#!/bin/sh\n")?;
//!
//! let trust = TrustStore::open(Some(state.path()));
//! let hash = ContentHash::of_file(&file)?;
//! assert!(!trust.is_trusted(&file, &hash));
//! trust.trust([(file.as_path(), hash.clone())])?;
//! assert!(trust.is_trusted(&file, &hash));
//! assert!(!trust.is_trusted(&file, &ContentHash::of(b"other content")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a trusted file reads or sources by itself is its own affair: only the file is looked at.
//!
//! TrustStore is about content. Whose a file is comes before that: [`TrustStore::owners`] are the users whose files are read at all.

mod error;
mod hash;
mod trust_file;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub use error::{Error, ErrorKind};
pub use hash::ContentHash;

use trust_file::TrustFile;

use crate::file::Owners;

/// The store of what a user trusts. Cheap to make; every question reads the file as it is now.
#[derive(Clone, Debug, Default)]
pub struct TrustStore {
    store: Option<TrustFile>,
}

/// A file with the content that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustEntry {
    /// The file. Its directory is free of symbolic links, itself it may be one.
    pub path: PathBuf,
    /// The content that is trusted.
    pub hash: ContentHash,
    /// When it was trusted, in seconds since 1970.
    pub time: u64,
}

/// How a file stands to what is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustStatus {
    /// It was never trusted.
    New,
    /// It was trusted with another content.
    Changed,
    /// It is trusted as it is.
    Trusted,
}

impl TrustStore {
    /// The store in a user's directory of state. Without a directory nothing is trusted, and nothing can be.
    pub fn open(state: Option<&Path>) -> TrustStore {
        TrustStore { store: state.map(TrustFile::at) }
    }

    /// Whether a file is trusted with a content. A store that cannot be read trusts nothing.
    pub fn is_trusted(&self, path: &Path, hash: &ContentHash) -> bool {
        self.status(path, hash) == TrustStatus::Trusted
    }

    /// How a file stands with a content.
    pub fn status(&self, path: &Path, hash: &ContentHash) -> TrustStatus {
        match self.trusted_hash(path) {
            None => TrustStatus::New,
            Some(trusted) if trusted == *hash => TrustStatus::Trusted,
            Some(_) => TrustStatus::Changed,
        }
    }

    /// The content that a file is trusted with. Where there is none, the file need not be read.
    pub fn trusted_hash(&self, path: &Path) -> Option<ContentHash> {
        let path = trust_key(path);
        let entries = self.list().unwrap_or_default();
        entries.into_iter().find(|entry| entry.path == path).map(|entry| entry.hash)
    }

    /// The users whose files are read: the user of this process and root; in the directories that were
    /// [allowed](TrustStore::allow_owner), anybody's.
    pub fn owners(&self) -> Owners {
        let trust = self.clone();
        Owners::of_process().except(move || trust.allowed_owners().unwrap_or_default())
    }

    /// Reads files beneath a directory no matter who owns it or may write to it.
    ///
    /// # Errors
    /// If the directory does not exist, or the store cannot be read or written.
    pub fn allow_owner(&self, directory: &Path) -> Result<PathBuf, Error> {
        let real = directory.canonicalize().map_err(|error| Error::unreachable("find", directory, error))?;
        self.store()?.change(|content| {
            content.owners.retain(|old| *old != real);
            content.owners.push(real.clone());
        })?;
        Ok(real)
    }

    /// The directories whose owner and mode are not checked.
    ///
    /// # Errors
    /// If the store is there and cannot be read.
    pub fn allowed_owners(&self) -> Result<Vec<PathBuf>, Error> {
        Ok(self.store.as_ref().map(TrustFile::read).transpose()?.unwrap_or_default().owners)
    }

    /// Checks owner and mode of a directory, and of all beneath it, again. Answers with the directories that were allowed.
    ///
    /// # Errors
    /// If the store cannot be read or written; nothing has changed then.
    pub fn revoke_owner(&self, directory: &Path) -> Result<Vec<PathBuf>, Error> {
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
        let mut revoked = Vec::new();
        self.store()?.change(|content| {
            (revoked, content.owners) =
                std::mem::take(&mut content.owners).into_iter().partition(|old| old.starts_with(&real));
        })?;
        Ok(revoked)
    }

    /// Trusts files with these contents, in place of any others they were trusted with.
    ///
    /// # Errors
    /// If the store cannot be read or written; nothing has changed then.
    pub fn trust<'a>(&self, files: impl IntoIterator<Item = (&'a Path, ContentHash)>) -> Result<(), Error> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let added: Vec<_> =
            files.into_iter().map(|(path, hash)| TrustEntry { path: trust_key(path), hash, time }).collect();
        self.store()?.change(|content| {
            content.trusted.retain(|old| added.iter().all(|new| new.path != old.path));
            content.trusted.extend(added.iter().cloned());
        })
    }

    /// Takes trust back from a file, or from everything below a directory. Answers with what was trusted.
    ///
    /// # Errors
    /// If the store cannot be read or written; nothing has changed then.
    pub fn revoke(&self, path: &Path) -> Result<Vec<TrustEntry>, Error> {
        let (given, settled) = (path, trust_key(path));
        let below = |entry: &TrustEntry| entry.path.starts_with(&settled) || entry.path.starts_with(given);
        let mut revoked = Vec::new();
        self.store()?.change(|content| {
            (revoked, content.trusted) = std::mem::take(&mut content.trusted).into_iter().partition(below);
        })?;
        Ok(revoked)
    }

    /// All that is trusted, in the order in which it came.
    ///
    /// # Errors
    /// If the store is there and cannot be read.
    pub fn list(&self) -> Result<Vec<TrustEntry>, Error> {
        Ok(self.store.as_ref().map(TrustFile::read).transpose()?.unwrap_or_default().trusted)
    }

    fn store(&self) -> Result<&TrustFile, Error> {
        self.store.as_ref().ok_or_else(Error::no_state_directory)
    }
}

/// The name a file is trusted under: its directory without symbolic links, so that there is one name for it, and its own
/// name, since a link is what it points to by content alone.
fn trust_key(path: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests;
