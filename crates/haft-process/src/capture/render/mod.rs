//! Renders terminal output as the text that a person would have seen.
//!
//! Carriage returns, backspaces, erasures and cursor movements are applied; colours and trailing spaces are removed. Of a
//! progress bar, the last state remains. Lines that scroll off the screen are final and are appended to an [`Output`]. A line
//! that was wrapped at the edge of the screen becomes one line again. The alternate screen is dropped, unless it is still
//! shown at the end.
//!
//! Time is linear in the number of bytes, and memory is bounded by the screen and the limits of the output. Control sequences
//! that need more work, such as a hundred thousand erasures of the whole screen, are skipped, and the text is marked as lossy.
//!
//! ```
//! use haft_process::capture::render::{VirtualTerminal, render};
//! use haft_process::capture::OutputView;
//!
//! let output = render(b"\x1b[32mbuilding\x1b[0m 10%\rbuilding 100%\r\ndone\r\n", VirtualTerminal::new(24, 80));
//! assert_eq!(output.slice(&OutputView::HeadAndTail, 1024)?.to_text().text, "building 100%\ndone\n");
//! # Ok::<(), haft_process::capture::Error>(())
//! ```

mod glyphs;
mod line_writer;
mod work_limiter;

use std::num::NonZeroU16;

use vt100::capture::{BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents};

use self::glyphs::Glyphs;
use self::line_writer::LineWriter;
use self::work_limiter::{InputPart, WorkLimiter};
use super::{CaptureLimits, Decoder, Error, Output};

/// The terminal for which the bytes were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualTerminal {
    rows: NonZeroU16,
    columns: NonZeroU16,
    line_feed_returns: bool,
}

impl VirtualTerminal {
    /// Makes a terminal. Rows and columns are limited to 1000, with at least one row and the two columns of a wide character.
    pub fn new(rows: u16, columns: u16) -> Self {
        const MAX_SIDE: u16 = 1000;
        let side = |length: u16, minimum: u16| {
            NonZeroU16::new(length.clamp(minimum, MAX_SIDE)).unwrap_or(NonZeroU16::MIN)
        };
        Self { rows: side(rows, 1), columns: side(columns, 2), line_feed_returns: false }
    }

    /// Makes a line feed move to the start of the next line, for bytes from a pipe. A terminal driver does that itself by adding
    /// a carriage return.
    #[must_use]
    pub fn line_feed_returns(self) -> Self {
        Self { line_feed_returns: true, ..self }
    }

    fn cells(self) -> u64 {
        u64::from(self.rows.get()) * u64::from(self.columns.get())
    }
}

/// Renders complete output. Keeps the first and the last mebibyte of very long text.
pub fn render(bytes: &[u8], terminal: VirtualTerminal) -> Output {
    let mut renderer = Renderer::new(terminal, Output::new(RENDERED_LIMITS, None));
    renderer.push(bytes);
    renderer.finish()
}

/// Limits of rendered text.
const RENDERED_LIMITS: CaptureLimits = CaptureLimits { head: 1 << 20, tail: 1 << 20, spill: 0 };

impl Output {
    /// Renders the kept bytes of this output like [`render`], with a line for lost bytes.
    ///
    /// # Errors
    /// Fails if the spill file cannot be read.
    pub fn rendered(&self, terminal: VirtualTerminal) -> Result<Self, Error> {
        const READ_BLOCK_BYTES: usize = 64 * 1024;
        let mut renderer = Renderer::new(terminal, Self::new(RENDERED_LIMITS, None));
        let end = self.total_bytes();
        let mut cursor = 0;
        while cursor < end {
            let growth = self.read_since(cursor, READ_BLOCK_BYTES)?;
            if growth.lost > 0 {
                renderer.push_note(&format!("[… {} bytes lost …]", growth.lost));
            }
            renderer.push(&growth.bytes);
            cursor = growth.next;
        }
        Ok(renderer.finish())
    }
}

/// Renders a stream incrementally.
pub struct Renderer {
    terminal: VirtualTerminal,
    parser: vt100::Parser<ScrolledRows>,
    decoder: Decoder,
    limiter: WorkLimiter,
    drawn: String,
}

