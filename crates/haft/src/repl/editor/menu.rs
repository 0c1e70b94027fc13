//! What could stand at the cursor, to be chosen from.

use unicode_width::UnicodeWidthStr as _;

/// One of the texts that could stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// What is shown.
    pub(crate) shown: String,
    /// What is put in.
    pub(crate) text: String,
    /// What follows once it is chosen: a blank, or nothing.
    pub(crate) tail: &'static str,
}

/// All of them, and the place in the text from which on they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) start: usize,
    pub(crate) candidates: Vec<Candidate>,
}

impl Completion {
    /// What all candidates begin with.
    pub(super) fn common(&self) -> &str {
        let Some(first) = self.candidates.first() else { return "" };
        let mut common = first.text.as_str();
        for candidate in &self.candidates {
            let same = common.char_indices().zip(candidate.text.chars());
            let end = same.take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8()).last();
            common = &common[..end.unwrap_or(0)];
        }
        // A backslash alone would change what is typed after it.
        match common.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 {
            1 => &common[..common.len() - 1],
            _ => common,
        }
    }
}

/// A choice that is being made.
#[derive(Clone, Debug)]
pub(crate) struct Menu {
    pub(super) completion: Completion,
    /// Which one is in the text now, if any is.
    pub(super) chosen: Option<usize>,
}

impl Menu {
    pub(super) fn new(completion: Completion) -> Self {
        Self { completion, chosen: None }
    }

    /// Goes to the next one, or backward to the one before.
    pub(super) fn turn(&mut self, backward: bool) -> &Candidate {
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

    /// The lines to show: columns as wide as the longest candidate, as many rows as fit with the chosen one among them.
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

    fn completion(texts: &[&str]) -> Completion {
        let candidate =
            |text: &&str| Candidate { shown: (*text).to_owned(), text: (*text).to_owned(), tail: " " };
        Completion { start: 0, candidates: texts.iter().map(candidate).collect() }
    }

    #[test]
    fn what_is_common() {
        assert_eq!(completion(&["checkout", "cherry", "check"]).common(), "che");
        assert_eq!(completion(&["über", "übrig"]).common(), "üb");
        assert_eq!(completion(&["a", "b"]).common(), "");
        assert_eq!(completion(&["a\\ b", "a\\(c"]).common(), "a");
    }

    #[test]
    fn the_chosen_one_is_always_shown() {
        let names: Vec<String> = (0..500).map(|number| format!("file-{number:03}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut menu = Menu::new(completion(&names));
        assert_eq!(menu.turn(true).text, "file-499");
        let lines = menu.lines(40, 10);
        assert!(lines.len() <= 6 && lines.iter().any(|line| line.contains("\x1b[7mfile-499")), "{lines:?}");
        assert_eq!(menu.turn(false).text, "file-000");
    }
}
