//! The text that is edited, with a cursor in it.

use unicode_width::UnicodeWidthChar as _;

/// How many states one can go back to.
const UNDO: usize = 200;
/// The same for a text that is large.
const UNDO_LARGE: usize = 5;
const LARGE: usize = 16 << 10;

/// A text with a cursor, which is always at the boundary of a character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    cursor: usize,
    undo: Vec<(String, usize)>,
    /// What was cut last.
    cut: String,
    /// Whether the last change was the insertion of a single character, so that the next one belongs to it.
    typing: bool,
}

impl Buffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Replaces everything; the cursor is at the end.
    pub(crate) fn set(&mut self, text: impl Into<String>) {
        self.remember();
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
            self.remember();
        }
        self.text.insert(self.cursor, character);
        self.cursor += character.len_utf8();
        self.typing = true;
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.remember();
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces what stands from `start` to the cursor.
    pub(crate) fn replace_before(&mut self, start: usize, text: &str) {
        self.remember();
        self.text.replace_range(start..self.cursor, text);
        self.cursor = start + text.len();
    }

    /// Removes a part of the text; the cursor is there then.
    pub(crate) fn remove(&mut self, start: usize, end: usize) -> bool {
        if start >= end {
            return false;
        }
        self.remember();
        self.text.replace_range(start..end, "");
        self.cursor = start;
        true
    }

    /// Removes a part of the text and keeps it to be put in again.
    pub(crate) fn cut(&mut self, start: usize, end: usize) {
        if start < end {
            self.cut = self.text[start..end].to_owned();
            self.remove(start, end);
        }
    }

    /// Puts in what was cut last.
    pub(crate) fn paste_cut(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    /// Exchanges the two characters around the cursor.
    pub(crate) fn transpose(&mut self) {
        let at = if self.cursor == self.text.len() { self.left() } else { self.cursor };
        let Some(second) = self.text[at..].chars().next() else { return };
        let Some(first) = self.text[..at].chars().next_back() else { return };
        self.remember();
        let start = at - first.len_utf8();
        let end = at + second.len_utf8();
        self.text.replace_range(start..end, &format!("{second}{first}"));
        self.cursor = end;
    }

    /// Goes back to what was before the last change.
    pub(crate) fn undo(&mut self) -> bool {
        let Some((text, cursor)) = self.undo.pop() else { return false };
        self.text = text;
        self.cursor = cursor;
        self.typing = false;
        true
    }

    fn remember(&mut self) {
        self.typing = false;
        let kept = if self.text.len() > LARGE { UNDO_LARGE } else { UNDO };
        if self.undo.len() >= kept {
            self.undo.drain(..=self.undo.len() - kept);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }

    /// The place one character to the left, with what is combined with it.
    pub(crate) fn left(&self) -> usize {
        let mut place = self.cursor;
        for character in self.before_cursor().chars().rev() {
            place -= character.len_utf8();
            if character.width() != Some(0) {
                break;
            }
        }
        place
    }

    /// The place one character to the right, with what is combined with it.
    pub(crate) fn right(&self) -> usize {
        let mut place = self.cursor;
        for (index, character) in self.text[self.cursor..].chars().enumerate() {
            if index > 0 && character.width() != Some(0) {
                break;
            }
            place += character.len_utf8();
        }
        place
    }

    /// The beginning of the word before the cursor: of letters and digits.
    pub(crate) fn word_left(&self) -> usize {
        let before = self.before_cursor().trim_end_matches(|c: char| !c.is_alphanumeric());
        before.trim_end_matches(char::is_alphanumeric).len()
    }

    /// The end of the word after the cursor.
    pub(crate) fn word_right(&self) -> usize {
        let after = self.text[self.cursor..].trim_start_matches(|c: char| !c.is_alphanumeric());
        self.text.len() - after.trim_start_matches(char::is_alphanumeric).len()
    }

    /// The beginning of what stands between blanks before the cursor.
    pub(crate) fn blank_left(&self) -> usize {
        let before = self.before_cursor().trim_end();
        before.trim_end_matches(|c: char| !c.is_whitespace()).len()
    }

    /// Where the line that the cursor is in begins.
    pub(crate) fn line_start(&self) -> usize {
        self.before_cursor().rfind('\n').map_or(0, |at| at + 1)
    }

    /// Where it ends.
    pub(crate) fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// Moves to the line above, to the same column as far as it is there; says whether there is one.
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

    /// Moves to the line below; says whether there is one.
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

    fn buffer(text: &str) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.set(text);
        buffer
    }

    #[test]
    fn words_are_cut_and_put_in_again() {
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
    fn lines_are_left_upward_and_downward() {
        let mut text = buffer("first line\nab\nthird");
        assert!(text.line_up());
        assert_eq!(text.cursor(), "first line\nab".len());
        assert!(text.line_up() && !text.line_up());
        assert_eq!(text.cursor(), 2);
        assert!(text.line_down() && text.line_down() && !text.line_down());
    }

    #[test]
    fn what_is_combined_stays_together() {
        let mut text = buffer("e\u{301}x");
        text.move_to(text.left());
        text.move_to(text.left());
        assert_eq!(text.cursor(), 0);
        assert_eq!(text.right(), "e\u{301}".len());
        text.move_to(3);
        text.transpose();
        assert_eq!(text.text().chars().count(), 3);
    }

    #[test]
    fn typing_is_undone_word_by_word() {
        let mut text = buffer("");
        "ls -l".chars().for_each(|character| text.type_character(character));
        assert!(text.undo());
        assert_eq!(text.text(), "ls");
    }
}
