//! What is known of each file: its hash, whether it is trusted, and its answer, each found out once.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_config::trust::{ContentHash, Trust};
use haft_config::{FileRules, Layer, MAX_PROGRAM_BYTES};

use super::Candidate;
use super::ask::{Ask, Refusal};
use super::cache::Cache;
use super::sealed::{MAX_SEALED_BYTES, SealError, SealedPrograms};
use super::stamp::Stamp;
use crate::tool::{Descriptor, File, Source, Tool};

/// How many directories the top of a project is above its tools: `TOP/.haft/tools/x-tool`.
const PROJECT_DEPTH: usize = 3;

/// Asks files, and remembers. Whoever wants the same file at the same time waits for the same answer.
#[derive(Debug)]
pub(crate) struct Prober {
    ask: Ask,
    trust: Trust,
    cache_place: Option<PathBuf>,
    cache: OnceLock<Mutex<Cache>>,
    cells: Mutex<HashMap<PathBuf, Arc<Cell>>>,
    programs: SealedPrograms,
}

/// What is known of one file as it was at one moment.
#[derive(Debug)]
struct Cell {
    stamp: Stamp,
    hash: OnceLock<Result<ContentHash, String>>,
    answer: OnceLock<Result<Tool, Refusal>>,
}

/// What a file turned out to be.
#[derive(Clone, Debug)]
pub(crate) enum Probe {
    Accepted(Tool),
    /// A project's, and the user has not trusted its content.
    Untrusted,
    Rejected(String),
}

impl Prober {
    pub(crate) fn new(ask: Ask, trust: Trust, cache_place: Option<PathBuf>) -> Prober {
        Prober {
            ask,
            trust,
            cache_place,
            cache: OnceLock::new(),
            cells: Mutex::default(),
            programs: SealedPrograms::default(),
        }
    }

    /// Finds out what a file is. A file that has changed is looked at again. A project's file that was never trusted is not
    /// even read.
    pub(crate) fn probe(&self, candidate: &Candidate) -> Probe {
        let path = &candidate.path;
        if let Err(error) = self.rules(candidate.layer, path).check(path) {
            let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
            return Probe::Rejected(format!("{}{hint}", error.reason()));
        }
        let cell = match self.cell(path) {
            Ok(cell) => cell,
            Err(error) => return Probe::Rejected(format!("it cannot be looked at: {error}")),
        };
        let trusted = match candidate.layer {
            Layer::Project => match self.trust.trusted_hash(path) {
                Some(hash) => Some(hash),
                None => return Probe::Untrusted,
            },
            _ => None,
        };
        let hash = match cell.hash.get_or_init(|| self.hash(candidate)) {
            Ok(hash) => hash,
            Err(reason) => return Probe::Rejected(reason.clone()),
        };
        if trusted.is_some_and(|trusted| trusted != *hash) {
            return Probe::Untrusted;
        }
        match cell.answer.get_or_init(|| self.answer(candidate, cell.stamp, hash)) {
            Ok(tool) => Probe::Accepted(tool.clone()),
            Err(refusal) => Probe::Rejected(refusal.reason.clone()),
        }
    }

    /// What to execute for a tool in place of the file: of a project's tool a sealed copy with the content that was trusted.
    pub(crate) fn sealed(&self, file: &File) -> Result<Option<Arc<OwnedFd>>, SealError> {
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
    pub(crate) fn ask(&self, candidate: &Candidate) -> Result<Tool, String> {
        let path = &candidate.path;
        let stamp = Stamp::of(path).map_err(|error| error.to_string())?;
        let file = File { layer: candidate.layer, path: path.clone(), hash: self.hash(candidate)?, stamp };
        let descriptor = self.ask.schema(path, &candidate.name, None).map_err(|refusal| refusal.reason)?;
        Ok(Tool::new(descriptor, Source::File(Arc::new(file))))
    }

    /// Forgets answers that may come out otherwise the next time.
    pub(crate) fn forget_refusals(&self) {
        let passing = |cell: &Arc<Cell>| cell.answer.get().is_some_and(|answer| answer.is_err());
        lock(&self.cells).retain(|_, cell| !passing(cell));
    }

    /// Writes the cache.
    pub(crate) fn save(&self) {
        if let Some(cache) = self.cache.get() {
            lock(cache).save();
        }
    }

    fn cell(&self, path: &Path) -> std::io::Result<Arc<Cell>> {
        let stamp = Stamp::of(path)?;
        let mut cells = lock(&self.cells);
        if let Some(cell) = cells.get(path).filter(|cell| cell.stamp == stamp) {
            return Ok(cell.clone());
        }
        let cell = Arc::new(Cell { stamp, hash: OnceLock::new(), answer: OnceLock::new() });
        if let Some(entry) = lock(self.cache()).get(path).filter(|entry| entry.stamp == stamp) {
            let _ = cell.hash.set(Ok(entry.hash.clone()));
        }
        cells.insert(path.to_path_buf(), cell.clone());
        Ok(cell)
    }

    fn hash(&self, candidate: &Candidate) -> Result<ContentHash, String> {
        let rules = self.rules(candidate.layer, &candidate.path);
        ContentHash::of_file_with(&candidate.path, &rules)
            .map_err(|error| format!("it cannot be read: {}", error.reason()))
    }

    fn answer(&self, candidate: &Candidate, stamp: Stamp, hash: &ContentHash) -> Result<Tool, Refusal> {
        let known = lock(self.cache()).get(&candidate.path).filter(|entry| entry.hash == *hash).cloned();
        let answer = match &known {
            Some(entry) => entry.answer(),
            None => self.ask_for_schema(candidate, hash),
        };
        if known.is_none_or(|entry| entry.stamp != stamp) {
            lock(self.cache()).put(&candidate.path, stamp, hash, &answer);
        }
        let file = File { layer: candidate.layer, path: candidate.path.clone(), hash: hash.clone(), stamp };
        answer.map(|descriptor| Tool::new(descriptor, Source::File(Arc::new(file))))
    }

    fn ask_for_schema(&self, candidate: &Candidate, hash: &ContentHash) -> Result<Descriptor, Refusal> {
        let sealed = self.sealed_copy(candidate.layer, &candidate.path, hash);
        let sealed = sealed.map_err(|error| Refusal::passing(error.to_string()))?;
        self.ask.schema(&candidate.path, &candidate.name, sealed)
    }

    fn cache(&self) -> &Mutex<Cache> {
        self.cache.get_or_init(|| Mutex::new(Cache::open(self.cache_place.clone())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
