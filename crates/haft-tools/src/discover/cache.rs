//! Cache of schemas, by path, file stamp and content hash.
//!
//! The file is replaced atomically. If two processes write at the same time, one loses its new entries and
//! probes again later. A cache that cannot be read or written has the same effect.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use haft_config::trust::ContentHash;
use haft_config::{FileRules, MAX_STATE_BYTES, Owners};
use serde::{Deserialize, Serialize};

use super::schema_probe::ProbeFailure;
use super::stamp::FileStamp;
use crate::tool::ToolDescriptor;

/// Incremented whenever the content or its validation changes.
const CACHE_VERSION: u32 = 1;

/// The cache in memory.
#[derive(Debug, Default)]
pub(super) struct SchemaCache {
    file_path: Option<PathBuf>,
    entries: BTreeMap<PathBuf, CacheEntry>,
    changed: bool,
}

/// A cached schema or rejection.
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
            CachedAnswer::Refused(reason) => Err(ProbeFailure::permanent(reason.clone())),
        }
    }
}

impl SchemaCache {
    pub(super) fn open(file_path: Option<PathBuf>) -> SchemaCache {
        let rules = FileRules::up_to(MAX_STATE_BYTES).owned_by(&Owners::of_process());
        let bytes = file_path.as_ref().and_then(|file_path| rules.read(file_path).ok()).unwrap_or_default();
        let content: Option<CacheFile> = serde_json::from_slice(&bytes).ok();
        let entries = content.filter(|content| content.version == CACHE_VERSION).map(|content| content.tools);
        SchemaCache { file_path, entries: entries.unwrap_or_default(), changed: false }
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
            Err(failure) if failure.permanent => CachedAnswer::Refused(failure.reason.clone()),
            Err(_) => return,
        };
        self.entries.insert(path.to_path_buf(), CacheEntry { stamp, hash: hash.clone(), answer });
        self.changed = true;
    }

    /// Drops missing files and writes the cache if it has changed.
    pub(super) fn save(&mut self) {
        let Some(file_path) = self.file_path.clone().filter(|_| self.changed) else { return };
        self.entries.retain(|path, _| path.exists());
        let content = CacheFile { version: CACHE_VERSION, tools: std::mem::take(&mut self.entries) };
        self.changed = write(&file_path, &content).is_err();
        self.entries = content.tools;
    }
}

fn write(file_path: &Path, content: &CacheFile) -> std::io::Result<()> {
    let directory = file_path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    let mut file = tempfile::Builder::new().prefix("tools.").tempfile_in(directory)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    file.persist(file_path)?;
    Ok(())
}
