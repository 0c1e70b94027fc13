//! What is known of each file: its hash, whether it is trusted, and its answer, each found out once.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_config::trust::{ContentHash, TrustStore};
use haft_config::{FileRules, Layer, MAX_PROGRAM_BYTES};

use super::ToolCandidate;
use super::cache::SchemaCache;
use super::schema_probe::{ProbeFailure, SchemaProbe};
use super::sealed_program::{MAX_SEALED_BYTES, SealError, SealedPrograms};
use super::stamp::FileStamp;
use crate::tool::{Tool, ToolDescriptor, ToolFile, ToolSource};

/// How many directories the top of a project is above its tools: `TOP/.haft/tools/x-tool`.
const PROJECT_DEPTH: usize = 3;

/// Asks files, and remembers. Whoever wants the same file at the same time waits for the same answer.
#[derive(Debug)]
pub(crate) struct ToolInspector {
    ask: SchemaProbe,
    trust: TrustStore,
    cache_place: Option<PathBuf>,
    cache: OnceLock<Mutex<SchemaCache>>,
    records: Mutex<HashMap<PathBuf, Arc<FileRecord>>>,
    programs: SealedPrograms,
}

/// What is known of one file as it was at one moment.
#[derive(Debug)]
struct FileRecord {
    stamp: FileStamp,
    hash: OnceLock<Result<ContentHash, String>>,
    answer: OnceLock<Result<Tool, ProbeFailure>>,
}

/// What a file turned out to be.
#[derive(Clone, Debug)]
pub(crate) enum Inspection {
    Accepted(Tool),
    /// A project's, and the user has not trusted its content.
    Untrusted,
    Rejected(String),
}

impl ToolInspector {
    pub(crate) fn new(ask: SchemaProbe, trust: TrustStore, cache_place: Option<PathBuf>) -> ToolInspector {
        ToolInspector {
            ask,
            trust,
            cache_place,
            cache: OnceLock::new(),
            records: Mutex::default(),
            programs: SealedPrograms::default(),
        }
    }

    /// Finds out what a file is. A file that has changed is looked at again. A project's file that was never trusted is not
    /// even read.
    pub(crate) fn probe(&self, candidate: &ToolCandidate) -> Inspection {
        let path = &candidate.path;
        if let Err(error) = self.rules(candidate.layer, path).check(path) {
            let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
            return Inspection::Rejected(format!("{}{hint}", error.reason()));
        }
        let record = match self.record(path) {
            Ok(record) => record,
            Err(error) => return Inspection::Rejected(format!("it cannot be looked at: {error}")),
        };
        let trusted = match candidate.layer {
            Layer::Project => match self.trust.trusted_hash(path) {
                Some(hash) => Some(hash),
                None => return Inspection::Untrusted,
            },
            _ => None,
        };
        let hash = match record.hash.get_or_init(|| self.hash(candidate)) {
            Ok(hash) => hash,
            Err(reason) => return Inspection::Rejected(reason.clone()),
        };
        if trusted.is_some_and(|trusted| trusted != *hash) {
            return Inspection::Untrusted;
        }
        match record.answer.get_or_init(|| self.answer(candidate, record.stamp, hash)) {
            Ok(tool) => Inspection::Accepted(tool.clone()),
            Err(refusal) => Inspection::Rejected(refusal.reason.clone()),
        }
    }

    /// What to execute for a tool in place of the file: of a project's tool a sealed copy with the content that was trusted.
    pub(crate) fn sealed(&self, file: &ToolFile) -> Result<Option<Arc<OwnedFd>>, SealError> {
        self.sealed_copy(file.layer, &file.path, &file.hash)
    }

    fn sealed_copy(
        &self,
        layer: Layer,
        path: &Path,
        hash: &ContentHash,
    ) -> Result<Option<Arc<OwnedFd>>, SealError> {
        if layer != Layer::Project {
            return Ok(None);
        }
        self.programs.get(path, hash, &self.rules(layer, path)).map(Some)
    }

