//! Files that the user allows to run, identified by path and content.
//!
//! Cloning a repository is not consent to run its programs. A project file runs only after the user has
//! trusted *this path with this content*. Trust is recorded by hash and lapses as soon as a byte changes.
//! Each user has one trust store, a file that several processes may change concurrently.
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
//! Only the trusted file itself is hashed, not the files that it reads or sources.
//!
//! Ownership is checked first: [`TrustStore::owners`] returns the users whose files are read at all.

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

/// The user's trust store. Creating it is cheap; every query reads the file again.
#[derive(Clone, Debug, Default)]
pub struct TrustStore {
    store: Option<TrustFile>,
}

/// A trusted file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TrustEntry {
    /// The file. Its directory has no symbolic links, but the file itself may be one.
    pub path: PathBuf,
    /// Hash of the trusted content.
    pub hash: ContentHash,
    /// Time of the decision, in seconds since 1970.
    pub time: u64,
}

/// Trust status of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustStatus {
    /// It was never trusted.
    New,
    /// It was trusted with different content.
    Changed,
    /// It is trusted with this content.
    Trusted,
}

impl TrustStore {
    /// Opens the store in the user's state directory. Without a state directory nothing is or can be trusted.
    pub fn open(state: Option<&Path>) -> TrustStore {
        TrustStore { store: state.map(TrustFile::at) }
    }

    /// Returns true if the file is trusted with this content. An unreadable store trusts nothing.
    pub fn is_trusted(&self, path: &Path, hash: &ContentHash) -> bool {
        self.status(path, hash) == TrustStatus::Trusted
    }

    /// Returns the trust status of a file with this content.
    pub fn status(&self, path: &Path, hash: &ContentHash) -> TrustStatus {
        match self.trusted_hash(path) {
            None => TrustStatus::New,
            Some(trusted) if trusted == *hash => TrustStatus::Trusted,
            Some(_) => TrustStatus::Changed,
        }
    }

    /// Returns the hash that a file is trusted with. A file without one need not be read.
    pub fn trusted_hash(&self, path: &Path) -> Option<ContentHash> {
        let path = trust_key(path);
        let entries = self.list().unwrap_or_default();
        entries.into_iter().find(|entry| entry.path == path).map(|entry| entry.hash)
    }

    /// Returns the content that a file was trusted with, if it was [kept](TrustStore::keep_content).
    pub fn trusted_content(&self, path: &Path) -> Option<Vec<u8>> {
        let hash = self.trusted_hash(path)?;
        self.store.as_ref()?.content(&hash)
    }

    /// Keeps the content of a trusted file, so that a later change can be shown. Without success, a change is shown as a
    /// whole.
    pub fn keep_content(&self, content: &[u8]) {
        if let Some(store) = &self.store {
            let _ = store.keep_content(&ContentHash::of(content), content);
        }
    }

    /// Returns the users whose files are read: the user of this process and root. In directories
    /// [allowed](TrustStore::allow_owner) by the user, files of all users are read.
    pub fn owners(&self) -> Owners {
        let trust = self.clone();
        Owners::of_process().except(move || trust.allowed_owners().unwrap_or_default())
    }

    /// Allows any owner and mode for a directory and everything beneath it. Returns the resolved path.
    ///
    /// # Errors
    /// Fails if the directory does not exist, or if the store cannot be read or written.
    pub fn allow_owner(&self, directory: &Path) -> Result<PathBuf, Error> {
        let real = directory.canonicalize().map_err(|error| Error::io("find", directory, error))?;
        self.store()?.change(|content| {
            content.owners.retain(|old| *old != real);
            content.owners.push(real.clone());
        })?;
        Ok(real)
    }

    /// Returns the directories whose owner and mode are not checked.
    ///
    /// # Errors
    /// Fails if the store exists but cannot be read.
    pub fn allowed_owners(&self) -> Result<Vec<PathBuf>, Error> {
        Ok(self.store.as_ref().map(TrustFile::read).transpose()?.unwrap_or_default().owners)
    }

    /// Revokes [`allow_owner`](TrustStore::allow_owner) for a directory and everything beneath it. Returns
    /// the directories that were allowed.
    ///
    /// # Errors
    /// Fails without changes if the store cannot be read or written.
    pub fn revoke_owner(&self, directory: &Path) -> Result<Vec<PathBuf>, Error> {
        let real = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
        let mut revoked = Vec::new();
        self.store()?.change(|content| {
            (revoked, content.owners) =
                std::mem::take(&mut content.owners).into_iter().partition(|old| old.starts_with(&real));
        })?;
        Ok(revoked)
    }

    /// Trusts files with these hashes, replacing earlier entries of the same files.
    ///
    /// # Errors
    /// Fails without changes if the store cannot be read or written.
    pub fn trust<'a>(&self, files: impl IntoIterator<Item = (&'a Path, ContentHash)>) -> Result<(), Error> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let added: Vec<_> =
            files.into_iter().map(|(path, hash)| TrustEntry { path: trust_key(path), hash, time }).collect();
        self.store()?.change(|content| {
            content.trusted.retain(|old| added.iter().all(|new| new.path != old.path));
            content.trusted.extend(added.iter().cloned());
        })?;
        self.store()?.remove_other_contents();
        Ok(())
    }

    /// Revokes trust in a file, or in everything beneath a directory. Returns the removed entries.
    ///
    /// # Errors
    /// Fails without changes if the store cannot be read or written.
    pub fn revoke(&self, path: &Path) -> Result<Vec<TrustEntry>, Error> {
        let (given, key) = (path, trust_key(path));
        let below = |entry: &TrustEntry| entry.path.starts_with(&key) || entry.path.starts_with(given);
        let mut revoked = Vec::new();
        self.store()?.change(|content| {
            (revoked, content.trusted) = std::mem::take(&mut content.trusted).into_iter().partition(below);
        })?;
        self.store()?.remove_other_contents();
        Ok(revoked)
    }

    /// Returns all trusted files, oldest first.
    ///
    /// # Errors
    /// Fails if the store exists but cannot be read.
    pub fn list(&self) -> Result<Vec<TrustEntry>, Error> {
        Ok(self.store.as_ref().map(TrustFile::read).transpose()?.unwrap_or_default().trusted)
    }

    fn store(&self) -> Result<&TrustFile, Error> {
        self.store.as_ref().ok_or_else(Error::no_state_directory)
    }
}

/// The key of a file in the store: its directory without symbolic links, so that each file has one key, and
/// its own name. A final symbolic link is not resolved because only the content it leads to matters.
fn trust_key(path: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests;
