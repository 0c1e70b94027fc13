//! Verifying the chain of hashes.

use std::fs::File;
use std::io;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::chain::{ChainHash, previous_hash};
use crate::files::{JournalFile, head_path};
use crate::locked_file::read_head;
use crate::record::{Gap, JournalHeader, JournalRecord};
use crate::store::{RecordStore, in_parallel};

/// How often, and how long apart, a missing head is looked for.
const MAX_HEAD_ATTEMPTS: usize = 50;
const HEAD_INTERVAL: Duration = Duration::from_millis(2);

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verification {
    /// The number of journal files.
    pub files: usize,
    /// The number of records.
    pub records: u64,
    /// The number of records that could not be written, for example on a full disk, according to the journals themselves.
    pub lost: u64,
    /// Lines that were removed, changed, moved or cut.
    pub problems: Vec<ChainProblem>,
}

/// A place where a journal is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChainProblem {
    /// The name of the file.
    pub file: String,
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The problem.
    pub problem: String,
}

impl RecordStore {
    /// Checks that no line of a journal was removed, changed, moved or cut.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn verify(&self) -> io::Result<Verification> {
        let mut all = Verification::default();
        for result in in_parallel(&self.files()?, verify_file) {
            let one = match result {
                // It was pruned meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                result => result?,
            };
            all.files += 1;
            all.records += one.records;
            all.lost += one.lost;
            all.problems.extend(one.problems);
        }
        Ok(all)
    }
}

/// The verification of one file.
struct FileCheck {
    name: String,
    found: Verification,
    /// The hash of the last valid line.
    last: ChainHash,
    /// The number of the current line.
    line: u64,
    /// A line that is not complete. A gap must follow it.
    broken: Option<u64>,
    /// The last hash according to the head file.
    head: Option<ChainHash>,
    is_head_found: bool,
}

fn verify_file(journal: &JournalFile) -> io::Result<Verification> {
    // The head is read first, because a writer may go on meanwhile.
    let head = find_head(journal)?;
    let bytes = std::fs::read(&journal.path)?;
    let mut check = FileCheck {
        name: journal.name(),
        found: Verification::default(),
        last: ChainHash::default(),
        line: 0,
        broken: None,
        head,
        is_head_found: false,
    };
    let mut start = 0;
    for newline in memchr::memchr_iter(b'\n', &bytes) {
        check.line += 1;
        check.add_line(&bytes[start..newline]);
        start = newline + 1;
    }
    check.finish(bytes.len() > start);
    Ok(check.found)
}

/// The last hash according to the head file. A file that is being created has no head yet, and one that is being pruned has
/// none any more, so a missing one is looked for again.
fn find_head(journal: &JournalFile) -> io::Result<Option<ChainHash>> {
    for _ in 0..MAX_HEAD_ATTEMPTS {
        let head = File::open(head_path(&journal.path)).ok().and_then(|file| read_head(&file));
        if let Some((_, hash)) = head {
            return Ok(Some(hash));
        }
        // Fails if the journal was pruned.
        journal.path.metadata()?;
        std::thread::sleep(HEAD_INTERVAL);
    }
    Ok(None)
}

impl FileCheck {
    fn add_line(&mut self, line: &[u8]) {
        let Some(previous) = previous_hash(line) else {
            self.broken.get_or_insert(self.line);
            return;
        };
        let hash = ChainHash::of(line);
        if previous != self.last {
            self.problem(self.line, "the line before it was changed, removed or moved");
        }
        match self.broken.take() {
            // The writer was interrupted, and its successor has noted the loss.
            Some(_) if is_gap(line) => {}
            Some(broken) => self.problem(broken, "the line is damaged"),
            None => {}
        }
        if self.line == 1 {
            self.check_header(line);
        }
        self.found.lost += gap(line).map_or(0, |gap| gap.lost);
        self.found.records += 1;
        self.is_head_found |= self.head == Some(hash);
        self.last = hash;
    }

    fn check_header(&mut self, line: &[u8]) {
        match serde_json::from_slice(line) {
            Ok(JournalRecord::Header(JournalHeader { file, .. })) if file == self.name => {}
            Ok(JournalRecord::Header(_)) => self.problem(1, "the file was renamed"),
            _ => self.problem(1, "the first line was removed"),
        }
    }

    /// Checks the end of the file. The last line may be incomplete if its writer was killed, or is still writing it.
    fn finish(&mut self, ends_within_line: bool) {
        if let Some(broken) = self.broken {
            self.problem(broken, "the line is damaged");
        }
        match self.head {
            Some(_) if self.is_head_found => {}
            Some(_) => self.problem(self.line + 1, "lines were changed or cut off the end"),
            None if self.line > 0 || ends_within_line => {
                self.problem(self.line, "the file with the last hash is missing");
            }
            None => {}
        }
    }

    fn problem(&mut self, line: u64, problem: &str) {
        let (file, problem) = (self.name.clone(), problem.to_owned());
        self.found.problems.push(ChainProblem { file, line, problem });
    }
}

fn is_gap(line: &[u8]) -> bool {
    crate::index::line_type(line) == Some(b"gap")
}

fn gap(line: &[u8]) -> Option<Gap> {
    match is_gap(line).then(|| serde_json::from_slice(line))? {
        Ok(JournalRecord::Gap(gap)) => Some(gap),
        _ => None,
    }
}
