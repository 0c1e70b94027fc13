use std::fmt;

use crate::capture::random_word;

/// The id of a run: `run-`, the pid of its owner, and a random word of lower-case letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunId(String);

const RUN_ID_PREFIX: &str = "run-";

impl RunId {
    /// Makes an id that no other run has.
    #[expect(clippy::new_without_default, reason = "each id is different")]
    pub fn new() -> Self {
        Self(format!("{RUN_ID_PREFIX}{}-{}", std::process::id(), random_word(12)))
    }

    /// Parses an id. Returns `None` if the name is not an id.
    pub fn parse(name: &str) -> Option<Self> {
        let (process, word) = name.strip_prefix(RUN_ID_PREFIX)?.split_once('-')?;
        let valid = process.parse::<u32>().is_ok_and(|parsed| parsed.to_string() == process)
            && !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        valid.then(|| Self(name.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the pid of the owner, which may have ended.
    pub fn process(&self) -> u32 {
        let process = self.0[RUN_ID_PREFIX.len()..].split('-').next();
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
    fn ids_can_be_parsed_and_contain_the_pid() {
        let id = RunId::new();
        assert_eq!(RunId::parse(id.as_str()), Some(id.clone()));
        assert_eq!(id.process(), std::process::id());
        assert!(id.as_str().bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
    }

    #[test]
    fn other_names_are_rejected() {
        for name in
            ["", "run-", "run-1", "run-1-", "run-01-a", "run-x-a", "run-1-A", "run-1-a/b", "run--1-a", "1-a"]
        {
            assert_eq!(RunId::parse(name), None, "{name}");
        }
    }
}
