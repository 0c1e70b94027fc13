use std::fmt;

use crate::capture::random_word;

/// The name of a run: `run-`, the process id of its owner and a random word, of lower-case letters, digits and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunId(String);

const PREFIX: &str = "run-";

impl RunId {
    pub(super) fn new() -> Self {
        Self(format!("{PREFIX}{}-{}", std::process::id(), random_word(12)))
    }

    /// Reads a name back, if it is one.
    pub fn parse(name: &str) -> Option<Self> {
        let (process, word) = name.strip_prefix(PREFIX)?.split_once('-')?;
        let valid = process.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == process)
            && !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        valid.then(|| Self(name.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The process id its owner has or had.
    pub fn process(&self) -> u32 {
        let process = self.0[PREFIX.len()..].split('-').next();
        process.and_then(|process| process.parse().ok()).unwrap_or_default()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_with_its_process() {
        let id = RunId::new();
        assert_eq!(RunId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(id.process(), std::process::id());
        assert!(id.as_str().bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
    }

    #[test]
    fn other_names_are_none() {
        for name in
            ["", "run-", "run-1", "run-1-", "run-01-a", "run-x-a", "run-1-A", "run-1-a/b", "run--1-a", "1-a"]
        {
            assert_eq!(RunId::parse(name), None, "{name}");
        }
    }
}
