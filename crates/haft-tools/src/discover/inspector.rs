//! Inspects tool files. Hash, trust and schema of each file are determined once.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use haft_config::trust::{ContentHash, TrustStore};
use haft_config::{FileRules, Layer, MAX_PROGRAM_BYTES};

use super::ToolCandidate;
use super::cache::SchemaCache;
use super::schema_probe::{ProbeFailure, SchemaProbe};
use super::sealed_program::{MAX_SEALED_BYTES, SealError, SealedPrograms};
use super::stamp::FileStamp;
use crate::sync::lock;
use crate::tool::{Tool, ToolDescriptor, ToolFile, ToolSource};

/// Number of directories between a tool and the project root: `ROOT/.haft/tools/x-tool`.
const PROJECT_DEPTH: usize = 3;

/// Inspects files and remembers the results. Concurrent requests for the same file share one inspection.
#[derive(Debug)]
pub(crate) struct ToolInspector {
    schema_probe: SchemaProbe,
    trust: TrustStore,
    cache_path: Option<PathBuf>,
    cache: OnceLock<Mutex<SchemaCache>>,
    records: Mutex<HashMap<PathBuf, Arc<FileRecord>>>,
    programs: SealedPrograms,
}

/// The facts about one version of a file.
#[derive(Debug)]
struct FileRecord {
    stamp: FileStamp,
    hash: OnceLock<Result<ContentHash, String>>,
    answer: OnceLock<Result<Tool, ProbeFailure>>,
}

/// The result of inspecting a file.
#[derive(Clone, Debug)]
pub(crate) enum Inspection {
    Accepted(Tool),
    /// A project file that the user has not trusted with this content.
    Untrusted,
    Rejected(String),
}

impl ToolInspector {
    pub(crate) fn new(
        schema_probe: SchemaProbe,
        trust: TrustStore,
        cache_path: Option<PathBuf>,
    ) -> ToolInspector {
        ToolInspector {
            schema_probe,
            trust,
            cache_path,
            cache: OnceLock::new(),
            records: Mutex::default(),
            programs: SealedPrograms::default(),
        }
    }

    /// Inspects a file. A changed file is inspected again. A project file that was never trusted is not read.
    pub(crate) fn inspect(&self, candidate: &ToolCandidate) -> Inspection {
        let path = &candidate.path;
        if let Err(error) = self.rules(candidate.layer, path).check(path) {
            let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
            return Inspection::Rejected(format!("{}{hint}", error.reason()));
        }
        let record = match self.record(path) {
            Ok(record) => record,
            Err(error) => return Inspection::Rejected(format!("cannot inspect it: {error}")),
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
            Err(failure) => Inspection::Rejected(failure.reason.clone()),
        }
    }

    /// The file to execute instead of the tool's path. For a project tool this is a sealed copy of the
    /// trusted content.
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

    /// Rules for a tool file: it belongs to the user or to root, and a project's file is within the project.
    fn rules(&self, layer: Layer, path: &Path) -> FileRules {
        let owners = self.trust.owners();
        match layer {
            Layer::Project => {
                let rules = FileRules::up_to(MAX_SEALED_BYTES).owned_by(&owners);
                let top = path.ancestors().nth(PROJECT_DEPTH);
                top.map_or(rules.clone(), |top| rules.beneath(top))
            }
            _ => FileRules::up_to(MAX_PROGRAM_BYTES).owned_by(&owners),
        }
    }

    /// Probes a file without using or updating the cache.
    pub(crate) fn probe_uncached(&self, candidate: &ToolCandidate) -> Result<Tool, String> {
        let path = &candidate.path;
        let stamp = FileStamp::of(path).map_err(|error| error.to_string())?;
        let file =
            ToolFile { layer: candidate.layer, path: path.clone(), hash: self.hash(candidate)?, stamp };
        let descriptor =
            self.schema_probe.run(path, &candidate.name, None).map_err(|failure| failure.reason)?;
        Ok(Tool::new(descriptor, ToolSource::File(Arc::new(file))))
    }

    /// Forgets failures that may not repeat.
    pub(crate) fn forget_failures(&self) {
        let transient = |record: &Arc<FileRecord>| record.answer.get().is_some_and(|answer| answer.is_err());
        lock(&self.records).retain(|_, record| !transient(record));
    }

    /// Writes the schema cache.
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
            .map_err(|error| format!("cannot read it: {}", error.reason()))
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
            None => self.probe_schema(candidate, hash),
        };
        if known.is_none_or(|entry| entry.stamp != stamp) {
            lock(self.cache()).put(&candidate.path, stamp, hash, &answer);
        }
        let file =
            ToolFile { layer: candidate.layer, path: candidate.path.clone(), hash: hash.clone(), stamp };
        answer.map(|descriptor| Tool::new(descriptor, ToolSource::File(Arc::new(file))))
    }

    fn probe_schema(
        &self,
        candidate: &ToolCandidate,
        hash: &ContentHash,
    ) -> Result<ToolDescriptor, ProbeFailure> {
        let sealed = self.sealed_copy(candidate.layer, &candidate.path, hash);
        let sealed = sealed.map_err(|error| ProbeFailure::transient(error.to_string()))?;
        self.schema_probe.run(&candidate.path, &candidate.name, sealed)
    }

    fn cache(&self) -> &Mutex<SchemaCache> {
        self.cache.get_or_init(|| Mutex::new(SchemaCache::open(self.cache_path.clone())))
    }
}
