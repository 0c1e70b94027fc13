//! Files that would be trusted.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use haft_config::trust::{ContentHash, Standing, Trust};
use haft_process::reason;
use serde::Serialize;

use crate::failure::Failure;

/// More files than this are no project of anybody's making.
const MOST: usize = 10_000;

/// A file that would be trusted.
#[derive(Debug, Serialize)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) hash: ContentHash,
    pub(super) size: u64,
    pub(super) standing: Standing,
}

/// What a file is to haft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Tool,
    Configuration,
    Script,
    File,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Configuration => "configuration",
            Kind::Script => "script",
            Kind::File => "file",
        }
    }

    fn of(path: &Path, mode: u32) -> Kind {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match mode & 0o111 != 0 {
            true if name.ends_with("-tool") => Kind::Tool,
            _ if name.ends_with(".toml") => Kind::Configuration,
            true => Kind::Script,
            false => Kind::File,
        }
    }
}

/// Adds a file, or every file below a directory, in the order of names.
pub(super) fn collect(path: &Path, trust: &Trust, found: &mut Vec<Candidate>) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| Failure {
        message: format!("cannot read '{}': {}", path.display(), reason(error)),
        hint: None,
        status: 1,
    };
    let metadata = path.metadata().map_err(|error| failed(&error))?;
    if metadata.is_dir() {
        let entries = path.read_dir().map_err(|error| failed(&error))?;
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        names.sort();
        // A link to a directory may lead anywhere, in circles too; what is behind it is trusted where it is.
        let inside = names.iter().filter(|name| !(name.is_symlink() && name.is_dir()));
        return inside.filter(|name| name.exists()).try_for_each(|name| collect(name, trust, found));
    }
    if !metadata.is_file() {
        return Ok(());
    }
    if found.len() == MOST {
        return Err(Failure::usage(format_args!("more than {MOST} files; name those to be trusted")));
    }
    let hash = ContentHash::of_file(path).map_err(|error| failed(&error.into()))?;
    let standing = trust.standing(path, &hash);
    let kind = Kind::of(path, metadata.permissions().mode());
    found.push(Candidate { path: path.to_path_buf(), kind, hash, size: metadata.len(), standing });
    Ok(())
}
