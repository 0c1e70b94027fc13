//! Terminal modes for `read`.

use std::sync::Arc;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use crate::io::OpenFile;

/// Changes the mode of a terminal until it is dropped.
pub(super) struct TerminalModeGuard {
    file: Arc<OpenFile>,
    before: Termios,
}

impl TerminalModeGuard {
    /// Turns off echo or line buffering. Returns `None` if the file is not a terminal.
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

impl Drop for TerminalModeGuard {
    fn drop(&mut self) {
        if let Some(descriptor) = self.file.descriptor() {
            let _ = tcsetattr(descriptor, OptionalActions::Now, &self.before);
        }
    }
}
