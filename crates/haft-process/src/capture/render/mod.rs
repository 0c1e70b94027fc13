//! VirtualTerminal output as the text a person would have seen.
//!
//! Carriage returns, backspaces, erasures and cursor movements are applied, colours dropped and trailing blanks removed: a
//! progress bar leaves its last state. Lines that scroll off the screen are final and go, in order, into an [`Output`] of
//! their own; a line wrapped at the edge of the screen is one line again. What a program drew on the alternate screen goes
//! with it, unless the program is still there at the end.
//!
//! Whatever the bytes, time is linear in their number and memory is bounded by the screen and the limits of the output.
//! Sequences that ask for more work than that, a hundred thousand erasures of the whole screen for instance, are left
//! out, and the text is marked as lossy.
//!
//! ```
//! use haft_process::capture::render::{VirtualTerminal, render};
//! use haft_process::capture::OutputView;
//!
//! let output = render(b"\x1b[32mbuilding\x1b[0m 10%\rbuilding 100%\r\ndone\r\n", VirtualTerminal::new(24, 80));
//! assert_eq!(output.slice(&OutputView::HeadAndTail, 1024)?.to_text().text, "building 100%\ndone\n");
//! # Ok::<(), haft_process::capture::Error>(())
//! ```

mod gate;
mod glyphs;
mod lines;

use std::num::NonZeroU16;

use vt100::capture::{BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents};

use self::gate::{Gate, Part};
use self::glyphs::Glyphs;
use self::lines::Lines;
use super::{CaptureLimits, Decoder, Error, Output};

/// The terminal that bytes were written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualTerminal {
    rows: NonZeroU16,
    columns: NonZeroU16,
    line_feed_returns: bool,
}

impl VirtualTerminal {
    /// A terminal of this size. Each side has a limit of 1000, and there are at least two columns, the least in which a
    /// wide character has a place.
    pub fn new(rows: u16, columns: u16) -> Self {
        let side =
            |length: u16, least: u16| NonZeroU16::new(length.clamp(least, 1000)).unwrap_or(NonZeroU16::MIN);
        Self { rows: side(rows, 1), columns: side(columns, 2), line_feed_returns: false }
    }

    /// A line feed goes to the start of the next line. A terminal driver does that by sending a carriage return first; for
    /// bytes that went through none, such as those of a pipe, say it here.
    #[must_use]
    pub fn line_feed_returns(self) -> Self {
        Self { line_feed_returns: true, ..self }
    }

    fn cells(self) -> u64 {
        u64::from(self.rows.get()) * u64::from(self.columns.get())
    }
}

/// Renders bytes that are there as a whole; of very long text, the first and the last mebibyte.
pub fn render(bytes: &[u8], terminal: VirtualTerminal) -> Output {
    let mut renderer = Renderer::new(terminal, Output::new(RENDERED, None));
    renderer.push(bytes);
    renderer.finish()
}

const RENDERED: CaptureLimits = CaptureLimits { head: 1 << 20, tail: 1 << 20, spill: 0 };

impl Output {
    /// Renders what is kept of this output so far, as [`render`] does. What is lost has a line of its own.
    ///
    /// # Errors
    /// When the spill file cannot be read back.
    pub fn rendered(&self, terminal: VirtualTerminal) -> Result<Self, Error> {
        const BLOCK: usize = 64 * 1024;
        let mut renderer = Renderer::new(terminal, Self::new(RENDERED, None));
        let end = self.total_bytes();
        let mut cursor = 0;
        while cursor < end {
            let growth = self.read_since(cursor, BLOCK)?;
            if growth.lost > 0 {
                renderer.push_note(&format!("[… {} bytes lost …]", growth.lost));
            }
            renderer.push(&growth.bytes);
            cursor = growth.next;
        }
        Ok(renderer.finish())
    }
}

/// Renders a stream as it comes.
pub struct Renderer {
    terminal: VirtualTerminal,
    parser: vt100::Parser<Scrolled>,
    decoder: Decoder,
    gate: Gate,
    drawn: String,
}

/// Takes the rows that leave the screen.
struct Scrolled {
    glyphs: Glyphs,
    lines: Lines,
    state: BasicFormattedCaptureState,
    rows: String,
}

impl vt100::Callbacks for Scrolled {
    fn on_scroll(&mut self, contents: RowContents<'_>, alternate_screen: bool) {
        if !alternate_screen {
            self.rows.clear();
            let _ = contents.write_formatted_basic(&mut self.rows, &mut self.state);
            self.lines.write(&self.glyphs.restore(&self.rows));
        }
    }
}

