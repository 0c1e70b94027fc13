//! What a person sees while editing: prompt, text, and below it what could be meant.
//!
//! Every change draws everything anew, in one write: from the first row of the prompt on, all below is cleared and
//! written. Rows are broken here and not by the terminal, so that it is always known where the cursor is.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

/// What a part of the text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    /// A command that is there.
    Command,
    /// A command that nobody knows.
    Unknown,
    /// A reserved word.
    Keyword,
    /// Something in quotes.
    Quoted,
    /// A variable, or another expansion.
    Expansion,
    Comment,
    /// What is wrong.
    Wrong,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Command => "\x1b[32m",
            Style::Unknown => "\x1b[31m",
            Style::Keyword => "\x1b[35m",
            Style::Quoted => "\x1b[33m",
            Style::Expansion => "\x1b[36m",
            Style::Comment => "\x1b[2m",
            Style::Wrong => "\x1b[4;31m",
        }
    }
}

const RESET: &str = "\x1b[0m";

/// What is to be seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Picture<'a> {
    /// With its escape sequences; it may have several lines.
    pub(crate) prompt: &'a str,
    /// What stands before every further line of the text.
    pub(crate) continuation: &'a str,
    pub(crate) text: &'a str,
    /// Parts of the text that are not plain, in order.
    pub(crate) styles: &'a [(Range<usize>, Style)],
    pub(crate) cursor: usize,
    /// Lines below the text.
    pub(crate) below: &'a [String],
}

/// What was drawn last.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The widths of the rows from the first to the one with the cursor.
    widths: Vec<usize>,
    column: usize,
}

impl Screen {
    /// The text that puts a new prompt at the beginning of a row, whatever was written before: a mark that shows only
    /// if the row was not empty, and blanks that reach just to the next one.
    pub(crate) fn fresh_row(columns: usize) -> String {
        format!("\x1b[2m⏎{RESET}{}\r\x1b[K", " ".repeat(columns.saturating_sub(1)))
    }

    /// Nothing of what was drawn is to be drawn over.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The text that draws a picture over the one before.
    pub(crate) fn draw(&mut self, picture: &Picture<'_>, columns: usize, rows: usize) -> String {
        let laid = Layout::of(picture, columns);
        let first = first_visible(laid.rows.len(), laid.cursor.0, rows);
        let shown = &laid.rows[first..laid.rows.len().min(first + rows)];
        let mut out = String::from("\x1b[?25l");
        up(&mut out, self.rows_above(columns));
        out.push_str("\r\x1b[J");
        for (index, row) in shown.iter().enumerate() {
            if index > 0 {
                out.push_str("\r\n");
            }
            out.push_str(&row.text);
        }
        let (row, column) = (laid.cursor.0 - first, laid.cursor.1);
        up(&mut out, shown.len() - 1 - row);
        out.push('\r');
        if column > 0 {
            out.push_str(&format!("\x1b[{column}C"));
        }
        out.push_str("\x1b[?25h");
        self.widths = shown[..=row].iter().map(|row| row.width).collect();
        self.column = column;
        out
    }

    /// How many rows of a window this wide are above the cursor. One that became narrower has broken rows in two.
    fn rows_above(&self, columns: usize) -> usize {
        let Some((_, before)) = self.widths.split_last() else { return 0 };
        before.iter().map(|width| width.div_ceil(columns).max(1)).sum::<usize>() + self.column / columns
    }
}

fn up(out: &mut String, rows: usize) {
    if rows > 0 {
        out.push_str(&format!("\x1b[{rows}A"));
    }
}

/// The first row to show of more than there is room for: the one with the cursor is shown, with as much above it as fits.
fn first_visible(count: usize, cursor: usize, room: usize) -> usize {
    match count <= room {
        true => 0,
        false => cursor.saturating_sub(room.saturating_sub(1).max(1) / 2).min(count - room),
    }
}

#[derive(Debug, Default)]
struct Row {
    text: String,
    width: usize,
}

/// Rows in the making.
#[derive(Debug)]
struct Layout {
    columns: usize,
    rows: Vec<Row>,
    style: Style,
    cursor: (usize, usize),
}

impl Layout {
    fn of(picture: &Picture<'_>, columns: usize) -> Self {
        let mut layout = Self { columns, rows: vec![Row::default()], style: Style::Plain, cursor: (0, 0) };
        layout.escaped(picture.prompt);
        layout.edited(picture);
        for line in picture.below {
            layout.next_row();
            layout.escaped(line);
        }
        layout
    }

