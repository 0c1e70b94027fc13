//! Outputs in files, for later processes of the same user.
//!
//! An output is two files in a private directory: its bytes, under its name, and what is known of it, as JSON. Where bytes
//! between the beginning and the end are not kept, the file has a mark in their place. Files are removed when their time is
//! over, and the oldest when there are too many or they are too large together.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::{Output, OutputId};

/// So many outputs are kept at most.
const MAX_COUNT: usize = 500;
/// So many bytes of earlier outputs may be there when another one is written.
const MAX_BYTES: u64 = 512 << 20;
/// So much is copied at once.
const PIECE: usize = 1 << 20;
/// Room that a full disk must leave for the description of an output.
const RESERVE: u64 = 8 << 10;
/// The description of an output has the name of the output with this at the end.
const DESCRIPTION: &str = ".json";
/// A longer command is cut.
const MAX_COMMAND: usize = 400;

/// Outputs in a directory, private to its owner.
#[derive(Clone, Debug)]
pub struct OutputStore {
    directory: PathBuf,
}

/// What is known of a stored output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredOutput {
    /// Its name.
    pub id: String,
    /// What wrote it.
    pub command: String,
    /// Which stream it is: `stdout`, `stderr` or `output`.
    pub stream: String,
    /// When it was stored, in seconds since 1970.
    pub stored: u64,
    /// When it is removed, in seconds since 1970.
    pub expires: u64,
    /// All bytes that were written, kept or not.
    pub total_bytes: u64,
    /// So many bytes from the beginning are kept.
    pub kept_head: u64,
    /// So many bytes at the end are kept.
    pub kept_tail: u64,
    /// Why not everything is kept, if that is because something failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// All newlines that were written.
    pub(super) newlines: u64,
    /// The length of the mark between head and tail in the file.
    pub(super) mark: u64,
}

/// The mark in the place of bytes that are not kept.
#[must_use]
pub fn missing_mark(bytes: u64) -> String {
    format!("[… {bytes} bytes not kept …]")
}

impl OutputStore {
    /// Outputs below this directory, which is made when it is needed.
    pub fn new(directory: impl Into<PathBuf>) -> OutputStore {
        OutputStore { directory: directory.into() }
    }

    /// Keeps an output for so long; yields its file. Of one that does not fit on the disk, as much as does.
    ///
    /// # Errors
    /// When the directory cannot be made or is not private, or nothing fits on the disk.
    pub fn keep(
        &self,
        output: &Output,
        stream: &str,
        command: &str,
        time_to_live: Duration,
    ) -> io::Result<PathBuf> {
        make_private(&self.directory)?;
        self.remove_expired();
        let path = self.directory.join(output.id().as_str());
        let mut file = create(&path)?;
        let now = seconds(SystemTime::now());
        let mut stored = StoredOutput {
            id: output.id().to_string(),
            command: command.chars().take(MAX_COMMAND).collect(),
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
        let description = self.description(output.id().as_str());
        let written = serde_json::to_vec(&stored)
            .map_err(io::Error::other)
            .and_then(|json| create(&description)?.write_all(&json));
        if let Err(error) = written {
            self.remove(output.id().as_str());
            return Err(error);
        }
        Ok(path)
    }

    /// The output of this name, if it is there and its time is not over.
    pub fn get(&self, id: &str) -> Option<Output> {
        let stored = self.describe(id)?;
        let file = open(&self.directory.join(id)).ok()?;
        Output::restore(OutputId::parse(id)?, file, &stored).ok()
    }

    /// All outputs whose time is not over, the newest first.
    pub fn list(&self) -> Vec<StoredOutput> {
        let mut all: Vec<StoredOutput> = self.ids().iter().filter_map(|id| self.describe(id)).collect();
        all.sort_by(|one, other| (other.stored, &other.id).cmp(&(one.stored, &one.id)));
        all
    }

    /// Removes outputs whose time is over, and the oldest while there are too many or they are too large together.
    pub fn remove_expired(&self) {
        let known = self.list();
        let mut bytes = 0;
        for (index, stored) in known.iter().enumerate() {
            bytes += stored.kept_head + stored.kept_tail;
            if index >= MAX_COUNT || bytes > MAX_BYTES {
                self.remove(&stored.id);
            }
        }
        for id in self.ids() {
            if !known.iter().any(|stored| stored.id == id) && !self.is_being_written(&id) {
                self.remove(&id);
            }
        }
    }

    /// What is known of an output, unless its time is over.
    fn describe(&self, id: &str) -> Option<StoredOutput> {
        OutputId::parse(id)?;
        check_private(&self.directory).ok()?;
        let description = std::io::read_to_string(open(&self.description(id)).ok()?).ok()?;
        let stored: StoredOutput = serde_json::from_str(&description).ok()?;
        (stored.id == id && stored.expires > seconds(SystemTime::now())).then_some(stored)
    }

    /// The names of all files that are outputs.
    fn ids(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| OutputId::parse(name).is_some()).collect()
    }

    /// Whether a file without a description may still get one from another process.
    fn is_being_written(&self, id: &str) -> bool {
        const LONGEST: Duration = Duration::from_secs(600);
        let age = self.directory.join(id).metadata().and_then(|data| data.modified());
        let is_young = age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < LONGEST));
        is_young && !self.description(id).exists()
    }

    fn remove(&self, id: &str) {
        let _ = std::fs::remove_file(self.description(id));
        let _ = std::fs::remove_file(self.directory.join(id));
    }

    fn description(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}{DESCRIPTION}"))
    }
}

impl StoredOutput {
    /// How many bytes are not kept.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.kept_head + self.kept_tail)
    }
}

/// Copies what is kept of an output, with a mark in the place of what is not. On a full disk, as much as fits.
fn copy(output: &Output, file: &mut File, stored: &mut StoredOutput) -> io::Result<()> {
    let mut cursor = 0;
    loop {
        let growth = output.read_since(cursor, PIECE).map_err(io::Error::other)?;
        if growth.bytes.is_empty() {
            return Ok(());
        }
        if growth.lost > 0 {
            let mark = format!("\n{}\n", missing_mark(growth.lost));
            stored.mark = mark.len() as u64;
            if let Err(error) = file.write_all(mark.as_bytes()) {
                return cut(file, stored, &error);
            }
        }
        if let Err(error) = file.write_all(&growth.bytes) {
            return cut(file, stored, &error);
        }
        let kept = if stored.mark > 0 { &mut stored.kept_tail } else { &mut stored.kept_head };
        *kept += growth.bytes.len() as u64;
        cursor = growth.next;
    }
}

/// Keeps the beginning only, and leaves room for the description.
fn cut(file: &File, stored: &mut StoredOutput, error: &io::Error) -> io::Result<()> {
    let head = file.metadata()?.len().min(stored.kept_head + PIECE as u64);
    stored.kept_head = if stored.mark > 0 { head.min(stored.kept_head) } else { head };
    stored.kept_head = stored.kept_head.saturating_sub(RESERVE);
    stored.kept_tail = 0;
    stored.mark = 0;
    stored.failure = Some(error.to_string());
    file.set_len(stored.kept_head)
}

/// Makes a directory for its owner alone, or sees to it that it is one.
fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    check_private(path)?;
    if path.symlink_metadata()?.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Refuses a directory that is not ours, or that others can replace.
fn check_private(path: &Path) -> io::Result<()> {
    let refused = || io::Error::new(io::ErrorKind::PermissionDenied, "the directory belongs to another user");
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

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
