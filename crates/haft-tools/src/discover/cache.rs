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

use super::ask::Refusal;
use super::stamp::Stamp;
use crate::tool::Descriptor;

/// Raised whenever what is kept, or how it is judged, changes.
const VERSION: u32 = 1;

/// The cache, in memory.
#[derive(Debug, Default)]
pub(super) struct Cache {
    place: Option<PathBuf>,
    entries: BTreeMap<PathBuf, Entry>,
    changed: bool,
}

/// An answer, and what it was the answer of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) stamp: Stamp,
    pub(super) hash: ContentHash,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Schema(Box<Descriptor>),
    Refused(String),
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    tools: BTreeMap<PathBuf, Entry>,
}

impl Entry {
    pub(super) fn answer(&self) -> Result<Descriptor, Refusal> {
        match &self.answer {
            Answer::Schema(descriptor) => Ok((**descriptor).clone()),
            Answer::Refused(reason) => Err(Refusal::lasting(reason.clone())),
        }
    }
}

impl Cache {
    pub(super) fn open(place: Option<PathBuf>) -> Cache {
        let rules = FileRules::up_to(MAX_STATE_BYTES).owned_by(&Owners::of_process());
        let bytes = place.as_ref().and_then(|place| rules.read(place).ok()).unwrap_or_default();
        let content: Option<Content> = serde_json::from_slice(&bytes).ok();
        let entries = content.filter(|content| content.version == VERSION).map(|content| content.tools);
        Cache { place, entries: entries.unwrap_or_default(), changed: false }
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    pub(super) fn put(
        &mut self,
        path: &Path,
        stamp: Stamp,
        hash: &ContentHash,
        answer: &Result<Descriptor, Refusal>,
    ) {
        let answer = match answer {
            Ok(descriptor) => Answer::Schema(Box::new(descriptor.clone())),
            Err(refusal) if refusal.lasting => Answer::Refused(refusal.reason.clone()),
            Err(_) => return,
        };
        self.entries.insert(path.to_path_buf(), Entry { stamp, hash: hash.clone(), answer });
        self.changed = true;
    }

    /// Forgets files that are gone, and writes what has changed.
    pub(super) fn save(&mut self) {
        let Some(place) = self.place.clone().filter(|_| self.changed) else { return };
        self.entries.retain(|path, _| path.exists());
        let content = Content { version: VERSION, tools: std::mem::take(&mut self.entries) };
        self.changed = write(&place, &content).is_err();
        self.entries = content.tools;
    }
}

fn write(place: &Path, content: &Content) -> std::io::Result<()> {
    let directory = place.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory)?;
    let mut file = tempfile::Builder::new().prefix("tools.").tempfile_in(directory)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    file.persist(place)?;
    Ok(())
}