/// Receives the rows that scroll off the screen.
struct ScrolledRows {
    glyphs: Glyphs,
    lines: LineWriter,
    state: BasicFormattedCaptureState,
    rows: String,
}

impl vt100::Callbacks for ScrolledRows {
    fn on_scroll(&mut self, contents: RowContents<'_>, alternate_screen: bool) {
        if !alternate_screen {
            self.rows.clear();
            let _ = contents.write_formatted_basic(&mut self.rows, &mut self.state);
            self.lines.write(&self.glyphs.restore(&self.rows));
        }
    }
}

impl Renderer {
    /// Makes a renderer with an empty screen that writes to `output`.
    pub fn new(terminal: VirtualTerminal, output: Output) -> Self {
        let scrolled = ScrolledRows {
            glyphs: Glyphs::default(),
            lines: LineWriter::new(output),
            state: BasicFormattedCaptureState::new(),
            rows: String::new(),
        };
        Self {
            parser: vt100::Parser::new_with_callbacks(terminal.rows, terminal.columns, 0, scrolled),
            decoder: Decoder::new(),
            limiter: WorkLimiter::new(terminal),
            drawn: String::new(),
            terminal,
        }
    }

    /// Returns the text of the lines that have scrolled off the screen.
    pub fn output(&self) -> &Output {
        self.parser.callbacks().lines.output()
    }

    /// Renders the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        /// Bytes that are decoded at once.
        const DECODE_BLOCK_BYTES: usize = 16 * 1024;
        for part in bytes.chunks(DECODE_BLOCK_BYTES) {
            let mut text = String::with_capacity(part.len());
            self.decoder.push(part, &mut text);
            self.process(&text);
        }
        self.parser.callbacks_mut().lines.flush();
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, terminal: VirtualTerminal) {
        self.flush_glyphs();
        // Rows that scrolled off are final. Without a scrollback, a taller screen does not bring them back.
        self.parser.screen_mut().clear_scrollback();
        self.parser.set_size(terminal.rows, terminal.columns);
        self.limiter.resize(terminal);
        self.terminal = terminal;
        self.parser.callbacks_mut().lines.flush();
    }

    /// Returns the text on the screen, without trailing spaces.
    pub fn screen(&mut self) -> String {
        self.flush_glyphs();
        let rows = self.parser.screen().rows(0, self.terminal.columns.get());
        let glyphs = &self.parser.callbacks().glyphs;
        let text: Vec<_> = rows.map(|row| glyphs.restore(row.trim_end()).into_owned()).collect();
        text.join("\n").trim_end_matches('\n').to_owned()
    }

    /// Appends the text on the screen to the output and finishes it.
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
        if self.decoder.lossy() || self.limiter.refused() || scrolled.glyphs.overflowed() {
            output.state().lossy = true;
        }
        output.finish();
        output
    }

    fn process(&mut self, text: &str) {
        let Self { parser, limiter, drawn, .. } = self;
        limiter.split(text, |part| match part {
            InputPart::Text(text) => {
                parser.callbacks_mut().glyphs.draw(text, drawn);
                parser.process(drawn.as_bytes());
                drawn.clear();
            }
            InputPart::Control(bytes) => {
                parser.callbacks_mut().glyphs.flush(drawn);
                parser.process(drawn.as_bytes());
                drawn.clear();
                parser.process(bytes);
            }
        });
    }

    /// Draws the last character, which combining marks could have followed.
    fn flush_glyphs(&mut self) {
        self.parser.callbacks_mut().glyphs.flush(&mut self.drawn);
        self.parser.process(self.drawn.as_bytes());
        self.drawn.clear();
    }

    /// Writes a note on its own line, and cancels a pending control sequence.
    fn push_note(&mut self, note: &str) {
        self.process(&format!("\x18\r\n{note}\r\n"));
    }

    /// Returns to the main screen. Returns the text of the alternate screen, if it was shown.
    fn leave_alternate_screen(&mut self) -> Option<String> {
        self.flush_glyphs();
        let alternate = self.parser.screen().alternate_screen().then(|| self.screen());
        if alternate.is_some() {
            self.parser.process(b"\x18\x1b[?47l");
        }
        alternate
    }

    /// Writes the rows of the screen. The last line is complete if the cursor is below it.
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
