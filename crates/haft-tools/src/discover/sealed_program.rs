//! Sealed in-memory copies of project tools.
//!
//! Between hashing a file and executing it, the path or the content may change. Therefore the hashed bytes
//! are copied into a sealed memfd, which cannot be modified, and the copy is executed. Copies are reused by
//! path and content hash, so they are valid even if the file has changed since.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_config::trust::ContentHash;
use haft_config::{FileError, FileRules};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

/// Maximum size of a program to copy.
pub(crate) const MAX_SEALED_BYTES: u64 = 256 << 20;
/// Limits of the cache of copies.
const MAX_CACHED_PROGRAMS: usize = 64;
const MAX_CACHED_BYTES: u64 = MAX_SEALED_BYTES;

/// Cached copies, most recently used last.
#[derive(Debug, Default)]
pub(crate) struct SealedPrograms(Mutex<Vec<SealedProgram>>);

#[derive(Debug)]
struct SealedProgram {
    path: PathBuf,
    hash: ContentHash,
    bytes: u64,
    file: Arc<OwnedFd>,
}

/// Why a program cannot be sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SealError {
    /// The file no longer has the trusted content.
    Changed,
    /// The file cannot be read or copied, with the reason.
    Failed(String),
}

impl std::fmt::Display for SealError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SealError::Changed => formatter.write_str("it has changed since it was trusted"),
            SealError::Failed(reason) => write!(formatter, "cannot copy it: {reason}"),
        }
    }
}

impl SealedPrograms {
    /// Returns a copy of the file, which must have the given hash.
    pub(crate) fn get(
        &self,
        path: &Path,
        hash: &ContentHash,
        rules: &FileRules,
    ) -> Result<Arc<OwnedFd>, SealError> {
        if let Some(file) = self.find_cached(path, hash) {
            return Ok(file);
        }
        let program = seal(path, rules).map_err(|error| SealError::Failed(error.reason().to_owned()))?;
        if program.hash != *hash {
            return Err(SealError::Changed);
        }
        let file = program.file.clone();
        self.add(program);
        Ok(file)
    }

    fn find_cached(&self, path: &Path, hash: &ContentHash) -> Option<Arc<OwnedFd>> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = cached.iter().position(|one| one.path == path && one.hash == *hash)?;
        let program = cached.remove(index);
        let file = program.file.clone();
        cached.push(program);
        Some(file)
    }

    fn add(&self, program: SealedProgram) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|one| one.path != program.path);
        cached.push(program);
        let total = |cached: &[SealedProgram]| cached.iter().map(|one| one.bytes).sum::<u64>();
        while cached.len() > MAX_CACHED_PROGRAMS || total(&cached) > MAX_CACHED_BYTES {
            cached.remove(0);
        }
    }
}

/// Copies a file into memory and seals it. The hash is that of the copy.
fn seal(path: &Path, rules: &FileRules) -> Result<SealedProgram, FileError> {
    let opened = rules.open(path)?;
    let bytes = opened.metadata.len();
    let copied = copy(&opened.file, bytes, path);
    let (hash, file) = copied.map_err(|error| FileError::from_io(path, error))?;
    Ok(SealedProgram { path: path.to_path_buf(), hash, bytes, file: Arc::new(file) })
}

fn copy(from: &File, length: u64, path: &Path) -> io::Result<(ContentHash, OwnedFd)> {
    let name = path.file_name().unwrap_or_default();
    let mut copy = File::from(executable_memory(name)?);
    let hash = ContentHash::of_reading(from, length, |part| copy.write_all(part))?;
    fcntl_add_seals(&copy, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok((hash, copy.into()))
}

/// Creates an executable memfd. Kernels before 6.3 do not know `MFD_EXEC`.
fn executable_memory(name: &std::ffi::OsStr) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create(name, flags | MemfdFlags::EXEC) {
        Err(Errno::INVAL) => Ok(memfd_create(name, flags)?),
        made => Ok(made?),
    }
}
