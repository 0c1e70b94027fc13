//! The file that holds what is trusted.
//!
//! It is replaced as a whole, so a reader sees the old one or the new one and needs no lock. Writers take turns by a lock on
//! a file of its own, which is never replaced.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Entry, Error};

#[derive(Clone, Debug)]
pub(super) struct Store {
    directory: PathBuf,
    file: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    trusted: Vec<Entry>,
}

impl Store {
    pub(super) fn at(directory: &Path) -> Store {
        Store { directory: directory.to_path_buf(), file: directory.join("trust.json") }
    }

    pub(super) fn read(&self) -> Result<Vec<Entry>, Error> {
        match std::fs::read(&self.file) {
            Ok(bytes) => match serde_json::from_slice::<Content>(&bytes) {
                Ok(content) => Ok(content.trusted),
                Err(error) => Err(Error::damaged(&self.file, &error)),
            },
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(Error::unreachable("read", &self.file, error)),
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> Result<(), Error> {
        let failed = |error| Error::unreachable("write", &self.file, error);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(failed)?;
        let _turn = self.take_turn().map_err(failed)?;
        let mut trusted = self.read()?;
        change(&mut trusted);
        self.replace(&Content { trusted }).map_err(failed)
    }

    /// Waits until nobody else writes; the lock goes with the file that is returned, or with this process.
    fn take_turn(&self) -> io::Result<File> {
        let path = self.directory.join("trust.lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        lock.lock()?;
        Ok(lock)
    }

    fn replace(&self, content: &Content) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(content)?;
        bytes.push(b'\n');
        let mut file = tempfile::Builder::new().prefix("trust.").tempfile_in(&self.directory)?;
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        file.persist(&self.file)?;
        Ok(())
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
