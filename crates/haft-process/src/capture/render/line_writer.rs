use crate::capture::Output;

/// Writes rows of the screen to an output, without colours, trailing spaces and trailing empty lines. Spaces and newlines are
/// only counted until other text follows.
pub(super) struct LineWriter {
    output: Output,
    buffer: String,
    newlines: u64,
    blanks: u64,
    /// Whether the text is within a colour sequence, which ends with `m`.
    in_colour: bool,
    has_text: bool,
}

/// Buffer size at which text is appended to the output.
const FLUSH_BYTES: usize = 64 * 1024;

impl LineWriter {
    pub(super) fn new(output: Output) -> Self {
        Self { output, buffer: String::new(), newlines: 0, blanks: 0, in_colour: false, has_text: false }
    }

    pub(super) fn output(&self) -> &Output {
        &self.output
    }

    /// Writes the text of rows, which may contain colour sequences.
    pub(super) fn write(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                'm' if self.in_colour => self.in_colour = false,
                _ if self.in_colour => {}
                '\x1b' => self.in_colour = true,
                '\n' => {
                    self.newlines += 1;
                    self.blanks = 0;
                }
                ' ' => self.blanks += 1,
                other => self.draw(other),
            }
        }
    }

    /// Ends the last line that has text.
    pub(super) fn end_line(&mut self) {
        if self.has_text {
            self.repeat('\n', 1);
        }
        self.newlines = 0;
        self.blanks = 0;
        self.has_text = false;
    }

    /// Appends all buffered text to the output.
    pub(super) fn flush(&mut self) {
        self.output.append(self.buffer.as_bytes());
        self.buffer.clear();
    }

    fn draw(&mut self, character: char) {
        if self.newlines > 0 {
            self.repeat('\n', self.newlines);
            self.newlines = 0;
        }
        if self.blanks > 0 {
            self.repeat(' ', self.blanks);
            self.blanks = 0;
        }
        self.has_text = true;
        self.repeat(character, 1);
    }

    fn repeat(&mut self, character: char, count: u64) {
        for _ in 0..count {
            self.buffer.push(character);
            if self.buffer.len() >= FLUSH_BYTES {
                self.flush();
            }
        }
    }
}
