use crate::capture::Output;

/// Writes rows of the screen to an output, without their colours and without blanks at the ends of lines or empty lines
/// at the end of the text. These are held back until something follows them, as numbers however many they are.
pub(super) struct Lines {
    output: Output,
    buffer: String,
    newlines: u64,
    blanks: u64,
    /// Within a colour sequence, which ends with `m`.
    in_colour: bool,
    anything: bool,
}

/// What is handed to the output at a time.
const FULL: usize = 64 * 1024;

impl Lines {
    pub(super) fn new(output: Output) -> Self {
        Self { output, buffer: String::new(), newlines: 0, blanks: 0, in_colour: false, anything: false }
    }

    pub(super) fn output(&self) -> &Output {
        &self.output
    }

    /// Takes the text of rows, with colour sequences as the parser writes them.
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

    /// Ends the last line that has text, if it has not ended.
    pub(super) fn end_line(&mut self) {
        if self.anything {
            self.repeat('\n', 1);
        }
        self.newlines = 0;
        self.blanks = 0;
        self.anything = false;
    }

    /// Makes everything that is certain visible in the output.
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
        self.anything = true;
        self.repeat(character, 1);
    }

    fn repeat(&mut self, character: char, count: u64) {
        for _ in 0..count {
            self.buffer.push(character);
            if self.buffer.len() >= FULL {
                self.flush();
            }
        }
    }
}
