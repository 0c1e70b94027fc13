//! The files that texts are made of: where they are, and what is in them.

use std::path::{Path, PathBuf};

use haft_config::trust::ContentHash;
use haft_config::{
    FileError, FileErrorKind, FileRules, Layer, MAX_TEXT_BYTES, PROJECT_DIRECTORY, printable_text,
};

use crate::host_facts::HostFacts;
use crate::text_source::TextSource;

/// A file that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    /// What it is called in a text: from the working directory if it is below that.
    pub(crate) shown: String,
    /// What is in it, or in a few words why that cannot be had.
    pub(crate) contents: Result<Vec<u8>, String>,
    absent: bool,
}

impl FileText {
    /// Whether it is simply not there.
    pub(crate) fn is_absent(&self) -> bool {
        self.absent
    }
}

/// Reads the file of a source, if its text needs it.
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
            Err(format!("\"{named}\" is not trusted; to trust it run `haft trust`"))
        }
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(format!("\"{named}\" cannot be read: {}{}", error.reason(), hint(&error))),
    };
    FileText { shown, contents, absent }
}

fn hint(error: &FileError) -> String {
    error.hint().map_or(String::new(), |hint| format!(" ({hint})"))
}

/// What a file has to be, depending on who has chosen it. A file that the user names may be anybody's. A file that is found
/// upward, or that a project names, has to be the user's own; and where its name is one within the project, so is the file.
fn rules(file: &str, path: &Path, source: &TextSource, facts: &HostFacts) -> FileRules {
    let rules = FileRules::up_to(MAX_TEXT_BYTES);
    let named_by_user = source.layer() == Layer::User && (source.location().is_none() || is_anchored(file));
    if named_by_user {
        return rules;
    }
    let rules = rules.owned_by(&facts.trust.owners());
    let strange = source.layer() == Layer::Embedded
        || (source.layer() == Layer::Project && is_plainly_within(path, facts.root()));
    if strange { rules.beneath(facts.root()) } else { rules }
}

/// Whether a path counts from the root or from home, so that it means one file wherever haft is started.
fn is_anchored(file: &str) -> bool {
    file.starts_with('/') || file.starts_with("~/")
}

/// Whether a path is within a directory by its name alone, before links are followed.
pub(crate) fn is_plainly_within(path: &Path, directory: &Path) -> bool {
    path.strip_prefix(directory)
        .is_ok_and(|inner| inner.components().all(|part| matches!(part, std::path::Component::Normal(_))))
}

/// Whether bytes that were read may go into a prompt: those of a project's `.haft` have to be trusted with this content.
/// The bytes that are looked at are those that are used.
fn is_trusted(path: &Path, bytes: &[u8], facts: &HostFacts) -> bool {
    let Some(project) = &facts.project else { return true };
    let Ok(real) = path.canonicalize() else { return false };
    let directory = project.join(PROJECT_DIRECTORY);
    let directories = [directory.canonicalize().unwrap_or_else(|_| directory.clone()), directory];
    let names = [path, &real];
    let inside = names.iter().any(|name| directories.iter().any(|above| name.starts_with(above)));
    let hash = ContentHash::of(bytes);
    !inside || names.iter().any(|name| facts.trust.is_trusted(name, &hash))
}

/// Where a file is. A project's files count from its top. All others are looked for from the working directory upward to
/// the top of the project, so that the nearest one is found.
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