    fn edited(&mut self, picture: &Picture<'_>) {
        let mut styles = picture.styles.iter().peekable();
        for (at, character) in picture.text.char_indices() {
            while styles.next_if(|(range, _)| range.end <= at).is_some() {}
            let style = styles.peek().filter(|(range, _)| range.start <= at).map(|(_, style)| *style);
            self.set_style(style.unwrap_or_default());
            if at == picture.cursor {
                self.mark_cursor(character.width().unwrap_or(1).max(1));
            }
            match character {
                '\n' => {
                    self.set_style(Style::Plain);
                    self.next_row();
                    self.escaped(picture.continuation);
                }
                '\t' => {
                    let width = 8 - self.last().width % 8;
                    (0..width).for_each(|_| self.character(' '));
                }
                character if character.is_control() => {
                    self.character('^');
                    self.character(char::from_u32(u32::from(character) ^ 0x40).unwrap_or('?'));
                }
                character => self.character(character),
            }
        }
        self.set_style(Style::Plain);
        if picture.cursor >= picture.text.len() {
            self.mark_cursor(1);
        }
    }

    /// Adds a text whose escape sequences are kept and take no room.
    fn escaped(&mut self, text: &str) {
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\x1b' => {
                    let sequence = escape_sequence(&mut characters);
                    self.last().text.push_str(&sequence);
                }
                '\n' => self.next_row(),
                character if character.is_control() => {}
                character => self.character(character),
            }
        }
    }

    fn last(&mut self) -> &mut Row {
        if self.rows.is_empty() {
            self.rows.push(Row::default());
        }
        let at = self.rows.len() - 1;
        &mut self.rows[at]
    }

    fn character(&mut self, character: char) {
        let width = character.width().unwrap_or(0);
        if self.last().width + width > self.columns {
            self.next_row();
        }
        let row = self.last();
        row.text.push(character);
        row.width += width;
    }

    fn next_row(&mut self) {
        let code = self.style.code();
        if !code.is_empty() {
            self.last().text.push_str(RESET);
        }
        self.rows.push(Row { text: code.to_owned(), width: 0 });
    }

    /// The cursor stands here, where a character of this width will be.
    fn mark_cursor(&mut self, width: usize) {
        if self.last().width + width > self.columns {
            self.next_row();
        }
        let column = self.last().width;
        self.cursor = (self.rows.len() - 1, column);
    }

    fn set_style(&mut self, style: Style) {
        if style == self.style {
            return;
        }
        if self.style != Style::Plain {
            self.last().text.push_str(RESET);
        }
        self.style = style;
        self.last().text.push_str(style.code());
    }
}

/// The rest of an escape sequence: of colours, or up to its end for those that set a title.
fn escape_sequence(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut sequence = String::from("\x1b");
    let Some(kind) = rest.next() else { return String::new() };
    sequence.push(kind);
    match kind {
        '[' => {
            for character in rest.by_ref() {
                sequence.push(character);
                if ('@'..='~').contains(&character) {
                    break;
                }
            }
        }
        ']' => {
            while let Some(character) = rest.next() {
                sequence.push(character);
                if character == '\x07' {
                    break;
                }
                if character == '\x1b' {
                    sequence.extend(rest.next());
                    break;
                }
            }
        }
        _ => {}
    }
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws pictures one after the other and yields the screen and the place of the cursor.
    fn show(pictures: &[Picture<'_>], columns: u16, rows: u16) -> (String, (u16, u16)) {
        let mut terminal = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let mut screen = Screen::default();
        for picture in pictures {
            terminal.process(screen.draw(picture, columns.into(), rows.into()).as_bytes());
        }
        let text = terminal.screen().contents();
        (text.trim_end().to_owned(), terminal.screen().cursor_position())
    }

    fn picture(text: &str) -> Picture<'_> {
        Picture {
            prompt: "\x1b[1m$\x1b[0m ",
            continuation: "> ",
            text,
            cursor: text.len(),
            ..Picture::default()
        }
    }

    #[test]
    fn the_cursor_is_after_the_text() {
        assert_eq!(show(&[picture("ls")], 20, 5), ("$ ls".to_owned(), (0, 4)));
        assert_eq!(show(&[picture("if a\nthen")], 20, 5), ("$ if a\n> then".to_owned(), (1, 6)));
    }

    #[test]
    fn a_full_row_puts_the_cursor_on_the_next() {
        assert_eq!(show(&[picture("12345678")], 10, 5).1, (1, 0));
        assert_eq!(show(&[picture("123456789")], 10, 5), ("$ 12345678\n9".to_owned(), (1, 1)));
    }

    #[test]
    fn what_was_drawn_before_is_drawn_over() {
        let long = "0123456789012345678901234";
        let drawn = show(&[picture(long), picture("x\ny"), picture("short")], 10, 6);
        assert_eq!(drawn, ("$ short".to_owned(), (0, 7)));
    }

    #[test]
    fn of_more_rows_than_there_are_those_around_the_cursor_are_shown() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8";
        let (seen, _) = show(&[picture(text), picture(text)], 10, 4);
        assert_eq!(seen, "> 5\n> 6\n> 7\n> 8");
    }

    #[test]
    fn wide_characters_and_lines_below() {
        let below = ["one  two".to_owned()];
        let seen = show(&[Picture { below: &below, ..picture("日本") }], 20, 5);
        assert_eq!(seen, ("$ 日本\none  two".to_owned(), (0, 6)));
    }
}
