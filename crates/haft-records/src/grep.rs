//! Searching the texts of runs.

use regex::bytes::{Regex, RegexBuilder};

use crate::index::{JournalIndex, RunEntry};

/// A regular expression that is searched in the texts of runs. `^` and `$` match at every line.
#[derive(Clone, Debug)]
pub struct TextPattern {
    regex: Regex,
    /// Whether it can refer to the beginning or end of a whole text.
    is_anchored: bool,
}

impl TextPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// If it is not a valid regular expression. The message says why.
    pub fn new(pattern: &str) -> Result<TextPattern, String> {
        let regex = RegexBuilder::new(pattern).multi_line(true).build();
        let is_anchored = pattern.contains("\\A") || pattern.contains("\\z") || pattern.contains("(?");
        regex.map(|regex| TextPattern { regex, is_anchored }).map_err(|error| error.to_string())
    }

    /// Whether it matches a text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text.as_bytes())
    }

    /// Returns for each run of an index whether its text matches.
    ///
    /// The texts are searched as one text, which is much faster than one by one. A match may then extend over several
    /// texts, so each text that it touches is searched again on its own.
    pub(crate) fn matching_runs(&self, index: &JournalIndex) -> Vec<bool> {
        let is_match = |run: &RunEntry| self.regex.is_match(index.text(run).as_bytes());
        if self.is_anchored {
            return index.runs.iter().map(is_match).collect();
        }
        let mut matching = vec![false; index.runs.len()];
        let mut from = 0;
        while from < index.texts.len()
            && let Some(found) = self.regex.find_at(&index.texts, from)
        {
            let ends_before = |run: &RunEntry, at: usize| run.text.end() < at;
            let first = index.runs.partition_point(|run| ends_before(run, found.start()));
            let after = index.runs.partition_point(|run| ends_before(run, found.end())) + 1;
            let after = after.min(index.runs.len());
            // An empty match after the last newline belongs to no text.
            let (Some(runs), Some(last)) = (index.runs.get(first..after), index.runs[..after].last()) else {
                break;
            };
            runs.iter().zip(&mut matching[first..]).for_each(|(run, matching)| *matching = is_match(run));
            from = last.text.end() + 1;
        }
        matching
    }
}
