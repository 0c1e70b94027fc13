//! Finds the files that `haft trust` would trust.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use haft_config::trust::{ContentHash, TrustStatus, TrustStore};
use haft_config::{FileError, FileRules, MAX_PROGRAM_BYTES, PROJECT_DIRECTORY, printable};
use haft_process::reason;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;

const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 32;

/// A file to trust.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct TrustCandidate {
    pub(super) path: PathBuf,
    pub(super) kind: TrustedFileKind,
    pub(super) hash: ContentHash,
    pub(super) size: u64,
    pub(super) standing: TrustStatus,
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrustedFileKind {
    Tool,
    Configuration,
    Script,
    File,
}

impl TrustedFileKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            TrustedFileKind::Tool => "tool",
            TrustedFileKind::Configuration => "configuration",
            TrustedFileKind::Script => "script",
            TrustedFileKind::File => "file",
        }
    }

    fn of(path: &Path, mode: u32) -> TrustedFileKind {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match mode & 0o111 != 0 {
            true if name.ends_with("-tool") => TrustedFileKind::Tool,
            _ if name.ends_with(".toml") => TrustedFileKind::Configuration,
            true => TrustedFileKind::Script,
            false => TrustedFileKind::File,
        }
    }
}

/// The files to trust, and those that cannot be trusted.
#[derive(Debug, Default)]
pub(crate) struct TrustCandidates {
    pub(super) candidates: Vec<TrustCandidate>,
    pub(super) skipped: Vec<SkippedFile>,
}

impl TrustCandidates {
    /// The candidates that are not trusted yet.
    pub(super) fn open(&self) -> Vec<&TrustCandidate> {
        self.candidates.iter().filter(|candidate| candidate.standing != TrustStatus::Trusted).collect()
    }
}

/// A file that cannot be trusted, since haft would not read it.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct SkippedFile {
    pub(super) path: PathBuf,
    pub(super) reason: String,
}

/// Collects candidates.
pub(crate) struct TrustCollector<'t> {
    trust: &'t TrustStore,
    rules: FileRules,
    found: TrustCandidates,
}

impl TrustCollector<'_> {
    /// Adds a file, or every file below a directory in the order of names, to `found`.
    ///
    /// # Errors
    /// If the path does not exist, there are too many files, or a single file cannot be trusted.
    pub(super) fn collect(
        path: &Path,
        trust: &TrustStore,
        found: TrustCandidates,
    ) -> Result<TrustCandidates, Failure> {
        let rules = FileRules::up_to(MAX_PROGRAM_BYTES).owned_by(&trust.owners());
        let project = path.file_name().is_some_and(|name| name == PROJECT_DIRECTORY);
        let rules = match path.parent().filter(|_| project) {
            Some(top) => rules.beneath(top),
            None => rules,
        };
        let mut collector = TrustCollector { trust, rules, found };
        let exists = path.symlink_metadata().map_err(|error| failed(path, &error))?;
        collector.visit(path, 0)?;
        match collector.found.skipped.as_slice() {
            [only] if !exists.is_dir() => Err(refused(only)),
            _ => Ok(collector.found),
        }
    }

    fn visit(&mut self, path: &Path, depth: usize) -> Result<(), Failure> {
        if path.is_dir() {
            if depth == MAX_DEPTH {
                self.skip(path, format!("it is nested more than {MAX_DEPTH} directories deep"));
                return Ok(());
            }
            return self.entries(path)?.iter().try_for_each(|entry| self.visit(entry, depth + 1));
        }
        if self.found.candidates.len() == MAX_FILES {
            return Err(too_many());
        }
        match self.candidate(path) {
            Ok(candidate) => self.found.candidates.push(candidate),
            Err(error) => {
                let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
                self.skip(path, format!("{}{hint}", error.reason()));
            }
        }
        Ok(())
    }

    fn candidate(&self, path: &Path) -> Result<TrustCandidate, FileError> {
        let opened = self.rules.open(path)?;
        let size = opened.metadata.len();
        let hash = ContentHash::of_reading(&opened.file, size, |_| Ok(()));
        let hash = hash.map_err(|error| FileError::from_io(path, error))?;
        let standing = self.trust.status(path, &hash);
        let kind = TrustedFileKind::of(path, opened.metadata.permissions().mode());
        Ok(TrustCandidate { path: path.to_path_buf(), kind, hash, size, standing })
    }

    /// The entries of a directory, by name.
    fn entries(&mut self, path: &Path) -> Result<Vec<PathBuf>, Failure> {
        let entries = match path.read_dir() {
            Ok(entries) => entries,
            Err(error) => {
                self.skip(path, reason(&error));
                return Ok(Vec::new());
            }
        };
        let mut names: Vec<PathBuf> =
            entries.flatten().take(MAX_FILES + 1).map(|entry| entry.path()).collect();
        if names.len() > MAX_FILES {
            return Err(too_many());
        }
        names.sort();
        // A link to a directory can form a cycle. Its files are trusted by their own path.
        names.retain(|name| !(name.is_symlink() && name.is_dir()));
        Ok(names)
    }

    fn skip(&mut self, path: &Path, reason: String) {
        self.found.skipped.push(SkippedFile { path: path.to_path_buf(), reason });
    }
}

fn too_many() -> Failure {
    Failure::usage(format_args!("more than {MAX_FILES} files; name the files to trust"))
}

fn refused(skipped: &SkippedFile) -> Failure {
    let message = format!("cannot trust '{}': {}", printable(&skipped.path), skipped.reason);
    Failure { message, hint: None, status: 1 }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot read '{}': {}", printable(path), reason(error));
    Failure { message, hint: None, status: 1 }
}
