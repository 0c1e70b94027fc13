//! Outputs that were not shown whole, kept for a while: in memory, and in files that later processes can open.
//!
//! The files are few, small in sum and gone after a day. Where they cannot be written, an output is there as long as the
//! registry.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use haft_config::{FileRules, Owners};
use haft_process::capture::{Limits, Output};

/// So many stay in memory.
const IN_MEMORY: usize = 64;
/// So many bytes of earlier outputs may lie in files when another one is written.
const IN_FILES: u64 = 256 << 20;
/// The largest file that is read.
const LARGEST: u64 = 1 << 30;
/// So long a file is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// So much is copied at once.
const PIECE: usize = 1 << 20;

/// The outputs, by their names.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    directory: Option<PathBuf>,
    memory: Mutex<VecDeque<Output>>,
}

impl Outputs {
    /// Keeps files in a directory, if there is one.
    pub(crate) fn new(directory: Option<PathBuf>) -> Outputs {
        Outputs { directory, memory: Mutex::default() }
    }

    /// Keeps an output; yields the file that it is in, if there is one.
    pub(crate) fn keep(&self, output: &Output) -> Option<PathBuf> {
        let mut memory = self.memory();
        if memory.len() == IN_MEMORY {
            memory.pop_front();
        }
        memory.push_back(output.clone());
        drop(memory);
        let directory = self.directory.as_ref()?;
        make_room(directory);
        write(directory, output).ok()
    }

    /// The output of a name.
    pub(crate) fn get(&self, id: &str) -> Option<Output> {
        let known = self.memory().iter().find(|output| output.id().as_str() == id).cloned();
        known.or_else(|| self.read(id))
    }

    fn read(&self, id: &str) -> Option<Output> {
        let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let path = self.directory.as_ref().filter(|_| plain)?.join(id);
        let rules = FileRules::up_to(LARGEST).owned_by(&Owners::of_process());
        let bytes = rules.read(&path).ok()?;
        let output = Output::new(Limits { head: bytes.len(), tail: 0, spill: 0 }, None);
        output.append(&bytes);
        output.finish();
        Some(output)
    }

    fn memory(&self) -> MutexGuard<'_, VecDeque<Output>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes what is kept of an output to a file of its name. One that cannot be written whole is not there at all.
fn write(directory: &Path, output: &Output) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let path = directory.join(output.id().as_str());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let written = copy(output, &mut file);
    if written.is_err() {
        let _ = std::fs::remove_file(&path);
    }
    written.map(|()| path)
}

fn copy(output: &Output, file: &mut File) -> io::Result<()> {
    let mut cursor = 0;
    loop {
        let growth = output.read_since(cursor, PIECE).map_err(io::Error::other)?;
        if growth.lost > 0 {
            writeln!(file, "\n[{} bytes were not kept]", growth.lost)?;
        }
        if growth.bytes.is_empty() {
            return Ok(());
        }
        file.write_all(&growth.bytes)?;
        cursor = growth.next;
    }
}

/// Removes files that are old, and the oldest while all together are too large.
fn make_room(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    for (modified, size, path) in files {
        let old = modified.elapsed().is_ok_and(|age| age > KEPT);
        if old || total > IN_FILES {
            let _ = std::fs::remove_file(path);
            total -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &[u8]) -> Output {
        let output = Output::new(Limits { head: 4, tail: 4, spill: 0 }, None);
        output.append(text);
        output.finish();
        output
    }

    #[test]
    fn what_is_kept_is_there_for_others_too() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Some(place.path().join("outputs"));
        let (one, two) = (output(b"abc"), output(b"0123456789"));
        let outputs = Outputs::new(directory.clone());
        let path = outputs.keep(&one).expect("a file");
        assert_eq!(std::fs::read(&path).expect("a file"), b"abc");
        outputs.keep(&two);
        let later = Outputs::new(directory);
        let read = |id: &str| later.get(id).map(|output| output.read_since(0, 100).expect("bytes").bytes);
        assert_eq!(read(one.id().as_str()).as_deref(), Some(&b"abc"[..]));
        assert_eq!(read(two.id().as_str()).as_deref(), Some(&b"0123\n[2 bytes were not kept]\n6789"[..]));
        assert_eq!(read("../outputs"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn old_files_go() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("old");
        let file = File::create(&path).expect("a file");
        file.set_modified(SystemTime::now() - KEPT * 2).expect("a time");
        let outputs = Outputs::new(Some(place.path().to_path_buf()));
        let new = outputs.keep(&output(b"x")).expect("a file");
        assert!(!path.exists() && new.exists());
    }

    #[test]
    fn without_a_place_for_files_it_is_in_memory() {
        let outputs = Outputs::default();
        let one = output(b"x");
        assert_eq!(outputs.keep(&one), None);
        assert!(outputs.get(one.id().as_str()).is_some());
    }
}
