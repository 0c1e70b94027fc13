//! The terminal while `read` reads from it.

use std::sync::Arc;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use crate::io::OpenFile;

/// A changed terminal, which is put back when this goes.
pub(super) struct Mode {
    file: Arc<OpenFile>,
    before: Termios,
}

impl Mode {
    /// Stops echoing, or stops waiting for the end of the line; nothing if it is no terminal.
    pub(super) fn set(file: &Arc<OpenFile>, silent: bool, by_character: bool) -> Option<Self> {
        if !silent && !by_character {
            return None;
        }
        let descriptor = file.descriptor()?;
        let before = tcgetattr(descriptor).ok()?;
        let mut changed = before.clone();
        if silent {
            changed.local_modes.remove(LocalModes::ECHO);
        }
        if by_character {
            changed.local_modes.remove(LocalModes::ICANON);
            changed.special_codes[SpecialCodeIndex::VMIN] = 1;
            changed.special_codes[SpecialCodeIndex::VTIME] = 0;
        }
        tcsetattr(descriptor, OptionalActions::Now, &changed).ok()?;
        Some(Self { file: Arc::clone(file), before })
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        if let Some(descriptor) = self.file.descriptor() {
            let _ = tcsetattr(descriptor, OptionalActions::Now, &self.before);
        }
    }
}
