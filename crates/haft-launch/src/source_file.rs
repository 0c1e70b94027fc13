//! The files that texts are made of: where they are, and what is in them.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use haft_config::Layer;
use haft_process::reason;

use crate::recipe::Recipe;
use crate::surroundings::Surroundings;

/// The largest file that is read.
const LARGEST: u64 = 8 << 20;

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
    let shown = path.strip_prefix(&surroundings.working_directory).unwrap_or(&path).display().to_string();
    let absent = !path.exists();
    let contents = if !recipe.needs_file() {
        Ok(Vec::new())
    } else if recipe.layer() == Layer::Embedded && is_outside(&path, surroundings.root()) {
        // A project that nobody has vouched for must not make us hand over what is not its own.
        Err(format!("\"{shown}\" leads out of the project"))
    } else {
        contents(&path).map_err(|why| format!("\"{shown}\" {why}"))
    };
    FileText { shown, contents, absent }
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

/// Whether a file that is there leads, by links or by its path, out of a directory.
pub(crate) fn is_outside(path: &Path, directory: &Path) -> bool {
    match (path.canonicalize(), directory.canonicalize()) {
        (Ok(path), Ok(directory)) => !path.starts_with(directory),
        _ => false,
    }
}

/// What is in a file, which must be one that ends.
pub(crate) fn contents(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {}", reason(&error));
    let metadata = fs::metadata(path).map_err(cannot)?;
    if metadata.is_dir() {
        return Err("is a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("is no ordinary file".to_owned());
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(LARGEST) as usize + 1);
    File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST {
        Err(format!("is larger than {} MiB", LARGEST >> 20))
    } else {
        Ok(bytes)
    }
}
