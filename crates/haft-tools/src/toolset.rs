//! Allow-lists.

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

/// The tools that may be called. A call of any other is refused, not only hidden.
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

/// A toolset in a configuration: `[[toolset]]` with a name and names or patterns of tools.
#[derive(Clone, Debug, Deserialize)]
pub struct ToolsetItem {
    /// What it allows.
    pub tools: Vec<String>,
}

impl Toolset {
    /// A toolset of names, in which `*` and `?` stand for others.
    ///
    /// # Errors
    /// If one is no pattern.
    pub fn new<T: AsRef<str>>(
        name: impl Into<String>,
        tools: impl IntoIterator<Item = T>,
    ) -> Result<Toolset, String> {
        let compile = |tool: T| match Glob::new(tool.as_ref()) {
            Ok(glob) => Ok(glob.compile_matcher()),
            Err(error) => Err(format!("'{}' is no name of tools: {}", tool.as_ref(), error.kind())),
        };
        let patterns: Result<_, String> = tools.into_iter().map(compile).collect();
        Ok(Toolset { name: name.into(), patterns: patterns? })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has a tool.
    pub fn allows(&self, tool: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(tool))
    }
}
