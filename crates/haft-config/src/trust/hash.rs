//! Content hashes.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::file::{FileError, FileRules, HASH_TIMEOUT, MAX_PROGRAM_BYTES, run_with_timeout};

/// SHA-256 of some content, in hexadecimal.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// Hashes bytes.
    pub fn of(content: &[u8]) -> ContentHash {
        ContentHash::from_digest(Sha256::digest(content).as_slice())
    }

    /// Hashes a file.
    ///
    /// # Errors
    /// Fails if the file is not a regular file of at most [`MAX_PROGRAM_BYTES`], or cannot be read.
    pub fn of_file(path: &Path) -> Result<ContentHash, FileError> {
        ContentHash::of_file_with(path, &FileRules::up_to(MAX_PROGRAM_BYTES))
    }

    /// Hashes a file that must meet `rules`.
    ///
    /// # Errors
    /// Fails if the file breaks a rule, cannot be read, or the file system does not answer run_with_timeout a minute.
    pub fn of_file_with(path: &Path, rules: &FileRules) -> Result<ContentHash, FileError> {
        let (wanted, copy) = (path.to_path_buf(), rules.clone());
        let hashed = run_with_timeout(HASH_TIMEOUT, path, move || ContentHash::of_file_now(&wanted, &copy));
        hashed.unwrap_or_else(|| ContentHash::of_file_now(path, rules))
    }

    fn of_file_now(path: &Path, rules: &FileRules) -> Result<ContentHash, FileError> {
        let opened = rules.open(path)?;
        let hashed = ContentHash::of_reading(&opened.file, opened.metadata.len(), |_| Ok(()));
        hashed.map_err(|error| FileError::from_io(path, error))
    }

    /// Hashes an open file of known length and passes each chunk to `each`. A file that grows while it is
    /// read is an error, so that reading always ends.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is longer than `length`, or `each` fails.
    pub fn of_reading(
        mut file: &File,
        length: u64,
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<ContentHash> {
        let mut buffer = vec![0; 64 << 10];
        let (mut state, mut total) = (Sha256::new(), 0);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(ContentHash::from_digest(state.finalize().as_slice())),
                Ok(count) => {
                    total += count as u64;
                    if total > length {
                        return Err(io::Error::other("it grows while it is read"));
                    }
                    state.update(&buffer[..count]);
                    each(&buffer[..count])?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn from_digest(digest: &[u8]) -> ContentHash {
        ContentHash(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The full hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits, for people to compare.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ContentHash({})", self.short())
    }
}
