//! Building an index from the lines of a journal.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use serde::de::DeserializeOwned;

use super::{JournalIndex, NO_STRING, RunEntry, StageEntry, TextSpan};
use crate::chain::{ChainHash, HASH_DIGITS};
use crate::record::{RunEnd, RunStart, StageEnd};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;
/// The most characters of a program's name.
const MAX_PROGRAM_CHARACTERS: usize = 40;

/// The type of a line, which follows the hash.
pub(crate) fn line_type(line: &[u8]) -> Option<&[u8]> {
    let rest = line.get(HASH_DIGITS + br#"{"prev":"""#.len()..)?.strip_prefix(br#","type":""#)?;
    rest.split(|byte| *byte == b'"').next()
}

impl JournalIndex {
    /// Adds all complete lines of the journal that are not covered yet.
    pub(super) fn read_rest(&mut self, mut journal: &File) -> io::Result<()> {
        journal.seek(SeekFrom::Start(self.covered.bytes))?;
        let mut pending = Vec::new();
        loop {
            let before = pending.len();
            pending.resize(before + CHUNK_BYTES, 0);
            let count = journal.read(&mut pending[before..])?;
            pending.truncate(before + count);
            if count == 0 {
                return Ok(());
            }
            let Some(end) = memchr::memrchr(b'\n', &pending) else { continue };
            let mut start = 0;
            for newline in memchr::memchr_iter(b'\n', &pending[..=end]) {
                self.add_line(&pending[start..newline]);
                start = newline + 1;
            }
            pending.drain(..=end);
        }
    }

    fn add_line(&mut self, line: &[u8]) {
        let at = self.covered.bytes;
        match line_type(line) {
            Some(b"start") => parse(line).into_iter().for_each(|start| self.add_start(&start, at)),
            Some(b"stage") => parse(line).into_iter().for_each(|stage| self.add_stage(&stage)),
            Some(b"end") => parse(line).into_iter().for_each(|end| self.add_end(&end, at)),
            _ => {}
        }
        self.covered.bytes += line.len() as u64 + 1;
        (self.covered.last_line, self.covered.last_hash) = (at, ChainHash::of(line));
    }

    fn add_start(&mut self, start: &RunStart, at: u64) {
        let Ok(number) = u32::try_from(self.runs.len()) else { return };
        let agent = start.agent.as_deref().or(start.client.as_ref().map(|client| client.name.as_str()));
        let entry = RunEntry {
            time: start.time,
            start_at: at,
            id: add_text(&mut self.ids, &start.run),
            text: add_text(&mut self.texts, &start.text()),
            session: self.intern(Some(&start.session)),
            agent: self.intern(agent),
            tool: self.intern(start.tool.as_deref()),
            kind: start.kind as u32,
            ..RunEntry::default()
        };
        self.texts.push(b'\n');
        self.open().insert(start.run.clone().into_bytes(), number);
        self.runs.push(entry);
    }

    fn add_stage(&mut self, stage: &StageEnd) {
        let Some(run) = self.open().get(stage.run.as_bytes()).copied() else { return };
        let program = self.intern(Some(&program_name(stage)));
        self.stages.push(StageEntry {
            run,
            program,
            code: stage.code,
            wall_us: microseconds(stage.wall),
            cpu_us: microseconds(stage.cpu.unwrap_or(0.0)),
            bytes: stage.bytes_out.unwrap_or(0),
        });
        self.runs[run as usize].stages += 1;
    }

    fn add_end(&mut self, end: &RunEnd, at: u64) {
        let Some(run) = self.open().remove(end.run.as_bytes()) else { return };
        let entry = &mut self.runs[run as usize];
        entry.end_at = at;
        entry.code = end.code;
        entry.duration_us = microseconds(end.duration);
        entry.cpu_us = microseconds(end.cpu);
        entry.max_rss = end.max_rss;
        entry.bytes = end.outputs.iter().map(|output| output.bytes).sum();
        // A call of a tool has no stages; the tool counts as its program.
        if entry.stages == 0 && entry.tool != NO_STRING {
            self.stages.push(StageEntry {
                run,
                program: entry.tool,
                code: entry.code,
                wall_us: entry.duration_us,
                cpu_us: entry.cpu_us,
                bytes: entry.bytes,
            });
        }
    }

    /// The runs that have not ended, by id.
    fn open(&mut self) -> &mut HashMap<Vec<u8>, u32> {
        let (runs, ids) = (&self.runs, &self.ids);
        self.open.get_or_insert_with(|| {
            let open = (0..).zip(runs).filter(|(_, run)| run.end_at == 0);
            open.map(|(number, run)| (run.id.of(ids).to_vec(), number)).collect()
        })
    }

    /// The number of a string, which is added if necessary.
    fn intern(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return NO_STRING };
        // Strings are separated by null bytes in the file.
        let text = &text.replace('\0', "\u{fffd}");
        if let Some(known) = self.find_string(text) {
            return known;
        }
        self.strings.push(text.to_owned());
        u32::try_from(self.strings.len() - 1).unwrap_or(NO_STRING)
    }
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    serde_json::from_slice(line).ok()
}

fn add_text(texts: &mut Vec<u8>, text: &str) -> TextSpan {
    let range = TextSpan {
        at: u32::try_from(texts.len()).unwrap_or(u32::MAX),
        length: u32::try_from(text.len()).unwrap_or(u32::MAX),
    };
    texts.extend_from_slice(text.as_bytes());
    range
}

/// The name of a stage's program, without its directory; the kind in parentheses if it is not a simple command.
fn program_name(stage: &StageEnd) -> String {
    match (stage.kind.as_str(), stage.argv.first()) {
        ("compound" | "unexpanded" | "assignment", _) | (_, None) => format!("({})", stage.kind),
        (_, Some(program)) => {
            let name = program.rsplit('/').next().unwrap_or_default();
            name.chars().take(MAX_PROGRAM_CHARACTERS).collect()
        }
    }
}

fn microseconds(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}
