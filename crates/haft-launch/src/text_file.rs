//! Files that texts are made of.

use std::path::{Path, PathBuf};

use haft_config::trust::ContentHash;
use haft_config::{
    FileError, FileErrorKind, FileRules, Layer, MAX_TEXT_BYTES, PROJECT_DIRECTORY, is_pipe, printable_text,
};

use crate::host_facts::HostFacts;
use crate::text_source::TextSource;

/// A file that a text source refers to.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    /// Its name in texts: relative to the working directory if it is below it.
    pub(crate) shown: String,
    /// Its content, or the reason why it cannot be read.
    pub(crate) contents: Result<Vec<u8>, String>,
    absent: bool,
}

impl FileText {
    /// Returns true if the file does not exist.
    pub(crate) fn is_absent(&self) -> bool {
        self.absent
    }
}

/// Reads the file of a text source if the text uses its content.
pub(crate) fn read(file: &str, source: &TextSource, facts: &HostFacts) -> FileText {
    let path = locate(file, source.layer(), facts);
    let inner = path.strip_prefix(&facts.working_directory).unwrap_or(&path);
    let shown = inner.display().to_string();
    if !source.needs_file() {
        let absent = !path.exists();
        return FileText { shown, contents: Ok(Vec::new()), absent };
    }
    let read = rules(file, &path, source, facts).read(&path);
    let absent = read.as_ref().is_err_and(|error| error.kind() == FileErrorKind::NotFound);
    let named = printable_text(&shown);
    let contents = match read {
        Ok(bytes) if !is_trusted(&path, &bytes, facts) => {
            Err(format!("'{named}' is not trusted; run `haft trust` to trust it"))
        }
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(format!("'{named}' cannot be read: {}{}", error.reason(), hint(&error))),
    };
    FileText { shown, contents, absent }
}

fn hint(error: &FileError) -> String {
    error.hint().map_or(String::new(), |hint| format!(" ({hint})"))
}

/// The rules for a file depend on its origin. A file that the user names may belong to any user. A file that
/// is found by searching upward or that a project names must belong to the user, and if its path is within
/// the project, the file must be too.
fn rules(file: &str, path: &Path, source: &TextSource, facts: &HostFacts) -> FileRules {
    let rules = FileRules::up_to(MAX_TEXT_BYTES);
    let named_by_user = source.layer() == Layer::User && (source.location().is_none() || is_anchored(file));
    if named_by_user {
        return rules.or_pipe();
    }
    let rules = rules.owned_by(&facts.trust.owners());
    let confined = source.layer() == Layer::Embedded
        || (source.layer() == Layer::Project && is_plainly_within(path, facts.root()));
    if confined { rules.beneath(facts.root()) } else { rules }
}

/// Returns true if the path is absolute or starts at home, so it means the same file from every working
/// directory.
fn is_anchored(file: &str) -> bool {
    file.starts_with('/') || file.starts_with("~/")
}

/// Returns true if the path is lexically within the directory.
pub(crate) fn is_plainly_within(path: &Path, directory: &Path) -> bool {
    path.strip_prefix(directory)
        .is_ok_and(|inner| inner.components().all(|part| matches!(part, std::path::Component::Normal(_))))
}

/// Returns true if the bytes may go into a prompt. Files below a project's `.haft` must be trusted with this
/// content. The bytes that are checked are the bytes that are used.
fn is_trusted(path: &Path, bytes: &[u8], facts: &HostFacts) -> bool {
    let Some(project) = facts.project.as_ref().filter(|_| !is_pipe(path)) else { return true };
    let Ok(real) = path.canonicalize() else { return false };
    let directory = project.join(PROJECT_DIRECTORY);
    let directories = [directory.canonicalize().unwrap_or_else(|_| directory.clone()), directory];
    let names = [path, &real];
    let inside = names.iter().any(|name| directories.iter().any(|above| name.starts_with(above)));
    let hash = ContentHash::of(bytes);
    !inside || names.iter().any(|name| facts.trust.is_trusted(name, &hash))
}

/// Resolves a path. Paths of a project are relative to its root. Other relative paths are searched from the
/// working directory upward to the project root.
pub(crate) fn locate(file: &str, layer: Layer, facts: &HostFacts) -> PathBuf {
    let path = match (file.strip_prefix("~/"), &facts.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(file),
    };
    if path.is_absolute() {
        return path;
    }
    let root = facts.root();
    if layer == Layer::Project {
        return root.join(path);
    }
    let above = facts.working_directory.ancestors().take_while(|above| above.starts_with(root));
    let found = above.map(|above| above.join(&path)).find(|location| location.exists());
    found.unwrap_or_else(|| facts.working_directory.join(&path))
}
