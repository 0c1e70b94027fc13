//! Messages about what went wrong.

use std::fmt::Display;

use crate::session::Session;

impl Session {
    /// Writes a message to standard error, with the shell's name and the line before it.
    pub fn report(&mut self, message: impl Display) {
        let line = match self.line {
            _ if self.interactive && self.frames.is_empty() => format!("{}: {message}\n", self.name),
            0 => format!("{}: {message}\n", self.name),
            line => format!("{}: line {line}: {message}\n", self.name),
        };
        let _ = self.write(2, line.as_bytes());
        let _ = self.flush();
    }
}
