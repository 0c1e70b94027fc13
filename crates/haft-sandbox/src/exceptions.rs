//! Replaces rules with exceptions by rules without them.

use std::path::{Path, PathBuf};

use crate::access::Access;
use crate::rules::FileRule;

/// Returns rules that allow what `files` allow except for `exceptions`. Symbolic links are resolved. An exception from
/// writing is added to `unenforced` instead.
pub(crate) fn expand(
    files: &[FileRule],
    exceptions: &[FileRule],
    unenforced: &mut Vec<String>,
) -> Vec<FileRule> {
    let exceptions: Vec<FileRule> = exceptions.iter().filter_map(resolve).collect();
    let mut expanded = Vec::new();
    for rule in files.iter().filter_map(resolve) {
        let below: Vec<&FileRule> = exceptions
            .iter()
            .filter(|exception| exception.path.starts_with(&rule.path))
            .filter(|exception| !(exception.access & rule.access).is_empty())
            .collect();
        report_unenforced(&rule, &below, unenforced);
        split(&rule, &below, &mut expanded);
    }
    expanded
}

/// The rule with its path without symbolic links; `None` if there is no such file.
fn resolve(rule: &FileRule) -> Option<FileRule> {
    Some(FileRule { path: rule.path.canonicalize().ok()?, access: rule.access })
}

fn report_unenforced(rule: &FileRule, below: &[&FileRule], unenforced: &mut Vec<String>) {
    for exception in below {
        let lost = exception.access & rule.access & Access::CHANGE;
        if !lost.is_empty() {
            let path = exception.path.display();
            unenforced.push(format!(
                "programs may {lost} '{path}', which is below a directory that they may change"
            ));
        }
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
        let mut unenforced = Vec::new();
        let allowed = expand(
            &[rule("", Access::READ | Access::WRITE)],
            &[rule("home/me/.ssh", Access::READ)],
            &mut unenforced,
        );
        let mut read: Vec<_> = allowed
            .iter()
            .filter(|rule| rule.access == Access::READ)
            .map(|rule| rule.path.strip_prefix(&top).expect("below").to_owned())
            .collect();
        read.sort();
        assert_eq!(read, [PathBuf::from("etc"), PathBuf::from("home/me/work")]);
        assert!(allowed.contains(&FileRule { path: top.clone(), access: Access::WRITE | Access::LIST }));
        assert_eq!(unenforced, Vec::<String>::new());
    }

    #[test]
    fn an_exception_from_writing_is_reported() {
        let root = tempfile::tempdir().expect("a directory");
        let hooks = root.path().join("hooks");
        std::fs::create_dir(&hooks).expect("a directory");
        let mut unenforced = Vec::new();
        expand(
            &[FileRule { path: root.path().to_owned(), access: Access::CHANGE }],
            &[FileRule { path: hooks, access: Access::WRITE }],
            &mut unenforced,
        );
        assert!(unenforced[0].starts_with("programs may write '"), "{unenforced:?}");
    }
}
