//! A line editor that shares its terminal with programs.
//!
//! It takes from the terminal what a line needs and no more, so that what is typed ahead reaches the program that runs next.
//! A line is more than a row: Enter begins another one while the text is not complete.

mod actions;
mod buffer;
mod keys;
mod menu;
mod screen;
mod search;
mod terminal;

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use buffer::Buffer;
use menu::Menu;
pub(crate) use menu::{Candidate, Completion};
pub(crate) use screen::Style;
use screen::{Picture, Screen};
use search::Search;
use terminal::{Input, Raw};

use super::signals::Watch;

/// What the editor asks about the text.
pub(crate) trait Assistant {
    /// Whether the text can be run as it is, so that Enter ends it.
    fn is_complete(&self, text: &str) -> bool;

    /// The parts of the text that are not plain, in order.
    fn highlight(&self, text: &str) -> Vec<(Range<usize>, Style)>;

    /// What could stand at the cursor.
    fn complete(&self, text: &str, cursor: usize) -> Completion;
}

/// What came of editing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A text to be run.
    Text(String),
    /// Ctrl-C: the text was given up.
    Interrupted,
    /// Ctrl-D on an empty line.
    End,
    /// The terminal is gone.
    Gone,
}

/// What stands before the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompts<'a> {
    pub(crate) first: &'a str,
    pub(crate) next: &'a str,
}

/// The editor.
pub(crate) struct Editor<'a> {
    input: Input<'a>,
    output: BorrowedFd<'a>,
    assistant: &'a dyn Assistant,
    /// What was entered before, the last one last.
    history: &'a [String],
    prompts: Prompts<'a>,
    buffer: Buffer,
    screen: Screen,
    /// Where in the history the text comes from; its length if it is a new one.
    entry: usize,
    /// The new text while another one is looked at.
    new: String,
    search: Option<Search>,
    menu: Option<Menu>,
    /// How many arguments back Alt-. has gone, and where it has put the last.
    recalled: Option<(usize, usize)>,
}

/// What a key did.
enum Step {
    Draw,
    Done(Line),
}

impl<'a> Editor<'a> {
    pub(crate) fn new(
        terminal: BorrowedFd<'a>,
        output: BorrowedFd<'a>,
        watch: &'a Watch,
        assistant: &'a dyn Assistant,
        history: &'a [String],
        prompts: Prompts<'a>,
    ) -> Self {
        Self {
            input: Input { terminal, watch },
            output,
            assistant,
            history,
            prompts,
            buffer: Buffer::default(),
            screen: Screen::default(),
            entry: history.len(),
            new: String::new(),
            search: None,
            menu: None,
            recalled: None,
        }
    }

    /// Reads a text, which may have several lines.
    pub(crate) fn read(mut self) -> io::Result<Line> {
        let raw = Raw::enter(self.input.terminal)?;
        let (columns, _) = terminal::size(self.output);
        terminal::write(self.output, &(Screen::fresh_row(columns) + "\x1b[?2004h"));
        let line = self.edit();
        self.finish();
        drop(raw);
        // Once the cursor is below the text, Ctrl-C is for what runs.
        terminal::write(self.output, "\x1b[?2004l\r\n");
        line
    }

    fn edit(&mut self) -> io::Result<Line> {
        self.draw();
        loop {
            let key = keys::read(&self.input)?;
            match self.press(key) {
                Step::Done(line) => return Ok(line),
                // What comes faster than it can be drawn is drawn when it has come.
                Step::Draw if self.input.has_more() => {}
                Step::Draw => self.draw(),
            }
        }
    }

    /// Leaves the text as it was entered, and the cursor at its end.
    fn finish(&mut self) {
        self.menu = None;
        self.search = None;
        self.buffer.move_to(usize::MAX);
        self.draw();
    }

    fn draw(&mut self) {
        let (columns, rows) = terminal::size(self.output);
        let styles = self.assistant.highlight(self.buffer.text());
        let searching = self.search.as_ref().map(Search::prompt);
        let below = self.menu.as_ref().map(|menu| menu.lines(columns, rows)).unwrap_or_default();
        let picture = Picture {
            prompt: searching.as_deref().unwrap_or(self.prompts.first),
            continuation: self.prompts.next,
            text: self.buffer.text(),
            styles: &styles,
            cursor: self.buffer.cursor(),
            below: &below,
        };
        terminal::write(self.output, &self.screen.draw(&picture, columns, rows));
    }

    fn bell(&self) {
        terminal::write(self.output, "\x07");
    }
}
