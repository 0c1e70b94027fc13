//! Discovers tools: finds candidate files and asks them for their schema.

mod cache;
mod inspector;
mod schema_probe;
mod sealed_program;
mod stamp;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use haft_config::Layer;

pub(crate) use inspector::{Inspection, ToolInspector};
pub(crate) use schema_probe::{SchemaProbe, end_leftovers, tool_command};
pub(crate) use sealed_program::SealError;
pub(crate) use stamp::FileStamp;

use crate::tool::tool_name_of_file;

/// Maximum number of entries in a tools directory.
const MAX_ENTRIES: usize = 10_000;

/// A file that is a tool according to its name and mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCandidate {
    pub(crate) name: String,
    pub(crate) layer: Layer,
    pub(crate) path: PathBuf,
}

/// All candidates, from lowest to highest precedence. Missing directories and directories with too many
/// entries have none.
pub(crate) fn scan(directories: &[(Layer, PathBuf)]) -> Vec<ToolCandidate> {
    let entries = directories.iter().map(|(layer, directory)| scan_directory(*layer, directory));
    entries.flat_map(Option::unwrap_or_default).collect()
}

/// Rejections that need no inspection: directories with too many entries, and executables with an odd name.
pub(crate) fn rejected_at_once(directories: &[(Layer, PathBuf)]) -> Vec<(ToolCandidate, Inspection)> {
    directories.iter().flat_map(|(layer, directory)| rejected_in(*layer, directory)).collect()
}

fn rejected_in(layer: Layer, directory: &Path) -> Vec<(ToolCandidate, Inspection)> {
    let reject = |name: String, path: PathBuf, reason: String| {
        (ToolCandidate { name, layer, path }, Inspection::Rejected(reason))
    };
    let Some(entries) = entries(directory) else {
        let reason = format!("the directory has more than {MAX_ENTRIES} entries");
        return vec![reject("tools".to_owned(), directory.to_path_buf(), reason)];
    };
    let odd = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let is_odd = name.ends_with("-tool") && tool_name_of_file(&name).is_none() && is_executable(&path);
        let reason = "a tool's name has only letters, digits, '-' and '_' before '-tool'".to_owned();
        is_odd.then(|| reject(haft_config::printable_text(&name), path, reason))
    };
    entries.into_iter().filter_map(odd).collect()
}

/// The paths in a directory, sorted, or `None` if it has too many entries.
fn entries(directory: &Path) -> Option<Vec<PathBuf>> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.take(MAX_ENTRIES + 1).map(|entry| entry.path()).collect();
    paths.sort();
    (paths.len() <= MAX_ENTRIES).then_some(paths)
}

/// The candidates of one directory, or `None` if it has too many entries.
fn scan_directory(layer: Layer, directory: &Path) -> Option<Vec<ToolCandidate>> {
    let candidate = |path: PathBuf| {
        let name = tool_name_of_file(path.file_name()?.to_str()?)?;
        is_executable(&path).then_some(ToolCandidate { name, layer, path })
    };
    Some(entries(directory)?.into_iter().filter_map(candidate).collect())
}

/// The candidates for one name, highest precedence first. Directories are listed only if the name has too
/// many possible spellings.
pub(crate) fn scan_for(name: &str, directories: &[(Layer, PathBuf)]) -> Vec<ToolCandidate> {
    if tool_name_of_file(&format!("{name}-tool")).is_none_or(|own| own != name) {
        return Vec::new();
    }
    let Some(files) = file_names(name) else {
        let mut found = scan(directories);
        found.retain(|candidate| candidate.name == name);
        found.reverse();
        return found;
    };
    let mut found = Vec::new();
    for (layer, directory) in directories.iter().rev() {
        let paths = files.iter().rev().map(|file| directory.join(file)).filter(|path| is_executable(path));
        found.extend(paths.map(|path| ToolCandidate { name: name.to_owned(), layer: *layer, path }));
    }
    found
}

/// Finds a file that would be the tool if it were executable.
pub(crate) fn not_executable(name: &str, directories: &[(Layer, PathBuf)]) -> Option<PathBuf> {
    let files = file_names(name).unwrap_or_default();
    let paths =
        directories.iter().rev().flat_map(|(_, directory)| files.iter().map(|file| directory.join(file)));
    paths.into_iter().find(|path| path.is_file() && !is_executable(path))
}

/// All file names for a tool, sorted: each `_` may also be `-`. Returns `None` if there are too many.
fn file_names(name: &str) -> Option<Vec<String>> {
    /// Maximum number of underscores to try both spellings of.
    const MAX_UNDERSCORES: u32 = 4;
    let paths: Vec<usize> = name.match_indices('_').map(|(place, _)| place).collect();
    let count = u32::try_from(paths.len()).ok().filter(|count| *count <= MAX_UNDERSCORES)?;
    let mut names: Vec<String> = (0..1_usize << count)
        .map(|chosen| {
            let mut bytes = name.as_bytes().to_vec();
            let dashes = paths.iter().enumerate().filter(|(index, _)| chosen >> index & 1 == 0);
            dashes.for_each(|(_, place)| bytes[*place] = b'-');
            format!("{}-tool", String::from_utf8_lossy(&bytes))
        })
        .collect();
    names.sort();
    Some(names)
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn every_spelling_of_a_name_is_found_and_the_same_file_wins() {
        let scratch = tempfile::tempdir().expect("a directory");
        let files =
            ["a-b-c-tool", "a_b-c-tool", "a-b_c-tool", "a_b_c-tool", "a-b_c_d_e_f-tool", "plain-tool"];
        for file in files {
            let path = scratch.path().join(file);
            std::fs::write(&path, "").expect("a file");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
        }
        let directories = [(Layer::User, scratch.path().to_path_buf())];
        for (name, count) in
            [("a_b_c", 4), ("a_b_c_d_e_f", 1), ("plain", 1), ("none", 0), ("a-b-c", 0), ("../x", 0)]
        {
            let found = scan_for(name, &directories);
            let mut all = scan(&directories);
            all.retain(|candidate| candidate.name == name);
            all.reverse();
            assert_eq!((found.len(), &found), (count, &all), "{name}");
        }
    }
}
