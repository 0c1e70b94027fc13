//! `$-`.

use crate::session::Session;

impl Session {
    /// The letters of the options that are on, and of the way the shell was started.
    pub(crate) fn flags(&self) -> String {
        let mut letters = self.options.letters();
        if self.interactive {
            let place = letters.find(|letter| letter > 'i').unwrap_or(letters.len());
            letters.insert(place, 'i');
        }
        if self.command_string {
            letters.push('c');
        }
        if self.standard_input {
            letters.push('s');
        }
        letters
    }
}
