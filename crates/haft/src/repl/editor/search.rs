//! Ctrl-R: incremental search in the history.

/// The state of a search.
#[derive(Clone, Debug)]
pub(crate) struct HistorySearch {
    pub(super) pattern: String,
    /// The index of the shown entry.
    pub(super) at: usize,
    failed: bool,
    /// The text before the search, restored by Ctrl-G.
    pub(super) before: String,
}

impl HistorySearch {
    pub(super) fn new(before: String, at: usize) -> Self {
        Self { pattern: String::new(), at, failed: false, before }
    }

    pub(super) fn prompt(&self) -> String {
        let state = if self.failed { "nothing found" } else { "search" };
        format!("({state}: {}) ", self.pattern)
    }

    /// Finds the pattern in this and earlier entries; with `further`, only in earlier and different ones.
    pub(super) fn backward<'h>(&mut self, history: &'h [String], further: bool) -> Option<&'h str> {
        let end = if further { self.at } else { self.at.saturating_add(1).min(history.len()) };
        let shown = history.get(self.at);
        let found = history[..end]
            .iter()
            .rposition(|entry| entry.contains(&self.pattern) && !(further && Some(entry) == shown));
        self.moved(history, found)
    }

    /// Finds the pattern in later entries.
    pub(super) fn forward<'h>(&mut self, history: &'h [String]) -> Option<&'h str> {
        let start = self.at.saturating_add(1).min(history.len());
        let found = history[start..].iter().position(|entry| entry.contains(&self.pattern));
        self.moved(history, found.map(|at| start + at))
    }

    fn moved<'h>(&mut self, history: &'h [String], found: Option<usize>) -> Option<&'h str> {
        self.failed = found.is_none();
        self.at = found?;
        history.get(self.at).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_backward_and_forward() {
        let history = ["make all", "ls", "make test", "make test", "pwd"].map(str::to_owned);
        let mut search = HistorySearch::new(String::new(), history.len());
        search.pattern = "make".to_owned();
        assert_eq!(search.backward(&history, false), Some("make test"));
        assert_eq!(search.backward(&history, true), Some("make all"), "the same text is not shown twice");
        assert_eq!(search.backward(&history, true), None);
        assert!(search.prompt().contains("nothing found"));
        assert_eq!(search.forward(&history), Some("make test"));
    }
}
