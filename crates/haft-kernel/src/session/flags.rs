//! `$-`.

use crate::session::{ProgramOrigin, Session};

impl Session {
    /// The letters of the options that are on, and of how the shell was started.
    pub(crate) fn flags(&self) -> String {
        let mut letters = self.options.letters();
        if self.is_interactive() {
            let place = letters.find(|letter| letter > 'i').unwrap_or(letters.len());
            letters.insert(place, 'i');
        }
        if self.is_restricted() {
            letters.push('r');
        }
        match self.identity.program() {
            ProgramOrigin::CommandString => letters.push('c'),
            ProgramOrigin::StandardInput => letters.push('s'),
            ProgramOrigin::File => {}
        }
        letters
    }
}
