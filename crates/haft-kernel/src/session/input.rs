//! Reading from the session's standard input.

use std::io;

use haft_text::Bytes;

use crate::flow::Unwind;
use crate::session::Session;

impl Session {
    /// Reads a line of standard input without its newline; `None` at the end. Reads no byte beyond the line.
    pub(crate) fn read_line(&mut self) -> Result<Option<Bytes>, Unwind> {
        let _ = self.flush();
        let Some(file) = self.open_files.get(0).cloned() else { return Ok(None) };
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            match file.read(&mut byte, None, self.limits.cancel()) {
                Ok(0) => return Ok((!line.is_empty()).then(|| line.into())),
                Ok(_) if byte[0] == b'\n' => return Ok(Some(line.into())),
                Ok(_) => line.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => self.check()?,
                Err(_) => return Ok(None),
            }
        }
    }
}
