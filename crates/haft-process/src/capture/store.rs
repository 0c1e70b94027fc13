//! Outputs stored in files, for later processes of the same user.
//!
//! An output is stored as two files in a private directory: its bytes, in a file named after its id, and a description in
//! JSON. The output of a terminal has a third file, which says when the bytes arrived. If bytes between head and tail are
//! lost, the file has a mark in their place. Files are removed when they expire, and the oldest ones when there are too many
//! or their total size is too large.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{Output, OutputId, Recording};

/// Maximum number of stored outputs.
const MAX_STORED_OUTPUTS: usize = 500;
/// Maximum total size of the stored outputs when another one is written.
const MAX_STORED_BYTES: u64 = 512 << 20;
/// Bytes that are copied at once.
const COPY_CHUNK_BYTES: usize = 1 << 20;
/// Space that is left for the description on a full disk.
const DESCRIPTION_RESERVE_BYTES: u64 = 8 << 10;
/// Suffix of the file with the description of an output.
const DESCRIPTION_SUFFIX: &str = ".json";
/// Suffix of the file with the recording of a terminal.
const RECORDING_SUFFIX: &str = ".times";
/// Maximum number of characters of a stored command.
const MAX_COMMAND_CHARACTERS: usize = 400;

/// A directory of stored outputs, private to its owner.
#[derive(Clone, Debug)]
pub struct OutputStore {
    directory: PathBuf,
}

/// The description of a stored output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct StoredOutput {
    /// Its id.
    pub id: String,
    /// The command that wrote it.
    pub command: String,
    /// The stream: `stdout`, `stderr` or `output`.
    pub stream: String,
    /// Time of storage, in seconds since 1970.
    pub stored: u64,
    /// Time of expiry, in seconds since 1970.
    pub expires: u64,
    /// Number of bytes that were written, kept or not.
    pub total_bytes: u64,
    /// Number of kept bytes from the beginning.
    pub kept_head: u64,
    /// Number of kept bytes at the end.
    pub kept_tail: u64,
    /// The error that prevented storing everything, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Number of newlines that were written.
    pub(super) newlines: u64,
    /// The length of the mark between head and tail in the file.
    pub(super) mark: u64,
}

/// Returns the mark that replaces bytes that are not kept.
#[must_use]
pub fn missing_mark(bytes: u64) -> String {
    format!("[… {bytes} bytes not kept …]")
}

impl OutputStore {
    /// Makes a store in a directory, which is created when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> OutputStore {
        OutputStore { directory: directory.into() }
    }

    /// Stores an output until it expires, and returns its file. Stores only the beginning if the disk is full.
    ///
    /// # Errors
    /// Fails if the directory cannot be created or is not private, or if nothing fits on the disk.
    pub fn keep(
        &self,
        output: &Output,
        stream: &str,
        command: &str,
        time_to_live: Duration,
    ) -> io::Result<PathBuf> {
        create_private(&self.directory)?;
        self.remove_expired();
        let path = self.directory.join(output.id().as_str());
        let mut file = create(&path)?;
        let now = seconds(SystemTime::now());
        let mut stored = StoredOutput {
            id: output.id().to_string(),
            command: command.chars().take(MAX_COMMAND_CHARACTERS).collect(),
            stream: stream.to_owned(),
            stored: now,
            expires: now.saturating_add(time_to_live.as_secs()),
            total_bytes: output.total_bytes(),
            kept_head: 0,
            kept_tail: 0,
            failure: output.spill_failure().map(|reason| reason.to_string()),
            newlines: output.newlines(),
            mark: 0,
        };
        copy(output, &mut file, &mut stored)?;
        let id = output.id().as_str();
        if let Some(recording) = output.recording() {
            // Without it, the output can still be read.
            let _ = create_json(&self.beside(id, RECORDING_SUFFIX), &recording);
        }
        if let Err(error) = create_json(&self.beside(id, DESCRIPTION_SUFFIX), &stored) {
            self.remove(id);
            return Err(error);
        }
        Ok(path)
    }

    /// Returns a stored output, unless it does not exist or has expired.
    pub fn get(&self, id: &str) -> Option<Output> {
        let stored = self.describe(id)?;
        let file = open(&self.directory.join(id)).ok()?;
        Output::restore(OutputId::parse(id)?, file, &stored, self.recording(id)).ok()
    }

    /// Returns when the bytes of an output arrived, if it is that of a terminal.
    fn recording(&self, id: &str) -> Option<Recording> {
        let json = std::io::read_to_string(open(&self.beside(id, RECORDING_SUFFIX)).ok()?).ok()?;
        serde_json::from_str(&json).ok()
    }

    /// Returns the descriptions of all outputs that have not expired, newest first.
    pub fn list(&self) -> Vec<StoredOutput> {
        let mut all: Vec<StoredOutput> = self.ids().iter().filter_map(|id| self.describe(id)).collect();
        all.sort_by(|one, other| (other.stored, &other.id).cmp(&(one.stored, &one.id)));
        all
    }

    /// Removes expired outputs, and the oldest ones if there are too many or their total size is too large.
    pub fn remove_expired(&self) {
        let known = self.list();
        let mut bytes = 0;
        for (index, stored) in known.iter().enumerate() {
            let recorded = self.beside(&stored.id, RECORDING_SUFFIX).metadata().map_or(0, |file| file.len());
            bytes += stored.kept_head + stored.kept_tail + recorded;
            if index >= MAX_STORED_OUTPUTS || bytes > MAX_STORED_BYTES {
                self.remove(&stored.id);
            }
        }
        for id in self.ids() {
            if !known.iter().any(|stored| stored.id == id) && !self.is_being_written(&id) {
                self.remove(&id);
            }
        }
    }

    /// Returns the description of an output, unless it has expired.
    fn describe(&self, id: &str) -> Option<StoredOutput> {
        OutputId::parse(id)?;
        check_private(&self.directory).ok()?;
        let description = std::io::read_to_string(open(&self.beside(id, DESCRIPTION_SUFFIX)).ok()?).ok()?;
        let stored: StoredOutput = serde_json::from_str(&description).ok()?;
        (stored.id == id && stored.expires > seconds(SystemTime::now())).then_some(stored)
    }

    /// Returns the ids of all stored outputs.
    fn ids(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| OutputId::parse(name).is_some()).collect()
    }

    /// Whether another process may still write the description of an output.
    fn is_being_written(&self, id: &str) -> bool {
        const MAX_WRITE_TIME: Duration = Duration::from_secs(600);
        let age = self.directory.join(id).metadata().and_then(|data| data.modified());
        let is_young = age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < MAX_WRITE_TIME));
        is_young && !self.beside(id, DESCRIPTION_SUFFIX).exists()
    }

    fn remove(&self, id: &str) {
        for suffix in [DESCRIPTION_SUFFIX, RECORDING_SUFFIX] {
            let _ = std::fs::remove_file(self.beside(id, suffix));
        }
        let _ = std::fs::remove_file(self.directory.join(id));
    }

    /// The path of another file of an output.
    fn beside(&self, id: &str, suffix: &str) -> PathBuf {
        self.directory.join(format!("{id}{suffix}"))
    }
}

