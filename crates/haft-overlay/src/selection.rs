//! Which changes an operation applies to.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::Error;

/// The changes that a commit takes: all, or those at or below some paths, except for some patterns.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Absolute paths; empty means all.
    paths: Vec<PathBuf>,
    excluded: GlobSet,
    has_exclusions: bool,
}

/// How much of a directory is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// Nothing in it.
    None,
    /// Perhaps something in it.
    Part,
    /// All of it.
    All,
}

impl Selection {
    /// Selects all changes.
    pub fn all() -> Selection {
        Selection::default()
    }

    /// Selects nothing.
    pub(crate) fn none() -> Selection {
        // No absolute path is below it.
        Selection { paths: vec![PathBuf::from("\0")], ..Selection::default() }
    }

    /// Selects changes at or below these absolute paths, or all if there are none, except for those that match a pattern.
    ///
    /// A pattern without a slash matches a name in any directory, as in `.gitignore`. Other patterns match whole paths
    /// relative to the tree.
    ///
    /// # Errors
    /// If a pattern is not a valid glob.
    pub fn new(paths: Vec<PathBuf>, except: &[String]) -> Result<Selection, Error> {
        let mut excluded = GlobSetBuilder::new();
        for pattern in except {
            let failed = |error: globset::Error| Error::Pattern {
                pattern: pattern.clone(),
                why: error.kind().to_string(),
            };
            let trimmed = pattern.trim_start_matches("./").trim_end_matches('/');
            let anchored = if trimmed.contains('/') { trimmed.to_owned() } else { format!("**/{trimmed}") };
            for glob in [anchored.clone(), format!("{anchored}/**")] {
                excluded.add(GlobBuilder::new(&glob).literal_separator(true).build().map_err(failed)?);
            }
        }
        let excluded = excluded
            .build()
            .map_err(|error| Error::Pattern { pattern: except.join(" "), why: error.kind().to_string() })?;
        Ok(Selection { paths, excluded, has_exclusions: !except.is_empty() })
    }

    /// Whether everything is selected.
    pub(crate) fn is_all(&self) -> bool {
        self.paths.is_empty() && !self.has_exclusions
    }

    /// How much is selected at and below a path, given relative to the tree at `root`.
    pub(crate) fn coverage(&self, root: &Path, path: &Path) -> Coverage {
        if self.has_exclusions && self.excluded.is_match(path) {
            return Coverage::None;
        }
        let whole = root.join(path);
        let inside = self.paths.is_empty() || self.paths.iter().any(|chosen| whole.starts_with(chosen));
        if inside {
            return if self.has_exclusions { Coverage::Part } else { Coverage::All };
        }
        let leads = self.paths.iter().any(|chosen| chosen.starts_with(&whole));
        if leads { Coverage::Part } else { Coverage::None }
    }

    /// Whether the path itself is selected, given relative to the tree at `root`.
    pub(crate) fn includes(&self, root: &Path, path: &Path) -> bool {
        let whole = root.join(path);
        (self.paths.is_empty() || self.paths.iter().any(|chosen| whole.starts_with(chosen)))
            && !(self.has_exclusions && self.excluded.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(paths: &[&str], except: &[&str]) -> Selection {
        let except: Vec<String> = except.iter().map(ToString::to_string).collect();
        Selection::new(paths.iter().map(PathBuf::from).collect(), &except).expect("valid patterns")
    }

    #[test]
    fn a_path_selects_what_is_at_and_below_it() {
        let chosen = selection(&["/t/a/b"], &[]);
        let root = Path::new("/t");
        assert_eq!(chosen.coverage(root, Path::new("a")), Coverage::Part);
        assert_eq!(chosen.coverage(root, Path::new("a/b")), Coverage::All);
        assert_eq!(chosen.coverage(root, Path::new("a/b/c")), Coverage::All);
        assert_eq!(chosen.coverage(root, Path::new("a/bc")), Coverage::None);
        assert!(!chosen.includes(root, Path::new("a")));
    }

    #[test]
    fn a_pattern_without_a_slash_excludes_a_name_everywhere() {
        let chosen = selection(&[], &["*.log", "build/out"]);
        let root = Path::new("/t");
        assert_eq!(chosen.coverage(root, Path::new("a/b.log")), Coverage::None);
        assert_eq!(chosen.coverage(root, Path::new("build/out/x")), Coverage::None);
        assert_eq!(chosen.coverage(root, Path::new("other/build/out")), Coverage::Part);
        assert!(chosen.includes(root, Path::new("a/b.txt")));
    }

    #[test]
    fn an_invalid_pattern_is_refused() {
        assert!(Selection::new(Vec::new(), &["a[".to_owned()]).is_err());
    }
}
