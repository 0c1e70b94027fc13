//! Pathname expansion: from a pattern to the paths that match it.
//!
//! A pattern is split at its slashes and expanded component by component. A component with operators lists the directories reached so
//! far; a literal one is appended, and its existence is checked at the end. The result is sorted by bytes, which for UTF-8 is the order
//! of the characters.

mod split;
#[cfg(test)]
mod tests;
mod walk;

use haft_fs::FileSystem;

use crate::pattern::{Pattern, PatternOptions};

/// Options of pathname expansion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobOptions {
    /// How file names are matched.
    pub pattern: PatternOptions,
    /// `dotglob`: patterns match names that begin with a period.
    pub dotglob: bool,
    /// `globstar`: `**` matches any number of directories.
    pub globstar: bool,
    /// Not `globskipdots`: `.*` matches `.` and `..`.
    pub match_dot_entries: bool,
}

/// Pathname expansion was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobCancelled;

/// Returns the paths that match a pattern, sorted; none if no path matches. Relative patterns begin at `directory`, which must be
/// absolute. `stop` is called repeatedly; the expansion is cancelled when it returns true.
///
/// # Errors
/// [`GlobCancelled`] if `stop` returned true.
pub fn glob(
    files: &dyn FileSystem,
    directory: &[u8],
    pattern: &[u8],
    options: &GlobOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Vec<u8>>, GlobCancelled> {
    let mut walk = walk::GlobWalk::new(files, directory, options, stop);
    for component in split::split(pattern, options) {
        walk.descend(&component)?;
    }
    Ok(walk.finish())
}

/// The patterns of `GLOBIGNORE`. Paths that match one of them are removed from the result.
#[derive(Clone, Debug)]
pub struct GlobIgnore {
    patterns: Vec<Pattern>,
}

impl GlobIgnore {
    /// Parses a colon-separated list.
    #[must_use]
    pub fn new(list: &[u8], options: PatternOptions) -> Self {
        let patterns = list.split(|byte| *byte == b':').filter(|text| !text.is_empty());
        Self { patterns: patterns.map(|text| Pattern::compile(text, options)).collect() }
    }

    /// Tells whether a path is removed.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        matches!(name, b"." | b"..") || self.patterns.iter().any(|pattern| pattern.matches(path))
    }
}
