//! Toolsets: lists of allowed tools.

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

/// A list of allowed tools. Calls of other tools are refused.
///
/// ```
/// let toolset = haft_tools::Toolset::new("reading", ["file_read", "gr*"]).unwrap();
/// assert!(toolset.allows("grep") && !toolset.allows("file_write"));
/// ```
#[derive(Clone, Debug)]
pub struct Toolset {
    name: String,
    patterns: Vec<GlobMatcher>,
}

/// A `[[toolset]]` in the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct ToolsetItem {
    /// Names and patterns of tools.
    pub tools: Vec<String>,
}

impl Toolset {
    /// Creates a toolset from names and glob patterns.
    ///
    /// # Errors
    /// Fails if a pattern is not valid.
    pub fn new<T: AsRef<str>>(
        name: impl Into<String>,
        tools: impl IntoIterator<Item = T>,
    ) -> Result<Toolset, String> {
        let compile = |tool: T| match Glob::new(tool.as_ref()) {
            Ok(glob) => Ok(glob.compile_matcher()),
            Err(error) => Err(format!("'{}' is not a valid pattern: {}", tool.as_ref(), error.kind())),
        };
        let patterns: Result<_, String> = tools.into_iter().map(compile).collect();
        Ok(Toolset { name: name.into(), patterns: patterns? })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the toolset allows the tool.
    pub fn allows(&self, tool: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(tool))
    }
}
