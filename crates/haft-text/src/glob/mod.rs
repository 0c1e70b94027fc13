//! Expanding patterns to the paths that exist.
//!
//! A pattern is walked part by part, from slash to slash. A part that is a pattern lists the directories reached so far; one that
//! is plain text is only appended, and looked for at the end. The result is in the order of bytes, which is that of characters
//! in UTF-8 too.

mod split;
#[cfg(test)]
mod tests;
mod walk;

use haft_fs::FileSystem;

use crate::pattern::{Pattern, PatternOptions};

/// How patterns are expanded to paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobOptions {
    /// How names are matched.
    pub pattern: PatternOptions,
    /// `dotglob`: names that begin with a period are matched like others.
    pub dots: bool,
    /// `globstar`: `**` stands for any number of directories.
    pub recursive: bool,
    /// Without `globskipdots`: `.` and `..` are names that `.*` matches.
    pub special: bool,
}

/// The walk was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// The paths that exist and match a pattern, which may be none. `directory`, which is absolute, is where relative ones
/// begin; `stop` is asked again and again whether to go on.
///
/// # Errors
/// If `stop` said so.
pub fn glob(
    files: &dyn FileSystem,
    directory: &[u8],
    pattern: &[u8],
    options: &GlobOptions,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Vec<Vec<u8>>, Stopped> {
    let mut walk = walk::Walk::new(files, directory, options, stop);
    for part in split::split(pattern, options) {
        walk.part(&part)?;
    }
    Ok(walk.finish())
}

/// The patterns of `GLOBIGNORE`: what they match is taken out of what was found.
#[derive(Clone, Debug)]
pub struct Ignore {
    patterns: Vec<Pattern>,
}

impl Ignore {
    /// Reads a list separated by colons.
    #[must_use]
    pub fn new(list: &[u8], options: PatternOptions) -> Self {
        let patterns = list.split(|byte| *byte == b':').filter(|text| !text.is_empty());
        Self { patterns: patterns.map(|text| Pattern::compile(text, options)).collect() }
    }

    /// Whether a path is taken out.
    #[must_use]
    pub fn contains(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        matches!(name, b"." | b"..") || self.patterns.iter().any(|pattern| pattern.matches(path))
    }
}
