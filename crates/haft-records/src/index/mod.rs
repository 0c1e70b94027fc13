//! The index of a journal file: one fixed-size entry per run and per stage, and the texts to search.
//!
//! Readers build it from the journal, and bring it up to date when the journal has grown. It can be deleted at any time.

mod build;
mod codec;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use crate::chain::ChainHash;
use crate::files::{JournalFile, index_path};

pub(crate) use build::line_type;

/// The index is written again when the journal has grown by this many bytes.
const SAVE_BYTES: u64 = 256 << 10;

/// The number of a string that does not exist.
pub(crate) const NO_STRING: u32 = u32::MAX;

/// A run in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunEntry {
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) duration_us: u64,
    pub(crate) cpu_us: u64,
    pub(crate) bytes: u64,
    pub(crate) max_rss: u64,
    /// Where its first record is in the journal.
    pub(crate) start_at: u64,
    /// Where its last record is; 0 if the run has not ended.
    pub(crate) end_at: u64,
    pub(crate) id: TextSpan,
    pub(crate) text: TextSpan,
    pub(crate) session: u32,
    pub(crate) agent: u32,
    /// The tool that was called.
    pub(crate) tool: u32,
    pub(crate) stages: u32,
    pub(crate) code: i32,
    pub(crate) kind: u32,
}

/// A part of a text section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextSpan {
    pub(crate) at: u32,
    pub(crate) length: u32,
}

/// A stage in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StageEntry {
    /// The number of its run.
    pub(crate) run: u32,
    pub(crate) program: u32,
    pub(crate) code: i32,
    pub(crate) wall_us: u64,
    pub(crate) cpu_us: u64,
    pub(crate) bytes: u64,
}

/// The index of a journal file.
#[derive(Clone, Debug, Default)]
pub(crate) struct JournalIndex {
    pub(crate) runs: Vec<RunEntry>,
    pub(crate) stages: Vec<StageEntry>,
    /// The ids of the runs.
    ids: Vec<u8>,
    /// The texts of the runs, each with a newline after it, in the order of `runs`.
    pub(crate) texts: Vec<u8>,
    strings: Vec<String>,
    covered: Covered,
    /// Runs that have not ended, by id. Built when it is needed.
    open: Option<HashMap<Vec<u8>, u32>>,
}

/// The part of the journal that an index covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Covered {
    /// Its length.
    bytes: u64,
    /// Where its last line starts, and the hash of that line.
    last_line: u64,
    last_hash: ChainHash,
}

impl JournalIndex {
    /// Loads the index of a journal file, and brings it up to date.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn load(journal: &JournalFile) -> io::Result<JournalIndex> {
        let file = File::open(&journal.path)?;
        let path = index_path(&journal.path);
        let saved = std::fs::read(&path).ok().and_then(|bytes| JournalIndex::decode(&bytes));
        let mut index = saved.filter(|index| index.covered.fits(&file)).unwrap_or_default();
        let before = index.covered.bytes;
        index.read_rest(&file)?;
        if index.covered.bytes >= before + SAVE_BYTES {
            // Without the index the next reader does the same work again.
            let _ = save(&path, &index.encode());
        }
        Ok(index)
    }

    /// The id of a run.
    pub(crate) fn id(&self, run: &RunEntry) -> &str {
        std::str::from_utf8(run.id.of(&self.ids)).unwrap_or_default()
    }

    /// The text of a run.
    pub(crate) fn text(&self, run: &RunEntry) -> &str {
        std::str::from_utf8(run.text.of(&self.texts)).unwrap_or_default()
    }

    /// A string by its number.
    pub(crate) fn string(&self, number: u32) -> Option<&str> {
        self.strings.get(number as usize).map(String::as_str)
    }

    /// The number of a string, if the index has it.
    pub(crate) fn find_string(&self, text: &str) -> Option<u32> {
        let number = self.strings.iter().position(|known| known == text)?;
        u32::try_from(number).ok()
    }

    /// All strings, by number.
    pub(crate) fn strings(&self) -> &[String] {
        &self.strings
    }
}

impl TextSpan {
    fn of(self, texts: &[u8]) -> &[u8] {
        let (at, length) = (self.at as usize, self.length as usize);
        texts.get(at..at.saturating_add(length)).unwrap_or_default()
    }

    /// The position after it.
    pub(crate) fn end(self) -> usize {
        self.at as usize + self.length as usize
    }
}

impl Covered {
    /// Whether the journal still begins with the part that the index covers.
    fn fits(&self, journal: &File) -> bool {
        let Some(length) = self.bytes.checked_sub(self.last_line + 1) else { return self.bytes == 0 };
        let mut line = vec![0; usize::try_from(length).unwrap_or(0)];
        journal.read_exact_at(&mut line, self.last_line).is_ok() && ChainHash::of(&line) == self.last_hash
    }
}

/// Replaces a file atomically.
fn save(path: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(std::path::Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
