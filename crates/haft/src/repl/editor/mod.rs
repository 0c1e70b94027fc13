//! A line editor for a terminal that is shared with programs.
//!
//! It reads no more than one entry, so that input typed ahead reaches the program that runs next. An entry can have several
//! lines: Enter starts another one while the text is incomplete.

mod actions;
mod bindings;
mod buffer;
mod keys;
mod menu;
mod screen;
mod search;
mod terminal;
mod vi;
mod vi_text;

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

pub(crate) use bindings::{BoundAction, KeyBindings};
use buffer::EditBuffer;
pub(crate) use keys::EditorKey;
use menu::CompletionMenu;
pub(crate) use menu::{CompletionCandidate, CompletionList};
pub(crate) use screen::TextStyle;
use screen::{Screen, ScreenContent};
use search::HistorySearch;
use terminal::{KeyInput, RawTerminal};
use vi::ViState;

use super::signals::TerminalEvents;

/// Answers the editor's questions about the text.
pub(crate) trait Assistant {
    /// Whether the text is complete, so that Enter runs it.
    fn is_complete(&self, text: &str) -> bool;

    /// The styled parts of the text, in order.
    fn highlight(&self, text: &str) -> Vec<(Range<usize>, TextStyle)>;

    /// The completions at the cursor.
    fn complete(&self, text: &str, cursor: usize) -> CompletionList;

    /// Runs a shell command that is bound to a key. Returns the text and the cursor that it has set.
    fn run_command(&self, command: &str, text: &str, cursor: usize) -> (String, usize);
}

/// The result of editing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditResult {
    /// A text to run.
    Text(String),
    /// Ctrl-C: the text was discarded.
    Interrupted,
    /// Ctrl-D on an empty line.
    End,
    /// The terminal has hung up.
    Gone,
}

/// The prompts before the first line and before further lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompts<'a> {
    pub(crate) first: &'a str,
    pub(crate) next: &'a str,
}

/// The editor.
pub(crate) struct Editor<'a> {
    input: KeyInput<'a>,
    output: BorrowedFd<'a>,
    assistant: &'a dyn Assistant,
    /// Earlier entries, the latest last.
    history: &'a [String],
    prompts: Prompts<'a>,
    bindings: &'a KeyBindings,
    vi: ViState,
    /// The raw mode of the terminal, while it is edited.
    raw: Option<RawTerminal<'a>>,
    buffer: EditBuffer,
    screen: Screen,
    /// The index of the text in the history; its length for a new text.
    entry: usize,
    /// The new text while an earlier entry is shown.
    new: String,
    search: Option<HistorySearch>,
    menu: Option<CompletionMenu>,
    /// How many entries back Alt-. has gone, and the position of its insertion.
    recalled: Option<(usize, usize)>,
}

/// The effect of a key.
enum KeyEffect {
    Draw,
    Done(EditResult),
}

impl<'a> Editor<'a> {
    pub(crate) fn new(
        terminal: BorrowedFd<'a>,
        output: BorrowedFd<'a>,
        events: &'a TerminalEvents,
        assistant: &'a dyn Assistant,
        history: &'a [String],
        prompts: Prompts<'a>,
        bindings: &'a KeyBindings,
    ) -> Self {
        Self {
            input: KeyInput::new(terminal, events),
            output,
            assistant,
            history,
            prompts,
            bindings,
            vi: ViState::default(),
            raw: None,
            buffer: EditBuffer::default(),
            screen: Screen::default(),
            entry: history.len(),
            new: String::new(),
            search: None,
            menu: None,
            recalled: None,
        }
    }

    /// Reads a text, which may have several lines.
    pub(crate) fn read(mut self) -> io::Result<EditResult> {
        self.raw = Some(RawTerminal::enter(self.input.terminal)?);
        let (columns, _) = terminal::size(self.output);
        terminal::write(self.output, &(Screen::fresh_row(columns) + "\x1b[?2004h"));
        let line = self.edit();
        self.finish();
        self.raw = None;
        // With the cursor below the text, Ctrl-C belongs to the command that runs.
        terminal::write(self.output, "\x1b[?2004l\r\n");
        line
    }

    fn edit(&mut self) -> io::Result<EditResult> {
        self.draw();
        loop {
            let table = if self.vi.is_command { &self.bindings.command } else { &self.bindings.insertion };
            let key = match bindings::read(&self.input, table)? {
                Some(key) => key,
                None => keys::read(&self.input)?,
            };
            match self.press(key) {
                KeyEffect::Done(line) => return Ok(line),
                // Pending keys are handled before the screen is drawn.
                KeyEffect::Draw if self.input.has_more() => {}
                KeyEffect::Draw => self.draw(),
            }
        }
    }

    /// Draws the final text, with the cursor at its end.
    fn finish(&mut self) {
        self.menu = None;
        self.search = None;
        self.buffer.move_to(usize::MAX);
        self.draw();
    }

    fn draw(&mut self) {
        let (columns, rows) = terminal::size(self.output);
        let styles = self.assistant.highlight(self.buffer.text());
        let searching = self.search.as_ref().map(HistorySearch::prompt);
        let below = self.menu.as_ref().map(|menu| menu.lines(columns, rows)).unwrap_or_default();
        let picture = ScreenContent {
            prompt: searching.as_deref().unwrap_or(self.prompts.first),
            continuation: self.prompts.next,
            text: self.buffer.text(),
            styles: &styles,
            cursor: self.buffer.cursor(),
            below: &below,
        };
        terminal::write(self.output, &self.screen.draw(&picture, columns, rows));
    }

    fn ring_bell(&self) {
        terminal::write(self.output, "\x07");
    }
}