    /// What a tool's file has to be. Project files stay within the project; the installation's belong to its owner.
    fn rules(&self, layer: Layer, path: &Path) -> FileRules {
        let owners = self.trust.owners();
        match layer {
            Layer::Project => {
                let rules = FileRules::up_to(MAX_SEALED_BYTES).owned_by(&owners);
                let top = path.ancestors().nth(PROJECT_DEPTH);
                top.map_or(rules.clone(), |top| rules.beneath(top))
            }
            Layer::User => FileRules::up_to(MAX_PROGRAM_BYTES).owned_by(&owners),
            _ => FileRules::up_to(MAX_PROGRAM_BYTES).owned_by(&owners.or_of_program()),
        }
    }

    /// Asks a file, whatever is known of it, and remembers nothing.
    pub(crate) fn ask(&self, candidate: &ToolCandidate) -> Result<Tool, String> {
        let path = &candidate.path;
        let stamp = FileStamp::of(path).map_err(|error| error.to_string())?;
        let file =
            ToolFile { layer: candidate.layer, path: path.clone(), hash: self.hash(candidate)?, stamp };
        let descriptor = self.ask.schema(path, &candidate.name, None).map_err(|refusal| refusal.reason)?;
        Ok(Tool::new(descriptor, ToolSource::File(Arc::new(file))))
    }

    /// Forgets answers that may come out otherwise the next time.
    pub(crate) fn forget_refusals(&self) {
        let passing = |record: &Arc<FileRecord>| record.answer.get().is_some_and(|answer| answer.is_err());
        lock(&self.records).retain(|_, record| !passing(record));
    }

    /// Writes the cache.
    pub(crate) fn save(&self) {
        if let Some(cache) = self.cache.get() {
            lock(cache).save();
        }
    }

    fn record(&self, path: &Path) -> std::io::Result<Arc<FileRecord>> {
        let stamp = FileStamp::of(path)?;
        let mut records = lock(&self.records);
        if let Some(record) = records.get(path).filter(|record| record.stamp == stamp) {
            return Ok(record.clone());
        }
        let record = Arc::new(FileRecord { stamp, hash: OnceLock::new(), answer: OnceLock::new() });
        if let Some(entry) = lock(self.cache()).get(path).filter(|entry| entry.stamp == stamp) {
            let _ = record.hash.set(Ok(entry.hash.clone()));
        }
        records.insert(path.to_path_buf(), record.clone());
        Ok(record)
    }

    fn hash(&self, candidate: &ToolCandidate) -> Result<ContentHash, String> {
        let rules = self.rules(candidate.layer, &candidate.path);
        ContentHash::of_file_with(&candidate.path, &rules)
            .map_err(|error| format!("it cannot be read: {}", error.reason()))
    }

    fn answer(
        &self,
        candidate: &ToolCandidate,
        stamp: FileStamp,
        hash: &ContentHash,
    ) -> Result<Tool, ProbeFailure> {
        let known = lock(self.cache()).get(&candidate.path).filter(|entry| entry.hash == *hash).cloned();
        let answer = match &known {
            Some(entry) => entry.answer(),
            None => self.ask_for_schema(candidate, hash),
        };
        if known.is_none_or(|entry| entry.stamp != stamp) {
            lock(self.cache()).put(&candidate.path, stamp, hash, &answer);
        }
        let file =
            ToolFile { layer: candidate.layer, path: candidate.path.clone(), hash: hash.clone(), stamp };
        answer.map(|descriptor| Tool::new(descriptor, ToolSource::File(Arc::new(file))))
    }

    fn ask_for_schema(
        &self,
        candidate: &ToolCandidate,
        hash: &ContentHash,
    ) -> Result<ToolDescriptor, ProbeFailure> {
        let sealed = self.sealed_copy(candidate.layer, &candidate.path, hash);
        let sealed = sealed.map_err(|error| ProbeFailure::passing(error.to_string()))?;
        self.ask.schema(&candidate.path, &candidate.name, sealed)
    }

    fn cache(&self) -> &Mutex<SchemaCache> {
        self.cache.get_or_init(|| Mutex::new(SchemaCache::open(self.cache_place.clone())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
