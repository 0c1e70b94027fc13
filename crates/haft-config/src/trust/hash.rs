//! The hash of a content.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a content, in hexadecimal.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// The hash of bytes.
    pub fn of(content: &[u8]) -> ContentHash {
        ContentHash::from_digest(Sha256::digest(content).as_slice())
    }

    /// The hash of a file's content.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<ContentHash> {
        let mut file = File::open(path)?;
        let mut buffer = vec![0; 64 << 10];
        let mut state = Sha256::new();
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(ContentHash::from_digest(state.finalize().as_slice())),
                Ok(count) => state.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn from_digest(digest: &[u8]) -> ContentHash {
        ContentHash(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The whole hash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it for a person to compare.
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
