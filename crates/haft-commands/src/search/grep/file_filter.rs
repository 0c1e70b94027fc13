//! `--include`, `--exclude` and `--exclude-dir`.

use haft_text::pattern::{Pattern, PatternOptions};

/// The patterns for names of files and directories.
#[derive(Debug, Default)]
pub(super) struct FileFilter {
    files: Vec<NamePattern>,
    directories: Vec<NamePattern>,
}

#[derive(Debug)]
struct NamePattern {
    pattern: Pattern,
    includes: bool,
}

impl FileFilter {
    pub(super) fn add_file_pattern(&mut self, pattern: &[u8], includes: bool) {
        self.files.push(NamePattern::new(pattern, includes));
    }

    pub(super) fn add_directory_pattern(&mut self, pattern: &[u8]) {
        let end = pattern.iter().rposition(|byte| *byte != b'/').map_or(pattern.len().min(1), |at| at + 1);
        self.directories.push(NamePattern::new(&pattern[..end], false));
    }

    /// Whether a file is skipped. An operand may match from any of its slashes on.
    pub(super) fn skips(&self, name: &[u8], is_directory: bool, is_operand: bool) -> bool {
        let patterns = if is_directory { &self.directories } else { &self.files };
        let found = patterns.iter().rev().find(|pattern| pattern.matches(name, is_operand));
        match (found, patterns.first()) {
            (Some(pattern), _) => !pattern.includes,
            (None, Some(first)) => first.includes,
            (None, None) => false,
        }
    }
}

impl NamePattern {
    fn new(pattern: &[u8], includes: bool) -> Self {
        Self { pattern: Pattern::compile(pattern, PatternOptions::default()), includes }
    }

    fn matches(&self, name: &[u8], is_operand: bool) -> bool {
        if self.pattern.matches(name) {
            return true;
        }
        let starts = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        is_operand
            && starts
                .into_iter()
                .filter(|at| name.get(*at) != Some(&b'/'))
                .any(|at| self.pattern.matches(&name[at..]))
    }
}
