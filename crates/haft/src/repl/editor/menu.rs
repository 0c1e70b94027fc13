//! Completion candidates, and the menu that shows them.

use unicode_width::UnicodeWidthStr as _;

/// A text that could complete the word at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CompletionCandidate {
    /// The text in the menu.
    pub(crate) shown: String,
    /// The text to insert.
    pub(crate) text: String,
    /// The text after a unique candidate: a blank, or nothing.
    pub(crate) tail: &'static str,
}

/// The candidates, and the position where they are inserted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompletionList {
    pub(crate) start: usize,
    pub(crate) candidates: Vec<CompletionCandidate>,
}

impl CompletionList {
    /// The longest common prefix of the candidates.
    pub(super) fn common(&self) -> &str {
        let Some(first) = self.candidates.first() else { return "" };
        let mut common = first.text.as_str();
        for candidate in &self.candidates {
            let same = common.char_indices().zip(candidate.text.chars());
            let end = same.take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8()).last();
            common = &common[..end.unwrap_or(0)];
        }
        // A single trailing backslash would escape the next typed character.
        match common.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 {
            1 => &common[..common.len() - 1],
            _ => common,
        }
    }
}

/// A menu of candidates with a selection.
#[derive(Clone, Debug)]
pub(crate) struct CompletionMenu {
    pub(super) completion: CompletionList,
    /// The candidate that is in the text now.
    pub(super) chosen: Option<usize>,
}

impl CompletionMenu {
    pub(super) fn new(completion: CompletionList) -> Self {
        Self { completion, chosen: None }
    }

    /// Selects the next candidate, or the previous one.
    pub(super) fn turn(&mut self, backward: bool) -> &CompletionCandidate {
        let count = self.completion.candidates.len().max(1);
        let next = match (self.chosen, backward) {
            (None, false) => 0,
            (None, true) => count - 1,
            (Some(at), false) => (at + 1) % count,
            (Some(at), true) => (at + count - 1) % count,
        };
        self.chosen = Some(next);
        &self.completion.candidates[next]
    }

    /// The lines of the menu: columns as wide as the longest candidate, scrolled to the selected one.
    pub(super) fn lines(&self, columns: usize, rows: usize) -> Vec<String> {
        let candidates = &self.completion.candidates;
        let longest = candidates.iter().map(|candidate| candidate.shown.width()).max().unwrap_or(0);
        let width = (longest + 2).min(columns);
        let across = (columns / width).max(1);
        let height = candidates.len().div_ceil(across);
        let room = (rows / 2).clamp(1, 20);
        let chosen_row = self.chosen.map_or(0, |at| at % height);
        let top = (chosen_row + 1).saturating_sub(room).min(height.saturating_sub(room));
        let mut lines = Vec::new();
        for row in top..height.min(top + room) {
            let places = (0..across).map(|column| column * height + row);
            let places = places.filter(|place| *place < candidates.len());
            lines.push(places.map(|place| self.cell(place, width)).collect());
        }
        if height > room {
            lines.push(format!("\x1b[2m… {} in all\x1b[0m", candidates.len()));
        }
        lines
    }

    fn cell(&self, place: usize, width: usize) -> String {
        let mut shown: String = self.completion.candidates[place].shown.replace(char::is_control, "?");
        while shown.width() + 1 > width {
            shown.pop();
        }
        let blanks = " ".repeat(width - shown.width());
        match self.chosen == Some(place) {
            true => format!("\x1b[7m{shown}\x1b[0m{blanks}"),
            false => shown + &blanks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(texts: &[&str]) -> CompletionList {
        let candidate = |text: &&str| CompletionCandidate {
            shown: (*text).to_owned(),
            text: (*text).to_owned(),
            tail: " ",
        };
        CompletionList { start: 0, candidates: texts.iter().map(candidate).collect() }
    }

    #[test]
    fn the_common_prefix_is_found() {
        assert_eq!(completion(&["checkout", "cherry", "check"]).common(), "che");
        assert_eq!(completion(&["über", "übrig"]).common(), "üb");
        assert_eq!(completion(&["a", "b"]).common(), "");
        assert_eq!(completion(&["a\\ b", "a\\(c"]).common(), "a");
    }

    #[test]
    fn the_selected_candidate_is_always_visible() {
        let names: Vec<String> = (0..500).map(|number| format!("file-{number:03}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut menu = CompletionMenu::new(completion(&names));
        assert_eq!(menu.turn(true).text, "file-499");
        let lines = menu.lines(40, 10);
        assert!(lines.len() <= 6 && lines.iter().any(|line| line.contains("\x1b[7mfile-499")), "{lines:?}");
        assert_eq!(menu.turn(false).text, "file-000");
    }
}
