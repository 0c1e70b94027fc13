//! The bindings of the line editor: made on first use, read from inputrc files, handed to the editor.

use std::io;

use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::readline::{KeymapKind, ReadlineState};
use crate::session::{KeyBinding, Session};

/// The configuration of the line editor.
#[derive(Clone, Debug, Default)]
pub struct EditorBindings {
    /// Whether the editing mode is vi.
    pub is_vi: bool,
    /// Bindings of the emacs mode, or of the insertion mode of vi, that differ from the default ones; `None` for keys that do
    /// nothing any more.
    pub insertion: Vec<(Vec<u8>, Option<KeyBinding>)>,
    /// The same for the command mode of vi.
    pub command: Vec<(Vec<u8>, Option<KeyBinding>)>,
}

impl Session {
    /// Makes the bindings, and reads the inputrc file, unless that was done before.
    pub(super) fn open_readline(&mut self) -> Result<(), Unwind> {
        if self.interactive.readline().is_some() {
            return Ok(());
        }
        self.readline_mut();
        for path in self.inputrc_paths() {
            if self.read_readline_file(&path)?.is_ok() {
                break;
            }
        }
        Ok(())
    }

    /// The inputrc files, of which the first that exists is read.
    fn inputrc_paths(&self) -> Vec<Vec<u8>> {
        let chosen = self.value(b"INPUTRC").filter(|path| !path.is_empty());
        let own = self.value(b"HOME").map(|home| [&*home, b"/.inputrc"].concat());
        match chosen {
            Some(path) => vec![path.to_vec()],
            None => own.into_iter().chain([b"/etc/inputrc".to_vec()]).collect(),
        }
    }

    /// The bindings, to be changed.
    pub(super) fn readline_mut(&mut self) -> &mut ReadlineState {
        let is_utf8 = self.encoding() == haft_text::encoding::Encoding::Utf8;
        let terminal = self.value(b"TERM").unwrap_or_default();
        self.interactive.readline_mut(|| ReadlineState::new(is_utf8, &terminal))
    }

    /// Executes the lines of an inputrc file.
    pub(super) fn read_readline_file(&mut self, path: &[u8]) -> Result<io::Result<()>, Unwind> {
        let text = match self.read_file(path)? {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            self.check()?;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if let Err(message) = self.readline_mut().execute_line(line) {
                let file = String::from_utf8_lossy(path);
                let message = format!("readline: {file}: line {}: {message}\n", index + 1);
                let _ = self.write(2, message.as_bytes());
            }
        }
        Ok(Ok(()))
    }

    /// In an interactive shell, `set editing-mode` changes the options `vi` and `emacs` too.
    pub(super) fn follow_editing_mode(&mut self) {
        if self.is_interactive() {
            let is_vi = &**self.readline_mut().variables.get("editing-mode") == b"vi";
            self.options.put(SetOption::Vi, is_vi);
            self.options.put(SetOption::Emacs, !is_vi);
        }
    }

    /// The editing mode that `set -o vi`, `set -o emacs` or `bind` has selected, and the bindings of `bind` and of inputrc files.
    ///
    /// # Errors
    /// If the session is being stopped.
    pub fn editor_bindings(&mut self) -> Result<EditorBindings, Unwind> {
        let is_first = self.interactive.readline().is_none();
        self.open_readline()?;
        if is_first && !self.options.has(SetOption::Vi) {
            self.follow_editing_mode();
        }
        let is_vi = self.options.has(SetOption::Vi);
        let state = self.readline_mut();
        if (&**state.variables.get("editing-mode") == b"vi") != is_vi {
            state.set_editing_mode(is_vi);
        }
        let insertion = if is_vi { KeymapKind::ViInsert } else { KeymapKind::Emacs };
        Ok(EditorBindings {
            is_vi,
            insertion: state.changes(insertion),
            command: state.changes(KeymapKind::ViCommand),
        })
    }
}
