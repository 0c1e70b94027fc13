//! Removing overlays.
//!
//! An overlay is gone as soon as its directory has another name. Its files, of which there may be many, are removed after that. If
//! the process is killed meanwhile, the next [sweep](OverlayStore::sweep) goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::copy::{remove_by, remove_tree};
use crate::error::Error;
use crate::node::Folder;
use crate::overlay::{Overlay, OverlaySummary};
use crate::record::{RECORD, Record};
use crate::store::{OverlayStore, seconds_now};

/// Prefix of the directory of an overlay that was removed.
pub(crate) const REMOVED_PREFIX: &str = ".removed-";
/// A directory without a record is left alone for this long, because an overlay may be under construction there.
const MIN_ORPHAN_AGE: Duration = Duration::from_secs(60 * 60);

/// How long and how many overlays are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Overlays that were not used for this long are removed.
    pub age: Option<Duration>,
    /// The oldest are removed until the others need no more bytes than this.
    pub bytes: Option<u64>,
}

impl OverlayStore {
    /// Removes an overlay and its changes. Returns its id. Works if its directories are gone too.
    ///
    /// # Errors
    /// If there is none, something uses it, or a file cannot be removed.
    pub fn discard(&self, word: &str) -> Result<String, Error> {
        let id = self.set_aside(word)?;
        self.sweep();
        Ok(id)
    }

    /// Removes an overlay, but leaves its files to [`sweep`](OverlayStore::sweep). Returns its id.
    ///
    /// # Errors
    /// If there is none, something uses it, or it cannot be renamed.
    pub fn set_aside(&self, word: &str) -> Result<String, Error> {
        let (directory, record) = self.find_record(word)?;
        Overlay::discard_record(&directory, &record.id)?;
        Ok(record.id)
    }

    /// Removes the files of removed overlays, also those that a killed process left.
    pub fn sweep(&self) {
        self.sweep_until(None);
    }

    /// The same, but stops at a point in time. Returns whether nothing is left.
    pub fn sweep_for(&self, time: Duration) -> bool {
        self.sweep_until(Some(Instant::now() + time))
    }

    fn sweep_until(&self, deadline: Option<Instant>) -> bool {
        let mut is_done = true;
        for place in self.places() {
            let Ok(folder) = Folder::open_absolute(place) else { continue };
            for entry in folder.entries().unwrap_or_default() {
                let is_removed = entry.name.to_str().is_some_and(|name| name.starts_with(REMOVED_PREFIX));
                if is_removed || is_orphan(&place.join(&entry.name)) {
                    is_done &= remove_by(&folder, &entry.name, deadline).is_ok();
                }
            }
        }
        is_done
    }

    /// Removes overlays that nobody uses and that are not to be kept. Returns their ids. Their files are left to
    /// [`sweep`](OverlayStore::sweep).
    ///
    /// # Errors
    /// If one of them cannot be removed.
    pub fn prune(&self, keep: Retention) -> Result<Vec<String>, Error> {
        self.prune_listed(keep, &self.list())
    }

    /// The same, for overlays that were [listed](OverlayStore::list).
    ///
    /// # Errors
    /// If one of them cannot be removed.
    pub fn prune_listed(&self, keep: Retention, overlays: &[OverlaySummary]) -> Result<Vec<String>, Error> {
        let candidates = overlays.iter().map(|overlay| (&overlay.id, overlay.used, overlay.bytes));
        self.prune_candidates(keep, candidates.collect())
    }

    /// The same, with the sizes that the overlays had when their changes were last looked at.
    ///
    /// # Errors
    /// If one of them cannot be removed.
    pub fn prune_quickly(&self, keep: Retention) -> Result<Vec<String>, Error> {
        let records = self.records();
        let candidates = records.iter().map(|(directory, record)| {
            (&record.id, last_used(directory, record), read_size(directory).unwrap_or(0))
        });
        self.prune_candidates(keep, candidates.collect())
    }

    fn prune_candidates(
        &self,
        keep: Retention,
        mut candidates: Vec<(&String, u64, u64)>,
    ) -> Result<Vec<String>, Error> {
        let now = seconds_now();
        let mut total: u64 = candidates.iter().map(|(_, _, bytes)| bytes).sum();
        candidates.sort_by_key(|(_, used, _)| *used);
        let mut removed = Vec::new();
        for (id, used, bytes) in candidates {
            let is_old = keep.age.is_some_and(|age| now.saturating_sub(used) >= age.as_secs());
            if !is_old && keep.bytes.is_none_or(|limit| total <= limit) {
                continue;
            }
            match self.set_aside(id) {
                Ok(id) => {
                    total = total.saturating_sub(bytes);
                    removed.push(id);
                }
                Err(Error::InUse(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }
}

/// Gives the directory of an overlay the name of a removed one. Returns the new path.
pub(crate) fn rename_aside(directory: &Path) -> Result<PathBuf, Error> {
    let mut name = std::ffi::OsString::from(REMOVED_PREFIX);
    name.push(directory.file_name().unwrap_or_default());
    let aside = directory.with_file_name(name);
    fs::rename(directory, &aside).map_err(Error::file("remove", directory))?;
    Ok(aside)
}

/// Removes the directory of an overlay and everything in it.
pub(crate) fn remove(directory: &Path) -> Result<(), Error> {
    let aside = rename_aside(directory)?;
    let parent = aside.parent().unwrap_or(Path::new("/"));
    let removed = Folder::open_absolute(parent)
        .and_then(|parent| remove_tree(&parent, aside.file_name().unwrap_or_default()));
    removed.map_err(Error::file("remove", directory))
}

/// Whether a directory is what a killed process left of an overlay that it was creating.
fn is_orphan(directory: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(directory) else { return false };
    let age = found.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    found.is_dir() && age.is_some_and(|age| age >= MIN_ORPHAN_AGE) && !directory.join(RECORD).exists()
}

/// When an overlay was last used, in seconds since the epoch. Mounting it and committing its changes renew files in its directories.
pub(crate) fn last_used(directory: &Path, record: &Record) -> u64 {
    let trees = record.trees.iter().map(|tree| tree.data.clone());
    let times =
        trees.chain([directory.to_owned()]).filter_map(|path| fs::metadata(path).ok()?.modified().ok());
    let seconds = times.filter_map(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    seconds.map(|time| time.as_secs()).max().unwrap_or(0).max(record.created)
}

/// Name of the file with the size of an overlay, when it was last known.
const SIZE: &str = "bytes";

/// Remembers the size of an overlay. If that fails, the size counts as 0 when overlays are pruned.
pub(crate) fn write_size(directory: &Path, bytes: u64) {
    if read_size(directory) != Some(bytes) {
        let _ = fs::write(directory.join(SIZE), bytes.to_string());
    }
}

fn read_size(directory: &Path) -> Option<u64> {
    fs::read_to_string(directory.join(SIZE)).ok()?.parse().ok()
}
