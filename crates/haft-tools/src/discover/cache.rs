//! Answers kept between runs, by path, size, times and content hash.
//!
//! The file is replaced as a whole. Two processes that write at the same time lose one another's news, which costs asking
//! again; a file that cannot be read or written costs the same.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use haft_config::trust::ContentHash;
use haft_config::{FileRules, MAX_STATE_BYTES, Owners};
use serde::{Deserialize, Serialize};

use super::schema_probe::ProbeFailure;
use super::stamp::FileStamp;
use crate::tool::ToolDescriptor;

/// Raised whenever what is kept, or how it is judged, changes.
const VERSION: u32 = 1;

/// The cache, in memory.
#[derive(Debug, Default)]
pub(super) struct SchemaCache {
    place: Option<PathBuf>,
    entries: BTreeMap<PathBuf, CacheEntry>,
    changed: bool,
}

/// An answer, and what it was the answer of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CacheEntry {
    pub(super) stamp: FileStamp,
    pub(super) hash: ContentHash,
    #[serde(flatten)]
    answer: CachedAnswer,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CachedAnswer {
    Schema(Box<ToolDescriptor>),
    Refused(String),
}

#[derive(Serialize, Deserialize)]
struct CacheFile {
    version: u32,
    tools: BTreeMap<PathBuf, CacheEntry>,
}

impl CacheEntry {
    pub(super) fn answer(&self) -> Result<ToolDescriptor, ProbeFailure> {
        match &self.answer {
            CachedAnswer::Schema(descriptor) => Ok((**descriptor).clone()),
            CachedAnswer::Refused(reason) => Err(ProbeFailure::lasting(reason.clone())),
        }
    }
}

impl SchemaCache {
    pub(super) fn open(place: Option<PathBuf>) -> SchemaCache {
        let rules = FileRules::up_to(MAX_STATE_BYTES).owned_by(&Owners::of_process());
        let bytes = place.as_ref().and_then(|place| rules.read(place).ok()).unwrap_or_default();
        let content: Option<CacheFile> = serde_json::from_slice(&bytes).ok();
        let entries = content.filter(|content| content.version == VERSION).map(|content| content.tools);
        SchemaCache { place, entries: entries.unwrap_or_default(), changed: false }
    }

    pub(super) fn get(&self, path: &Path) -> Option<&CacheEntry> {
        self.entries.get(path)
    }

    pub(super) fn put(
        &mut self,
        path: &Path,
        stamp: FileStamp,
        hash: &ContentHash,
        answer: &Result<ToolDescriptor, ProbeFailure>,
    ) {
        let answer = match answer {
            Ok(descriptor) => CachedAnswer::Schema(Box::new(descriptor.clone())),
            Err(refusal) if refusal.lasting => CachedAnswer::Refused(refusal.reason.clone()),
            Err(_) => return,
        };
        self.entries.insert(path.to_path_buf(), CacheEntry { stamp, hash: hash.clone(), answer });
        self.changed = true;
    }

    /// Forgets files that are gone, and writes what has changed.
    pub(super) fn save(&mut self) {
        let Some(place) = self.place.clone().filter(|_| self.changed) else { return };
        self.entries.retain(|path, _| path.exists());
        let content = CacheFile { version: VERSION, tools: std::mem::take(&mut self.entries) };
        self.changed = write(&place, &content).is_err();
        self.entries = content.tools;
    }
}

fn write(place: &Path, content: &CacheFile) -> std::io::Result<()> {
    let directory = place.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    let mut file = tempfile::Builder::new().prefix("tools.").tempfile_in(directory)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    file.persist(place)?;
    Ok(())
}
