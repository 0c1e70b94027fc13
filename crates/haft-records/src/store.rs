//! Reading the journals of a directory.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use crate::files::{self, JournalFile};
use crate::index::JournalIndex;

/// The most threads that read at the same time.
const MAX_THREADS: usize = 8;

/// The journals of a directory. Reading never disturbs writers.
#[derive(Clone, Debug)]
pub struct RecordStore {
    directory: PathBuf,
}

/// A journal file with its index.
#[derive(Debug)]
pub(crate) struct IndexedFile {
    pub(crate) file: JournalFile,
    pub(crate) index: JournalIndex,
}

impl RecordStore {
    /// The journals in this directory, which need not exist.
    #[must_use]
    pub fn open(directory: &Path) -> RecordStore {
        RecordStore { directory: directory.to_owned() }
    }

    /// The journal files, oldest first.
    pub(crate) fn files(&self) -> io::Result<Vec<JournalFile>> {
        files::list(&self.directory)
    }

    /// The indexes of all files that were written since a time in milliseconds since 1970.
    pub(crate) fn indexes(&self, since: Option<u64>) -> io::Result<Vec<IndexedFile>> {
        let since = UNIX_EPOCH + Duration::from_millis(since.unwrap_or(0));
        let files: Vec<JournalFile> =
            self.files()?.into_iter().filter(|file| file.modified >= since).collect();
        let indexes = in_parallel(&files, |file| match JournalIndex::load(file) {
            // It was pruned meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            index => index.map(Some),
        });
        let mut indexed = Vec::new();
        for (file, index) in files.into_iter().zip(indexes) {
            indexed.extend(index?.map(|index| IndexedFile { file, index }));
        }
        Ok(indexed)
    }
}

/// Applies a function to all items, on several threads. Returns the results in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        while let Some((item, result)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            items.get(number).zip(results.get(number))
        } {
            let value = work(item);
            if let Ok(mut result) = result.lock() {
                *result = Some(value);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without another thread, this one does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, worker);
        }
        worker();
    });
    results.into_iter().filter_map(|result| result.into_inner().ok().flatten()).collect()
}
