//! A journal file that is locked by its writer.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use crate::chain::{ChainHash, HASH_DIGITS, chained_line, previous_hash};
use crate::files::{head_path, open_writable};

/// The length of a number in the head file.
const LENGTH_DIGITS: usize = 20;
/// The length of the head file: a number, a space, a hash, a newline.
const HEAD_BYTES: usize = LENGTH_DIGITS + 1 + HASH_DIGITS + 1;
/// A line is searched this far back from the end of a file.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Bytes that are read at once.
const CHUNK_BYTES: u64 = 64 << 10;
/// How often a file is opened again that was pruned between opening and locking.
const MAX_PRUNED: usize = 16;

/// A journal file with one writer.
#[derive(Debug)]
pub(crate) struct LockedFile {
    file: File,
    head: File,
    /// The hash of the last complete line.
    last: ChainHash,
    length: u64,
    /// Whether the file does not end with a newline.
    lacks_newline: bool,
    /// Whether it ends with a part of a record.
    is_broken: bool,
}

impl LockedFile {
    /// Locks a file and finds its end. Returns `None` if another writer holds it, or if it is full.
    pub(crate) fn claim(path: &Path, max_size: u64) -> io::Result<Option<LockedFile>> {
        for _ in 0..MAX_PRUNED {
            let file = open_writable(path, true)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let data = file.metadata()?;
            if data.nlink() == 0 {
                continue;
            }
            if data.len() >= max_size {
                return Ok(None);
            }
            let head = open_writable(&head_path(path), false)?;
            let end = find_end(&file, &head, data.len())?;
            let (lacks_newline, is_broken) = (end.lacks_newline, end.is_broken);
            let (last, length) = (end.hash, data.len());
            return Ok(Some(LockedFile { file, head, last, length, lacks_newline, is_broken }));
        }
        Ok(None)
    }

    /// Whether the file has no line yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The size of the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Whether the file ends with a part of a record, because its last writer was interrupted.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Writes a record's JSON object as the next line.
    ///
    /// # Errors
    /// If it cannot be written whole. The file ends with the previous line then, if that is possible.
    pub(crate) fn write_line(&mut self, json: &[u8]) -> io::Result<()> {
        let mut bytes = chained_line(self.last, json);
        let hash = ChainHash::of(&bytes);
        bytes.push(b'\n');
        if self.lacks_newline {
            bytes.insert(0, b'\n');
        }
        // Exceeding the limit would kill the process with SIGXFSZ.
        let limit = getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX);
        if self.length + bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let written = write_once(&mut self.file, &bytes)?;
        if written < bytes.len() {
            let removed = self.file.set_len(self.length).is_ok();
            if !removed {
                self.lacks_newline = true;
                self.length += written as u64;
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.length += written as u64;
        (self.last, self.lacks_newline) = (hash, false);
        self.write_head();
        Ok(())
    }

    /// Writes length and last hash. If that fails, the file is longer than the head says, which is valid.
    fn write_head(&self) {
        let mut text = format!("{:0LENGTH_DIGITS$} ", self.length).into_bytes();
        text.extend_from_slice(&self.last.to_hex());
        text.push(b'\n');
        let _ = self.head.write_at(&text, 0);
    }
}

/// Writes with one system call.
fn write_once(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match file.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The length and the last hash in a head file.
pub(crate) fn read_head(head: &File) -> Option<(u64, ChainHash)> {
    let mut text = [0; HEAD_BYTES];
    head.read_exact_at(&mut text, 0).ok()?;
    let length = std::str::from_utf8(&text[..LENGTH_DIGITS]).ok()?.parse().ok()?;
    let hash = ChainHash::from_hex(&text[LENGTH_DIGITS + 1..HEAD_BYTES - 1])?;
    Some((length, hash))
}

/// The end of a journal file.
#[derive(Debug, Default)]
struct JournalEnd {
    /// The hash of the last record.
    hash: ChainHash,
    lacks_newline: bool,
    is_broken: bool,
}

impl JournalEnd {
    /// The end of a file whose last record and whatever follows its newline are these.
    fn new(last: &[u8], rest: &[u8]) -> JournalEnd {
        let hash = if last.is_empty() { ChainHash::default() } else { ChainHash::of(last) };
        let is_record = previous_hash(rest) == Some(hash);
        JournalEnd {
            hash: if is_record { ChainHash::of(rest) } else { hash },
            lacks_newline: !rest.is_empty(),
            is_broken: !rest.is_empty() && !is_record,
        }
    }
}

/// Finds the last record: in the head file if that is up to date, else in the journal.
fn find_end(file: &File, head: &File, size: u64) -> io::Result<JournalEnd> {
    if let Some((length, hash)) = read_head(head)
        && length == size
    {
        return Ok(JournalEnd { hash, ..JournalEnd::default() });
    }
    let mut bytes = Vec::new();
    let mut start = size;
    loop {
        let last = memchr::memrchr(b'\n', &bytes);
        let before = last.and_then(|last| memchr::memrchr(b'\n', &bytes[..last]));
        match (last, before) {
            (Some(last), Some(before)) => {
                return Ok(JournalEnd::new(&bytes[before + 1..last], &bytes[last + 1..]));
            }
            (Some(last), None) if start == 0 => {
                return Ok(JournalEnd::new(&bytes[..last], &bytes[last + 1..]));
            }
            _ if start == 0 || size - start > MAX_LINE_BYTES => return Ok(JournalEnd::new(&[], &bytes)),
            _ => {}
        }
        let chunk = CHUNK_BYTES.min(start);
        start -= chunk;
        let mut more = vec![0; usize::try_from(chunk).unwrap_or(0)];
        file.read_exact_at(&mut more, start)?;
        more.extend_from_slice(&bytes);
        bytes = more;
    }
}
