//! Replaces rules with exceptions by rules without them.

use std::path::{Path, PathBuf};

use crate::access::Access;
use crate::rules::FileRule;

/// Returns rules that allow what `files` allow except for `exceptions`. Symbolic links are resolved. Exceptions from changes are
/// left to [`protected_paths`].
pub(crate) fn expand(files: &[FileRule], exceptions: &[FileRule]) -> Vec<FileRule> {
    let exceptions: Vec<FileRule> = exceptions.iter().filter_map(resolve).collect();
    let mut expanded = Vec::new();
    for rule in files.iter().filter_map(resolve) {
        let below: Vec<&FileRule> = exceptions
            .iter()
            .filter(|exception| exception.path.starts_with(&rule.path))
            .filter(|exception| !(exception.access & rule.access).is_empty())
            .collect();
        split(&rule, &below, &mut expanded);
    }
    expanded
}

/// The rule with its path without symbolic links; `None` if there is no such file.
fn resolve(rule: &FileRule) -> Option<FileRule> {
    Some(FileRule { path: rule.path.canonicalize().ok()?, access: rule.access })
}

/// A file or directory that may not change below a directory that may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedPath {
    /// Its path without symbolic links.
    pub path: PathBuf,
    /// Whether it exists.
    pub exists: bool,
    /// The directories around it that could be moved away, the outermost first.
    pub parents: Vec<PathBuf>,
}

/// Returns the exceptions from changes below directories that may change. Landlock cannot express them.
pub(crate) fn protected_paths(files: &[FileRule], exceptions: &[FileRule]) -> Vec<ProtectedPath> {
    let files: Vec<FileRule> = files.iter().filter_map(resolve).collect();
    let mut found: Vec<ProtectedPath> = Vec::new();
    for exception in exceptions {
        let (path, exists) = resolve_missing(&exception.path);
        let lost = exception.access & Access::CHANGE;
        let allows = |rule: &&FileRule| path.starts_with(&rule.path) && !(rule.access & lost).is_empty();
        let outermost = files.iter().filter(allows).min_by_key(|rule| rule.path.components().count());
        let Some(outermost) = outermost.filter(|_| !found.iter().any(|known| known.path == path)) else {
            continue;
        };
        let is_inside = |parent: &&Path| parent.starts_with(&outermost.path) && *parent != outermost.path;
        let parents = path.ancestors().skip(1).filter(is_inside).map(Path::to_owned);
        let mut parents: Vec<PathBuf> = parents.collect();
        parents.reverse();
        found.push(ProtectedPath { path, exists, parents });
    }
    found
}

/// The path without symbolic links, as far as it exists, and whether all of it does.
fn resolve_missing(path: &Path) -> (PathBuf, bool) {
    let resolved = |ancestor: &Path| Some((ancestor.canonicalize().ok()?, path.strip_prefix(ancestor).ok()?));
    match path.ancestors().find_map(resolved) {
        Some((real, rest)) if rest.as_os_str().is_empty() => (real, true),
        Some((real, rest)) => (real.join(rest), false),
        None => (path.to_owned(), false),
    }
}

/// Adds the rule, and instead of each kind of access that has exceptions, rules for the files around the exceptions.
fn split(rule: &FileRule, below: &[&FileRule], expanded: &mut Vec<FileRule>) {
    let mut whole = rule.access;
    for kind in [Access::READ, Access::EXECUTE] {
        let excepted: Vec<&Path> =
            below.iter().filter(|it| it.access.contains(kind)).map(|it| it.path.as_path()).collect();
        if rule.access.contains(kind) && !excepted.is_empty() {
            whole = whole & !kind;
            if kind == Access::READ {
                whole |= Access::LIST;
            }
            if !excepted.contains(&rule.path.as_path()) {
                allow_around(&rule.path, &excepted, kind, expanded);
            }
        }
    }
    if !whole.is_empty() {
        expanded.push(FileRule { path: rule.path.clone(), access: whole });
    }
}

/// Allows everything in a directory except for the excepted paths.
fn allow_around(directory: &Path, excepted: &[&Path], access: Access, expanded: &mut Vec<FileRule>) {
    for child in children(directory) {
        if excepted.contains(&child.as_path()) {
            continue;
        }
        match excepted.iter().any(|path| path.starts_with(&child)) {
            true => allow_around(&child, excepted, access, expanded),
            false => expanded.push(FileRule { path: child, access }),
        }
    }
}

/// The entries of a directory. The target of a symbolic link is judged by its own place.
fn children(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let is_link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.flatten().filter(|entry| !is_link(entry)).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_around_an_excepted_directory_stays_allowed() {
        let root = tempfile::tempdir().expect("a directory");
        let top = root.path().canonicalize().expect("a path");
        for directory in ["home/me/.ssh", "home/me/work", "etc"] {
            std::fs::create_dir_all(top.join(directory)).expect("a directory");
        }
        let rule = |path: &str, access| FileRule { path: top.join(path), access };
        let allowed =
            expand(&[rule("", Access::READ | Access::WRITE)], &[rule("home/me/.ssh", Access::READ)]);
        let mut read: Vec<_> = allowed
            .iter()
            .filter(|rule| rule.access == Access::READ)
            .map(|rule| rule.path.strip_prefix(&top).expect("below").to_owned())
            .collect();
        read.sort();
        assert_eq!(read, [PathBuf::from("etc"), PathBuf::from("home/me/work")]);
        assert!(allowed.contains(&FileRule { path: top.clone(), access: Access::WRITE | Access::LIST }));
    }

    #[test]
    fn exceptions_from_changes_are_protected_with_the_directories_around_them() {
        let root = tempfile::tempdir().expect("a directory");
        let top = root.path().canonicalize().expect("a path");
        std::fs::create_dir_all(top.join("project/.git/hooks")).expect("a directory");
        let rule = |path: &str, access| FileRule { path: top.join(path), access };
        let protected = protected_paths(
            &[rule("", Access::READ), rule("project", Access::CHANGE)],
            &[
                rule("project/.git/hooks", Access::CHANGE),
                rule("project/.git/hooks", Access::DELETE),
                rule("project/missing", Access::WRITE),
                rule("elsewhere", Access::WRITE),
            ],
        );
        let path = |path: &str, exists, parents: &[&str]| ProtectedPath {
            path: top.join(path),
            exists,
            parents: parents.iter().map(|parent| top.join(parent)).collect(),
        };
        let hooks = path("project/.git/hooks", true, &["project/.git"]);
        assert_eq!(protected, [hooks, path("project/missing", false, &[])]);
    }
}
