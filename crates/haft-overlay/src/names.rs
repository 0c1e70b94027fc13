//! Reads the names of a tree while a program runs in its overlay.
//!
//! Only a program that runs for a while gets a reader: a thread with the lowest priority that lists the directories of the
//! tree which nobody has changed yet. If someone else changes one later, haft still knows what was there.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::node::{FileTime, Folder};

/// How long a program runs before the names are read.
const DELAY: Duration = Duration::from_millis(300);
/// How many names are remembered.
const MAX_NAMES: usize = 2_000_000;
/// The lowest priority of a thread.
const LOWEST_PRIORITY: i32 = 19;

/// The names of one tree, as far as they have been read. Stops reading when it is dropped.
#[derive(Debug)]
pub(crate) struct NameReader {
    shared: Arc<SharedNames>,
}

#[derive(Debug, Default)]
struct SharedNames {
    names: Mutex<Names>,
    stop: Condvar,
}

#[derive(Debug, Default)]
struct Names {
    is_stopped: bool,
    hasher: RandomState,
    /// Inodes by hashed path.
    inodes: HashMap<u64, u64>,
    /// Hashed paths of the directories that were read.
    folders: HashSet<u64>,
}

impl NameReader {
    /// Starts to read the names of a tree that nobody changed after `opened`. Returns `None` if no thread can be started.
    pub(crate) fn start(root: Folder, opened: FileTime) -> Option<NameReader> {
        let shared = Arc::new(SharedNames::default());
        let theirs = Arc::clone(&shared);
        let started = std::thread::Builder::new().name("names".to_owned()).spawn(move || {
            // On Linux this is the priority of the thread.
            let _ = rustix::process::setpriority_process(None, LOWEST_PRIORITY);
            theirs.read(&root, opened);
        });
        started.ok().map(|_| NameReader { shared })
    }

    /// The inode that a path had, `Some(None)` if there was none, and `None` if that is not known.
    pub(crate) fn entry(&self, path: &Path) -> Option<Option<u64>> {
        let names = self.shared.lock();
        let folder = names.hash(path.parent().unwrap_or(Path::new("")));
        names.folders.contains(&folder).then(|| names.inodes.get(&names.hash(path)).copied())
    }
}

impl Drop for NameReader {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.stop.notify_all();
    }
}

impl SharedNames {
    fn lock(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, root: &Folder, opened: FileTime) {
        let waited = self.stop.wait_timeout_while(self.lock(), DELAY, |names| !names.is_stopped);
        drop(waited);
        let mut waiting = vec![PathBuf::new()];
        while let Some(path) = waiting.pop() {
            let Ok(folder) = root.open(&path) else { continue };
            let Ok(entries) = folder.entries() else { continue };
            // A directory that has changed says nothing about the time before.
            let is_unchanged = folder.own_node().is_ok_and(|node| node.changed <= opened);
            let mut names = self.lock();
            if names.is_stopped || names.inodes.len() + entries.len() > MAX_NAMES {
                return;
            }
            for entry in entries {
                let path = path.join(&entry.name);
                if is_unchanged {
                    let hash = names.hash(&path);
                    names.inodes.insert(hash, entry.inode);
                }
                if entry.is_dir {
                    waiting.push(path);
                }
            }
            if is_unchanged {
                let hash = names.hash(&path);
                names.folders.insert(hash);
            }
        }
    }
}

impl Names {
    fn hash(&self, path: &Path) -> u64 {
        self.hasher.hash_one::<&OsStr>(path.as_os_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_known_after_others_removed_them() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("a")).expect("a directory");
        std::fs::write(directory.path().join("a/one"), "").expect("a file");
        let root = Folder::open_absolute(directory.path()).expect("the directory");
        let opened =
            root.open(Path::new("a")).and_then(|folder| folder.own_node()).expect("its time").changed;
        let inode = root.open(Path::new("a")).and_then(|folder| folder.node(OsStr::new("one")));
        let inode = inode.expect("the file").expect("the file").inode;
        let reader = NameReader::start(root, opened).expect("a thread");
        while reader.entry(Path::new("a/one")).is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::fs::remove_file(directory.path().join("a/one")).expect("removed");
        assert_eq!(reader.entry(Path::new("a/one")), Some(Some(inode)));
        assert_eq!(reader.entry(Path::new("a/two")), Some(None));
        assert_eq!(reader.entry(Path::new("b/two")), None);
    }
}
