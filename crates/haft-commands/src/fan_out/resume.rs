//! The items that earlier runs have finished: `--resume`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use haft_fs::{File, OpenOptions};
use haft_kernel::{Bytes, Session};
use haft_scale::{ItemRecord, RecordStore};

/// Records of finished items in a file.
#[derive(Debug)]
pub(super) struct FinishedItems {
    store: RecordStore,
    path: Bytes,
    /// The first problem, until it is reported.
    problem: Option<String>,
    failed: bool,
}

impl FinishedItems {
    /// Opens or creates the file.
    ///
    /// # Errors
    /// A message, if it cannot be used or belongs to another fan-out.
    pub(super) fn open(
        session: &Session,
        path: &Bytes,
        variable: &[u8],
        stages: &[u8],
    ) -> Result<Self, String> {
        let absolute = session.resolve(path);
        let options = OpenOptions::new().read(true).write(true).create(true);
        let file = session.files().open(OsStr::from_bytes(&absolute).as_ref(), &options);
        let file = file.map_err(|error| format!("cannot use '{path}': {}", haft_fs::message(&error)))?;
        let File::Real(descriptor) = file else {
            return Err(format!("cannot use '{path}': it is not a file of this machine"));
        };
        let store = RecordStore::open(descriptor.into(), &[variable, stages])
            .map_err(|problem| format!("cannot use '{path}': {problem}"))?;
        Ok(Self { store, path: path.clone(), problem: None, failed: false })
    }

    /// The record of an item, if an earlier run has finished it.
    ///
    /// # Errors
    /// A message, if the file has another item at this position.
    pub(super) fn find(&self, index: u64, item: &[u8]) -> Result<Option<ItemRecord>, String> {
        self.store.find(index, item).map_err(|problem| format!("cannot use '{}': {problem}", self.path))
    }

    /// Adds a record.
    pub(super) fn add(&mut self, record: &ItemRecord) {
        if let Err(error) = self.store.add(record, &record.item) {
            self.fail(&haft_fs::message(&error).to_string());
        }
    }

    /// Writes new records to the file. Returns the first problem, once.
    pub(super) fn save(&mut self) -> Option<String> {
        if let Err(error) = self.store.flush() {
            self.fail(&haft_fs::message(&error).to_string());
        }
        self.problem.take()
    }

    fn fail(&mut self, problem: &str) {
        if !std::mem::replace(&mut self.failed, true) {
            self.problem = Some(format!("cannot use '{}': {problem}", self.path));
        }
    }
}
