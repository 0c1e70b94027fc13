//! Draws the prompt, the text and the completion menu below it.
//!
//! Every change redraws everything in one write, from the first row of the prompt on. The editor breaks rows itself, so that
//! it always knows the position of the cursor.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

/// The style of a part of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextStyle {
    #[default]
    Plain,
    /// A command that exists.
    Command,
    /// A command that does not exist.
    Unknown,
    /// A reserved word.
    Keyword,
    /// Quoted text.
    Quoted,
    /// A variable, or another expansion.
    Expansion,
    Comment,
    /// A syntax error.
    Wrong,
}

impl TextStyle {
    fn code(self) -> &'static str {
        match self {
            TextStyle::Plain => "",
            TextStyle::Command => "\x1b[32m",
            TextStyle::Unknown => "\x1b[31m",
            TextStyle::Keyword => "\x1b[35m",
            TextStyle::Quoted => "\x1b[33m",
            TextStyle::Expansion => "\x1b[36m",
            TextStyle::Comment => "\x1b[2m",
            TextStyle::Wrong => "\x1b[4;31m",
        }
    }
}

const RESET: &str = "\x1b[0m";

/// The content to draw.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScreenContent<'a> {
    /// Can contain escape sequences and newlines.
    pub(crate) prompt: &'a str,
    /// The prompt of every further line.
    pub(crate) continuation: &'a str,
    pub(crate) text: &'a str,
    /// The styled parts of the text, in order.
    pub(crate) styles: &'a [(Range<usize>, TextStyle)],
    pub(crate) cursor: usize,
    /// Lines below the text.
    pub(crate) below: &'a [String],
}

/// The rows that were drawn last.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The widths of the rows from the first to the one with the cursor.
    widths: Vec<usize>,
    column: usize,
}

impl Screen {
    /// The text that moves to the start of an empty row. Its mark stays visible only if the previous row was not empty.
    pub(crate) fn fresh_row(columns: usize) -> String {
        format!("\x1b[2m⏎{RESET}{}\r\x1b[K", " ".repeat(columns.saturating_sub(1)))
    }

    /// Forgets the drawn rows, so that nothing is drawn over.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The text that draws new content over the old one.
    pub(crate) fn draw(&mut self, content: &ScreenContent<'_>, columns: usize, rows: usize) -> String {
        let laid = ScreenLayout::of(content, columns);
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

    /// The number of rows above the cursor in a window of this width. A window that became narrower has wrapped rows.
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

/// The first visible row if not all rows fit: the cursor's row stays visible, half-way down.
fn first_visible(count: usize, cursor: usize, room: usize) -> usize {
    match count <= room {
        true => 0,
        false => cursor.saturating_sub(room.saturating_sub(1).max(1) / 2).min(count - room),
    }
}

#[derive(Debug, Default)]
struct ScreenRow {
    text: String,
    width: usize,
}

/// The rows of the content, and the position of the cursor.
#[derive(Debug)]
struct ScreenLayout {
    columns: usize,
    rows: Vec<ScreenRow>,
    style: TextStyle,
    cursor: (usize, usize),
}

impl ScreenLayout {
    fn of(content: &ScreenContent<'_>, columns: usize) -> Self {
        let mut layout =
            Self { columns, rows: vec![ScreenRow::default()], style: TextStyle::Plain, cursor: (0, 0) };
        layout.escaped(content.prompt);
        layout.edited(content);
        for line in content.below {
            layout.next_row();
            layout.escaped(line);
        }
        layout
    }

    fn edited(&mut self, content: &ScreenContent<'_>) {
        let mut styles = content.styles.iter().peekable();
        for (at, character) in content.text.char_indices() {
            while styles.next_if(|(range, _)| range.end <= at).is_some() {}
            let style = styles.peek().filter(|(range, _)| range.start <= at).map(|(_, style)| *style);
            self.set_style(style.unwrap_or_default());
            if at == content.cursor {
                self.mark_cursor(character.width().unwrap_or(1).max(1));
            }
            match character {
                '\n' => {
                    self.set_style(TextStyle::Plain);
                    self.next_row();
                    self.escaped(content.continuation);
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
        self.set_style(TextStyle::Plain);
        if content.cursor >= content.text.len() {
            self.mark_cursor(1);
        }
    }

    /// Adds a text with escape sequences, which have no width.
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

    fn last(&mut self) -> &mut ScreenRow {
        if self.rows.is_empty() {
            self.rows.push(ScreenRow::default());
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
        self.rows.push(ScreenRow { text: code.to_owned(), width: 0 });
    }

    /// Puts the cursor here, before a character of this width.
    fn mark_cursor(&mut self, width: usize) {
        if self.last().width + width > self.columns {
            self.next_row();
        }
        let column = self.last().width;
        self.cursor = (self.rows.len() - 1, column);
    }

    fn set_style(&mut self, style: TextStyle) {
        if style == self.style {
            return;
        }
        if self.style != TextStyle::Plain {
            self.last().text.push_str(RESET);
        }
        self.style = style;
        self.last().text.push_str(style.code());
    }
}

/// Reads the rest of an escape sequence: CSI up to its final byte, OSC up to its terminator.
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

    /// Draws contents one after the other. Returns the screen and the cursor's position.
    fn show(contents: &[ScreenContent<'_>], columns: u16, rows: u16) -> (String, (u16, u16)) {
        let mut terminal = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        let mut screen = Screen::default();
        for content in contents {
            terminal.process(screen.draw(content, columns.into(), rows.into()).as_bytes());
        }
        let text = terminal.screen().contents();
        (text.trim_end().to_owned(), terminal.screen().cursor_position())
    }

    fn content(text: &str) -> ScreenContent<'_> {
        ScreenContent {
            prompt: "\x1b[1m$\x1b[0m ",
            continuation: "> ",
            text,
            cursor: text.len(),
            ..ScreenContent::default()
        }
    }

    #[test]
    fn the_cursor_is_after_the_text() {
        assert_eq!(show(&[content("ls")], 20, 5), ("$ ls".to_owned(), (0, 4)));
        assert_eq!(show(&[content("if a\nthen")], 20, 5), ("$ if a\n> then".to_owned(), (1, 6)));
    }

    #[test]
    fn a_full_row_puts_the_cursor_on_the_next() {
        assert_eq!(show(&[content("12345678")], 10, 5).1, (1, 0));
        assert_eq!(show(&[content("123456789")], 10, 5), ("$ 12345678\n9".to_owned(), (1, 1)));
    }

    #[test]
    fn new_content_replaces_the_old() {
        let long = "0123456789012345678901234";
        let drawn = show(&[content(long), content("x\ny"), content("short")], 10, 6);
        assert_eq!(drawn, ("$ short".to_owned(), (0, 7)));
    }

    #[test]
    fn rows_around_the_cursor_are_visible() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8";
        let (seen, _) = show(&[content(text), content(text)], 10, 4);
        assert_eq!(seen, "> 5\n> 6\n> 7\n> 8");
    }

    #[test]
    fn wide_characters_and_lines_below() {
        let below = ["one  two".to_owned()];
        let seen = show(&[ScreenContent { below: &below, ..content("日本") }], 20, 5);
        assert_eq!(seen, ("$ 日本\none  two".to_owned(), (0, 6)));
    }
}
