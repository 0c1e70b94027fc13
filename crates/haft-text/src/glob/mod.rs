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

/// Splits a list of patterns at colons, but not at those of bracket expressions and those after a backslash.
fn split_list(list: &[u8]) -> Vec<&[u8]> {
    let mut patterns = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < list.len() {
        match list[at] {
            b'\\' => at += 1,
            b'[' => at += bracket_end(&list[at..]).unwrap_or(list.len()),
            b':' => {
                patterns.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    patterns.push(&list[start..]);
    patterns
}

/// The position of the bracket that closes the bracket expression at the start of a text. As in bash, a closing bracket that comes
/// first is not an element here.
fn bracket_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while *text.get(at)? != b']' {
        at += match text[at..] {
            [b'[', kind @ (b':' | b'.' | b'='), ..] => {
                let end = text[at + 2..].windows(2).position(|pair| pair == [kind, b']']);
                end.map_or(1, |end| end + 4)
            }
            [b'\\', _, ..] => 2,
            _ => 1,
        };
    }
    Some(at)
}

/// The patterns of `GLOBIGNORE`. Paths that match one of them are removed from the result.
#[derive(Clone, Debug)]
pub struct GlobIgnore {
    /// The parts of each pattern between slashes, which no operator matches.
    patterns: Vec<Vec<Pattern>>,
}

impl GlobIgnore {
    /// Parses a colon-separated list.
    #[must_use]
    pub fn new(list: &[u8], options: PatternOptions) -> Self {
        let compile = |text: &[u8]| {
            text.split(|byte| *byte == b'/').map(|part| Pattern::compile(part, options)).collect()
        };
        let patterns = split_list(list).into_iter().filter(|text| !text.is_empty());
        Self { patterns: patterns.map(compile).collect() }
    }

    /// Tells whether a path is removed.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let matches = |pattern: &Vec<Pattern>| {
            pattern.len() == parts.len() && pattern.iter().zip(&parts).all(|(one, part)| one.matches(part))
        };
        matches!(name, b"." | b"..") || self.patterns.iter().any(matches)
    }
}