impl StoredOutput {
    /// Returns the number of bytes that are not kept.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.kept_head + self.kept_tail)
    }
}

/// Copies the kept bytes of an output, with a mark in place of lost ones. Copies as much as fits on a full disk.
fn copy(output: &Output, file: &mut File, stored: &mut StoredOutput) -> io::Result<()> {
    let mut cursor = 0;
    loop {
        let growth = output.read_since(cursor, COPY_CHUNK_BYTES).map_err(io::Error::other)?;
        if growth.bytes.is_empty() {
            return Ok(());
        }
        if growth.lost > 0 {
            let mark = format!("\n{}\n", missing_mark(growth.lost));
            stored.mark = mark.len() as u64;
            if let Err(error) = file.write_all(mark.as_bytes()) {
                return truncate(file, stored, &error);
            }
        }
        if let Err(error) = file.write_all(&growth.bytes) {
            return truncate(file, stored, &error);
        }
        let kept = if stored.mark > 0 { &mut stored.kept_tail } else { &mut stored.kept_head };
        *kept += growth.bytes.len() as u64;
        cursor = growth.next;
    }
}

/// Truncates the file to its beginning, and leaves space for the description.
fn truncate(file: &File, stored: &mut StoredOutput, error: &io::Error) -> io::Result<()> {
    let head = file.metadata()?.len().min(stored.kept_head + COPY_CHUNK_BYTES as u64);
    stored.kept_head = if stored.mark > 0 { head.min(stored.kept_head) } else { head };
    stored.kept_head = stored.kept_head.saturating_sub(DESCRIPTION_RESERVE_BYTES);
    stored.kept_tail = 0;
    stored.mark = 0;
    stored.failure = Some(error.to_string());
    file.set_len(stored.kept_head)
}

/// Creates a directory with mode 0700, or sets the mode of an existing one.
fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check_private(path)?;
    if path.symlink_metadata()?.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Fails if a directory is owned by another user, or can be replaced by one.
fn check_private(path: &Path) -> io::Result<()> {
    let refused =
        || io::Error::new(io::ErrorKind::PermissionDenied, "the directory is owned by another user");
    let own = rustix::process::geteuid().as_raw();
    let status = path.symlink_metadata()?;
    let above = path.parent().unwrap_or(path).metadata()?;
    let is_ours = status.is_dir() && status.uid() == own;
    let is_safe =
        [own, 0].contains(&above.uid()) && (above.mode() & 0o022 == 0 || above.mode() & 0o1000 != 0);
    if is_ours && is_safe { Ok(()) } else { Err(refused()) }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn create_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    create(path)?.write_all(&serde_json::to_vec(value).map_err(io::Error::other)?)
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
