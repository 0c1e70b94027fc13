//! The file of `--resume`: the records of all items that have ended, so that they do not run again.
//!
//! The first line identifies the fan-out. Each further line is a record. A line that a crash cut off is removed.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;

use rustix::fs::{FlockOperation, flock};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{ItemRecord, WireBytes};

/// The version of the format.
const FORMAT: u32 = 1;
/// Records that are kept in memory before they are written.
const MAX_BUFFERED_BYTES: usize = 64 * 1024;
/// The place of an item without a record.
const NONE: u64 = 0;

/// The first line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoreHeader {
    haft_scatter: u32,
    digest: String,
}

/// The part of a record that is needed to find it.
#[derive(Deserialize)]
struct RecordKey {
    index: u64,
    #[serde(rename = "stderr")]
    _last: IgnoredAny,
}

/// Records in a file.
#[derive(Debug)]
pub struct RecordStore {
    file: File,
    /// For each item the offset of its line, or [`NONE`].
    places: Vec<u64>,
    end: u64,
    buffer: Vec<u8>,
    count: u64,
}

impl RecordStore {
    /// Opens a file for the fan-out that `identity` describes: its stages and the name of the variable.
    ///
    /// # Errors
    /// A message that completes "cannot use 'FILE': ".
    pub fn open(file: File, identity: &[&[u8]]) -> Result<Self, String> {
        let reason = |error: io::Error| haft_process::reason(&error);
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| "another scatter uses it".to_owned())?;
        let header = StoreHeader { haft_scatter: FORMAT, digest: digest(identity) };
        let mut store = Self { file, places: Vec::new(), end: 0, buffer: Vec::new(), count: 0 };
        store.read(&header).map_err(|error| match error {
            ReadFailure::Io(error) => reason(error),
            ReadFailure::Content(message) => message,
        })?;
        if store.end == 0 {
            store.append(&crate::encode(&header));
            store.flush().map_err(reason)?;
        }
        Ok(store)
    }

    /// The number of records that were there or were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Finds the record of an item.
    ///
    /// # Errors
    /// If the file has the record of another item at this position, or cannot be read.
    pub fn find(&self, index: u64, item: &[u8]) -> Result<Option<ItemRecord>, String> {
        let place = usize::try_from(index).ok().and_then(|index| self.places.get(index));
        let Some(&place) = place.filter(|place| **place != NONE) else { return Ok(None) };
        let line = self.line_at(place).map_err(|error| haft_process::reason(&error))?;
        let record: ItemRecord = serde_json::from_slice(&line)
            .map_err(|error| format!("the record of item {}: {error}", index + 1))?;
        match *record.item == *item {
            true => Ok(Some(record)),
            false => Err(format!(
                "it belongs to other items: item {} was '{}' and is '{}'",
                index + 1,
                String::from_utf8_lossy(&record.item),
                String::from_utf8_lossy(item)
            )),
        }
    }

    /// Adds the record of an item. It is in the file after the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, record: &ItemRecord, item: &[u8]) -> io::Result<()> {
        let record = ItemRecord { item: WireBytes::from(item), ..record.clone() };
        self.note(record.index, self.end);
        self.append(&crate::encode(&record));
        if self.buffer.len() >= MAX_BUFFERED_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn append(&mut self, line: &[u8]) {
        self.end += line.len() as u64;
        self.buffer.extend_from_slice(line);
    }

    fn note(&mut self, index: u64, place: u64) {
        let Ok(index) = usize::try_from(index) else { return };
        if self.places.len() <= index {
            self.places.resize(index + 1, NONE);
        }
        self.count += u64::from(self.places[index] == NONE);
        self.places[index] = place;
    }

    fn read(&mut self, expected: &StoreHeader) -> Result<(), ReadFailure> {
        let mut reader = BufReader::with_capacity(1 << 20, self.file.try_clone()?);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)? as u64;
            if !line.ends_with(b"\n") {
                break;
            }
            if self.end == 0 {
                check_header(&line, expected)?;
            } else if let Ok(RecordKey { index, .. }) = serde_json::from_slice(&line) {
                self.note(index, self.end);
            } else {
                break;
            }
            self.end += length;
        }
        if self.end == 0 && !line.is_empty() {
            return Err(ReadFailure::Content("it is not a file of records".to_owned()));
        }
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        Ok(())
    }

    fn line_at(&self, place: u64) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut chunk = vec![0; 4096];
        loop {
            let length = self.file.read_at(&mut chunk, place + line.len() as u64)?;
            match memchr::memchr(b'\n', &chunk[..length]) {
                Some(end) => {
                    line.extend_from_slice(&chunk[..end]);
                    return Ok(line);
                }
                None if length == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                None => line.extend_from_slice(&chunk[..length]),
            }
            chunk.resize(64 * 1024, 0);
        }
    }
}

/// Why a file could not be read.
enum ReadFailure {
    Io(io::Error),
    Content(String),
}

impl From<io::Error> for ReadFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn check_header(line: &[u8], expected: &StoreHeader) -> Result<(), ReadFailure> {
    let problem = match serde_json::from_slice::<StoreHeader>(line) {
        Ok(found) if found == *expected => return Ok(()),
        Ok(found) if found.haft_scatter != FORMAT => "another version of haft wrote it",
        Ok(_) => "it belongs to other stages or another variable",
        Err(_) => "it is not a file of records",
    };
    Err(ReadFailure::Content(problem.to_owned()))
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &std::path::Path, identity: &str) -> Result<RecordStore, String> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        RecordStore::open(file.expect("a file"), &[identity.as_bytes()])
    }

    fn record(index: u64) -> ItemRecord {
        ItemRecord { status: 0, stdout: vec![b'x'; 9000].into(), ..ItemRecord::not_run(index, "") }
    }

    #[test]
    fn records_are_found_again_and_a_torn_line_is_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("records");
        let mut store = open(&path, "stages").expect("a new file");
        for index in [0, 2] {
            store.add(&record(index), b"item").expect("added");
        }
        store.flush().expect("written");
        drop(store);
        File::options().append(true).open(&path).expect("open").write_all(b"{\"index\":1,").expect("written");
        let mut store = open(&path, "stages").expect("the file again");
        assert_eq!(store.count(), 2);
        assert_eq!(store.find(1, b"item"), Ok(None));
        assert_eq!(store.find(2, b"item").expect("read").expect("a record").stdout, record(2).stdout);
        assert!(store.find(2, b"other").expect_err("another item").starts_with("it belongs to other items"));
        store.add(&record(1), b"item").expect("added");
        store.flush().expect("written");
        drop(store);
        assert_eq!(open(&path, "stages").expect("the file again").count(), 3);
    }

    #[test]
    fn a_file_of_another_fan_out_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("records");
        let first = open(&path, "stages").expect("a new file");
        assert_eq!(open(&path, "stages").expect_err("locked"), "another scatter uses it");
        drop(first);
        let problem = open(&path, "other").expect_err("another fan-out");
        assert_eq!(problem, "it belongs to other stages or another variable");
        std::fs::write(&path, "text\n").expect("written");
        assert_eq!(open(&path, "stages").expect_err("text"), "it is not a file of records");
        assert_eq!(std::fs::read(&path).expect("kept"), b"text\n");
    }
}