impl Renderer {
    /// A renderer with an empty screen, which writes its text to `output`.
    pub fn new(terminal: VirtualTerminal, output: Output) -> Self {
        let scrolled = Scrolled {
            glyphs: Glyphs::default(),
            lines: Lines::new(output),
            state: BasicFormattedCaptureState::new(),
            rows: String::new(),
        };
        Self {
            parser: vt100::Parser::new_with_callbacks(terminal.rows, terminal.columns, 0, scrolled),
            decoder: Decoder::new(),
            gate: Gate::new(terminal),
            drawn: String::new(),
            terminal,
        }
    }

    /// The text of the lines that have left the screen.
    pub fn output(&self) -> &Output {
        self.parser.callbacks().lines.output()
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        /// What is taken at a time, so that text in between is bounded.
        const PART: usize = 16 * 1024;
        for part in bytes.chunks(PART) {
            let mut text = String::with_capacity(part.len());
            self.decoder.push(part, &mut text);
            self.process(&text);
        }
        self.parser.callbacks_mut().lines.flush();
    }

    /// The terminal has got another size.
    pub fn resize(&mut self, terminal: VirtualTerminal) {
        self.settle();
        // Rows that have left the screen are final: with nothing to scroll back, a taller screen fetches none of them.
        self.parser.screen_mut().clear_scrollback();
        self.parser.set_size(terminal.rows, terminal.columns);
        self.gate.resize(terminal);
        self.terminal = terminal;
        self.parser.callbacks_mut().lines.flush();
    }

    /// What is on the screen now, without trailing blanks.
    pub fn screen(&mut self) -> String {
        self.settle();
        let rows = self.parser.screen().rows(0, self.terminal.columns.get());
        let glyphs = &self.parser.callbacks().glyphs;
        let text: Vec<_> = rows.map(|row| glyphs.restore(row.trim_end()).into_owned()).collect();
        text.join("\n").trim_end_matches('\n').to_owned()
    }

    /// Adds what is on the screen to the output and finishes it.
    pub fn finish(mut self) -> Output {
        let mut rest = String::new();
        self.decoder.finish(&mut rest);
        self.process(&rest);
        let alternate = self.leave_alternate_screen();
        self.flush_screen();
        let scrolled = self.parser.callbacks_mut();
        if let Some(alternate) = alternate {
            scrolled.lines.end_line();
            scrolled.lines.write(&alternate);
        }
        scrolled.lines.flush();
        let output = scrolled.lines.output().clone();
        if self.decoder.lossy() || self.gate.refused() || scrolled.glyphs.overflowed() {
            output.state().lossy = true;
        }
        output.finish();
        output
    }

    fn process(&mut self, text: &str) {
        let Self { parser, gate, drawn, .. } = self;
        gate.pass(text, |part| match part {
            Part::Text(text) => {
                parser.callbacks_mut().glyphs.draw(text, drawn);
                parser.process(drawn.as_bytes());
                drawn.clear();
            }
            Part::Control(bytes) => {
                parser.callbacks_mut().glyphs.settle(drawn);
                parser.process(drawn.as_bytes());
                drawn.clear();
                parser.process(bytes);
            }
        });
    }

    /// Draws the last character, which waits for marks.
    fn settle(&mut self) {
        self.parser.callbacks_mut().glyphs.settle(&mut self.drawn);
        self.parser.process(self.drawn.as_bytes());
        self.drawn.clear();
    }

    /// Writes a line of our own, whatever state the terminal is in.
    fn push_note(&mut self, note: &str) {
        self.process(&format!("\x18\r\n{note}\r\n"));
    }

    /// Goes back to the main screen. Returns what was on the other one, if that was shown.
    fn leave_alternate_screen(&mut self) -> Option<String> {
        self.settle();
        let alternate = self.parser.screen().alternate_screen().then(|| self.screen());
        if alternate.is_some() {
            self.parser.process(b"\x18\x1b[?47l");
        }
        alternate
    }

    /// Hands over the rows of the screen. The last line has ended if the cursor is below it.
    fn flush_screen(&mut self) {
        let screen = self.parser.screen();
        let rows = screen.rows(0, self.terminal.columns.get());
        let last = rows.enumerate().filter(|(_, row)| !row.trim_end().is_empty()).last();
        let ended = last.is_none_or(|(row, _)| usize::from(screen.cursor_position().0) > row);
        let mut state = self.parser.callbacks().state.clone();
        let mut drawn = String::new();
        let range = BasicFormattedCaptureRange::Full(&mut state);
        let _ = self.parser.screen().write_contents_formatted_basic(&mut drawn, range);
        let scrolled = self.parser.callbacks_mut();
        scrolled.lines.write(&scrolled.glyphs.restore(&drawn));
        if ended {
            scrolled.lines.end_line();
        }
    }
}

impl std::fmt::Debug for Renderer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Renderer").field("terminal", &self.terminal).finish_non_exhaustive()
    }
}
