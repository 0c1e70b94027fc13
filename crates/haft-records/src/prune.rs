//! Removing old journal files.

use std::fs::{File, remove_file};
use std::path::Path;
use std::time::SystemTime;

use crate::files::{self, JournalFile, head_path, index_path};
use crate::limits::JournalLimits;

/// Removes files that are too old, and the oldest ones until the total size is within the limit. Files that a writer holds
/// stay.
pub(crate) fn prune(directory: &Path, limits: JournalLimits, now: SystemTime) {
    let Ok(files) = files::list(directory) else { return };
    let mut total: u64 = files.iter().map(whole_size).sum();
    for file in files {
        let is_old = now.duration_since(file.modified).is_ok_and(|age| age > limits.max_age);
        if (is_old || total > limits.max_size) && remove(&file.path) {
            total -= whole_size(&file).min(total);
        }
    }
}

/// The size of a journal file with its index.
fn whole_size(file: &JournalFile) -> u64 {
    file.size + index_path(&file.path).metadata().map_or(0, |data| data.len())
}

/// Removes a file, its head and its index. Returns false if a writer holds it.
fn remove(path: &Path) -> bool {
    // The lock is held until the file is removed. Before that, no writer can make a file and a head with these names.
    let Ok(file) = File::open(path) else { return false };
    if file.try_lock().is_err() {
        return false;
    }
    let _ = remove_file(head_path(path));
    let _ = remove_file(index_path(path));
    remove_file(path).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::journal::RunJournal;
    use crate::record::{JournalRecord, RunStart};

    fn fill(directory: &Path, session: &str) {
        let journal = RunJournal::open(directory, session, JournalLimits::default()).expect("a journal");
        journal.append(&JournalRecord::Start(RunStart::new(session, 1))).expect("written");
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("a directory").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn old_files_go_and_held_ones_stay() {
        let directory = tempfile::tempdir().expect("a directory");
        fill(directory.path(), "old");
        let held = RunJournal::open(directory.path(), "held", JournalLimits::default()).expect("a journal");
        let later = SystemTime::now() + Duration::from_secs(15 * 24 * 3600);
        prune(directory.path(), JournalLimits::default(), later);
        assert!(names(directory.path()).iter().all(|name| name.starts_with("held.")));
        drop(held);
        prune(directory.path(), JournalLimits::default(), later);
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn the_oldest_files_go_first_when_there_is_too_much() {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, age) in [("first", 300), ("second", 200), ("third", 100)] {
            fill(directory.path(), name);
            let files = files::list(directory.path()).expect("a list");
            let file = files.iter().find(|file| file.name().starts_with(name)).expect("the file");
            let times = std::fs::FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(age));
            File::options().append(true).open(&file.path).expect("a file").set_times(times).expect("times");
        }
        let size = files::list(directory.path()).expect("a list")[0].size;
        let limits = JournalLimits { max_size: 2 * size + 20, ..JournalLimits::default() };
        prune(directory.path(), limits, SystemTime::now());
        assert!(names(directory.path()).iter().all(|name| !name.starts_with("first.")));
        assert_eq!(files::list(directory.path()).expect("a list").len(), 2);
    }
}
