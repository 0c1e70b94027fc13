//! Programs of projects, copied once and executed from the copy.
//!
//! A path can be pointed to another file, and a file can be written to, between the moment it is hashed and the moment the
//! kernel reads it. So the bytes that are hashed go into memory that nobody can write to any more (a sealed memfd), and
//! that memory is what is executed. A copy is found again by the hash of its content, so it is right whatever has become of
//! the file.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft_config::trust::ContentHash;
use haft_config::{FileError, FileRules};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

/// The largest program that is copied into memory.
pub(crate) const MAX_SEALED_BYTES: u64 = 256 << 20;
/// Copies that are kept for later calls: so many, and of so many bytes together.
const MAX_KEPT: usize = 64;
const MAX_KEPT_BYTES: u64 = MAX_SEALED_BYTES;

/// The copies that are kept, the one that was used last at the end.
#[derive(Debug, Default)]
pub(crate) struct SealedPrograms(Mutex<Vec<SealedProgram>>);

#[derive(Debug)]
struct SealedProgram {
    path: PathBuf,
    hash: ContentHash,
    bytes: u64,
    file: Arc<OwnedFd>,
}

/// Why there is no copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SealError {
    /// The file does not have the wanted content.
    Changed,
    /// It cannot be read or copied, in a few words.
    Failed(String),
}

impl std::fmt::Display for SealError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SealError::Changed => formatter.write_str("it has changed since it was trusted"),
            SealError::Failed(reason) => write!(formatter, "it cannot be copied: {reason}"),
        }
    }
}

impl SealedPrograms {
    /// A copy of a file that has this content.
    pub(crate) fn get(
        &self,
        path: &Path,
        hash: &ContentHash,
        rules: &FileRules,
    ) -> Result<Arc<OwnedFd>, SealError> {
        if let Some(file) = self.find_kept(path, hash) {
            return Ok(file);
        }
        let program = seal(path, rules).map_err(|error| SealError::Failed(error.reason().to_owned()))?;
        if program.hash != *hash {
            return Err(SealError::Changed);
        }
        let file = program.file.clone();
        self.keep(program);
        Ok(file)
    }

    fn find_kept(&self, path: &Path, hash: &ContentHash) -> Option<Arc<OwnedFd>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = kept.iter().position(|one| one.path == path && one.hash == *hash)?;
        let program = kept.remove(index);
        let file = program.file.clone();
        kept.push(program);
        Some(file)
    }

    fn keep(&self, program: SealedProgram) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.path != program.path);
        kept.push(program);
        let total = |kept: &[SealedProgram]| kept.iter().map(|one| one.bytes).sum::<u64>();
        while kept.len() > MAX_KEPT || total(&kept) > MAX_KEPT_BYTES {
            kept.remove(0);
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

/// A file in memory that may be executed. Kernels before 6.3 do not know the flag that asks for it.
fn executable_memory(name: &std::ffi::OsStr) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create(name, flags | MemfdFlags::EXEC) {
        Err(Errno::INVAL) => Ok(memfd_create(name, flags)?),
        made => Ok(made?),
    }
}
