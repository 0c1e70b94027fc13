//! The edited text and its cursor.

use unicode_segmentation::UnicodeSegmentation as _;

const MAX_UNDO_STATES: usize = 200;
/// The number of undo states of a text longer than [`LARGE_TEXT_BYTES`].
const MAX_UNDO_STATES_OF_LARGE_TEXT: usize = 5;
const LARGE_TEXT_BYTES: usize = 16 << 10;

/// A text with a cursor, which is always at a character boundary.
#[derive(Clone, Debug, Default)]
pub(crate) struct EditBuffer {
    text: String,
    cursor: usize,
    undo: Vec<(String, usize)>,
    /// The text that was cut last.
    cut: String,
    /// Whether the last change was a typed character. Undo removes characters typed in a row together.
    typing: bool,
}

impl EditBuffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Replaces the text, and moves the cursor to its end.
    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.save_undo_state();
        self.text = text.into();
        self.cursor = self.text.len();
    }

    pub(crate) fn move_to(&mut self, place: usize) {
        self.cursor = place.min(self.text.len());
        while !self.text.is_char_boundary(self.cursor) {
            self.cursor -= 1;
        }
        self.typing = false;
    }

    pub(crate) fn type_character(&mut self, character: char) {
        if !self.typing || character == ' ' {
            self.save_undo_state();
        }
        self.text.insert(self.cursor, character);
        self.cursor += character.len_utf8();
        self.typing = true;
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.save_undo_state();
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces the text from `start` to the cursor.
    pub(crate) fn replace_before(&mut self, start: usize, text: &str) {
        self.save_undo_state();
        self.text.replace_range(start..self.cursor, text);
        self.cursor = start + text.len();
    }

    /// Removes a part of the text, and moves the cursor there. Returns false for an empty part.
    pub(crate) fn remove(&mut self, start: usize, end: usize) -> bool {
        if start >= end {
            return false;
        }
        self.save_undo_state();
        self.text.replace_range(start..end, "");
        self.cursor = start;
        true
    }

    /// Removes a part of the text, and keeps it for [`paste_cut`](Self::paste_cut).
    pub(crate) fn cut(&mut self, start: usize, end: usize) {
        if start < end {
            self.cut = self.text[start..end].to_owned();
            self.remove(start, end);
        }
    }

    /// Keeps a part of the text for [`paste_cut`](Self::paste_cut).
    pub(crate) fn copy(&mut self, start: usize, end: usize) {
        self.cut = self.text[start..end].to_owned();
    }

    /// Inserts the text that was cut last.
    pub(crate) fn paste_cut(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    /// Swaps the grapheme clusters around the cursor; at the end of the text, the last two.
    pub(crate) fn transpose(&mut self) {
        let at = if self.cursor == self.text.len() { self.left() } else { self.cursor };
        let Some(second) = self.text[at..].graphemes(true).next() else { return };
        let Some(first) = self.text[..at].graphemes(true).next_back() else { return };
        let (start, end) = (at - first.len(), at + second.len());
        let swapped = format!("{second}{first}");
        self.save_undo_state();
        self.text.replace_range(start..end, &swapped);
        self.cursor = end;
    }

    /// Undoes the last change. Returns false if there is none.
    pub(crate) fn undo(&mut self) -> bool {
        let Some((text, cursor)) = self.undo.pop() else { return false };
        self.text = text;
        self.cursor = cursor;
        self.typing = false;
        true
    }

    fn save_undo_state(&mut self) {
        self.typing = false;
        let kept =
            if self.text.len() > LARGE_TEXT_BYTES { MAX_UNDO_STATES_OF_LARGE_TEXT } else { MAX_UNDO_STATES };
        if self.undo.len() >= kept {
            self.undo.drain(..=self.undo.len() - kept);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }

    /// The boundary of the grapheme cluster before the cursor.
    pub(crate) fn left(&self) -> usize {
        self.before_cursor().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    /// The boundary of the grapheme cluster after the cursor.
    pub(crate) fn right(&self) -> usize {
        let next = self.text[self.cursor..].graphemes(true).next();
        self.cursor + next.map_or(0, str::len)
    }

    /// The start of the word before the cursor. Words consist of letters and digits.
    pub(crate) fn word_left(&self) -> usize {
        let before = self.before_cursor().trim_end_matches(|c: char| !c.is_alphanumeric());
        before.trim_end_matches(char::is_alphanumeric).len()
    }

    /// The end of the word after the cursor.
    pub(crate) fn word_right(&self) -> usize {
        let after = self.text[self.cursor..].trim_start_matches(|c: char| !c.is_alphanumeric());
        self.text.len() - after.trim_start_matches(char::is_alphanumeric).len()
    }

    /// The start of the blank-separated word before the cursor.
    pub(crate) fn blank_left(&self) -> usize {
        let before = self.before_cursor().trim_end();
        before.trim_end_matches(|c: char| !c.is_whitespace()).len()
    }

    /// The start of the cursor's line.
    pub(crate) fn line_start(&self) -> usize {
        self.before_cursor().rfind('\n').map_or(0, |at| at + 1)
    }

    /// The end of the cursor's line.
    pub(crate) fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// Moves to the same column of the line above, or to its end. Returns false on the first line.
    pub(crate) fn line_up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let column = self.text[start..self.cursor].chars().count();
        let above = self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        self.move_to_column(above, start - 1, column);
        true
    }

    /// Moves to the same column of the line below, or to its end. Returns false on the last line.
    pub(crate) fn line_down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let column = self.text[self.line_start()..self.cursor].chars().count();
        let below_end = self.text[end + 1..].find('\n').map_or(self.text.len(), |at| end + 1 + at);
        self.move_to_column(end + 1, below_end, column);
        true
    }

    fn move_to_column(&mut self, start: usize, end: usize, column: usize) {
        let line = &self.text[start..end];
        let place = line.char_indices().nth(column).map_or(end, |(at, _)| start + at);
        self.move_to(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str) -> EditBuffer {
        let mut buffer = EditBuffer::default();
        buffer.set(text);
        buffer
    }

    #[test]
    fn cut_words_can_be_pasted() {
        let mut text = buffer("git commit --all");
        text.cut(text.blank_left(), text.cursor());
        assert_eq!(text.text(), "git commit ");
        text.cut(text.word_left(), text.cursor());
        assert_eq!(text.text(), "git ");
        text.paste_cut();
        assert_eq!(text.text(), "git commit ");
        while text.undo() {}
        assert_eq!(text.text(), "");
    }

    #[test]
    fn the_cursor_moves_up_and_down_between_lines() {
        let mut text = buffer("first line\nab\nthird");
        assert!(text.line_up());
        assert_eq!(text.cursor(), "first line\nab".len());
        assert!(text.line_up() && !text.line_up());
        assert_eq!(text.cursor(), 2);
        assert!(text.line_down() && text.line_down() && !text.line_down());
    }

    #[test]
    fn combining_characters_stay_with_their_base() {
        let mut text = buffer("e\u{301}x");
        text.move_to(text.left());
        text.move_to(text.left());
        assert_eq!(text.cursor(), 0);
        assert_eq!(text.right(), "e\u{301}".len());
        text.move_to(3);
        text.transpose();
        assert_eq!(text.text(), "xe\u{301}");
    }

    #[test]
    fn the_cursor_moves_over_whole_emoji() {
        for cluster in ["👩‍👩‍👧", "🇩🇪", "👍🏽", "각"] {
            let mut text = buffer(cluster);
            assert_eq!(text.left(), 0, "{cluster}");
            text.move_to(0);
            assert_eq!(text.right(), cluster.len(), "{cluster}");
        }
    }

    #[test]
    fn typing_is_undone_word_by_word() {
        let mut text = buffer("");
        "ls -l".chars().for_each(|character| text.type_character(character));
        assert!(text.undo());
        assert_eq!(text.text(), "ls");
    }
}
