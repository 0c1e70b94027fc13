//! The files that texts are made of: where they are, and what is in them.

use std::path::{Path, PathBuf};

use haft_config::trust::ContentHash;
use haft_config::{
    FileError, FileErrorKind, FileRules, Layer, MAX_TEXT_BYTES, PROJECT_DIRECTORY, printable_text,
};

use crate::recipe::Recipe;
use crate::surroundings::Surroundings;

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

/// Reads the file of a recipe, if its text needs it.
pub(crate) fn read(file: &str, recipe: &Recipe, surroundings: &Surroundings) -> FileText {
    let path = locate(file, recipe.layer(), surroundings);
    let inner = path.strip_prefix(&surroundings.working_directory).unwrap_or(&path);
    let shown = inner.display().to_string();
    if !recipe.needs_file() {
        let absent = !path.exists();
        return FileText { shown, contents: Ok(Vec::new()), absent };
    }
    let read = rules(file, &path, recipe, surroundings).read(&path);
    let absent = read.as_ref().is_err_and(|error| error.kind() == FileErrorKind::Absent);
    let named = printable_text(&shown);
    let contents = match read {
        Ok(bytes) if !is_trusted(&path, &bytes, surroundings) => {
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
fn rules(file: &str, path: &Path, recipe: &Recipe, surroundings: &Surroundings) -> FileRules {
    let rules = FileRules::up_to(MAX_TEXT_BYTES);
    let named_by_user = recipe.layer() == Layer::User && (recipe.place().is_none() || is_anchored(file));
    if named_by_user {
        return rules;
    }
    let rules = rules.owned_by(&surroundings.trust.owners());
    let strange = recipe.layer() == Layer::Embedded
        || (recipe.layer() == Layer::Project && is_plainly_within(path, surroundings.root()));
    if strange { rules.beneath(surroundings.root()) } else { rules }
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
fn is_trusted(path: &Path, bytes: &[u8], surroundings: &Surroundings) -> bool {
    let Some(project) = &surroundings.project else { return true };
    let Ok(real) = path.canonicalize() else { return false };
    let directory = project.join(PROJECT_DIRECTORY);
    let directories = [directory.canonicalize().unwrap_or_else(|_| directory.clone()), directory];
    let names = [path, &real];
    let inside = names.iter().any(|name| directories.iter().any(|above| name.starts_with(above)));
    let hash = ContentHash::of(bytes);
    !inside || names.iter().any(|name| surroundings.trust.is_trusted(name, &hash))
}

/// Where a file is. A project's files count from its top. All others are looked for from the working directory upward to
/// the top of the project, so that the nearest one is found.
pub(crate) fn locate(file: &str, layer: Layer, surroundings: &Surroundings) -> PathBuf {
    let path = match (file.strip_prefix("~/"), &surroundings.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(file),
    };
    if path.is_absolute() {
        return path;
    }
    let root = surroundings.root();
    if layer == Layer::Project {
        return root.join(path);
    }
    let above = surroundings.working_directory.ancestors().take_while(|above| above.starts_with(root));
    let found = above.map(|above| above.join(&path)).find(|place| place.exists());
    found.unwrap_or_else(|| surroundings.working_directory.join(&path))
}
