//! Translates the bindings of `bind` and of inputrc files for the editor.

use haft_kernel::builtins::EditorBindings;
use haft_kernel::{KeyBinding, Session};

use super::editor::{BoundAction, EditorKey, KeyBindings};

/// The functions of readline that the editor has, by the key that calls each by default.
const FUNCTIONS: [(&str, EditorKey); 44] = [
    ("abort", EditorKey::Control('g')),
    ("accept-line", EditorKey::Enter),
    ("backward-char", EditorKey::Left),
    ("backward-delete-char", EditorKey::Backspace),
    ("backward-kill-line", EditorKey::Control('u')),
    ("backward-kill-word", EditorKey::AltBackspace),
    ("backward-word", EditorKey::WordLeft),
    ("beginning-of-history", EditorKey::Alt('<')),
    ("beginning-of-line", EditorKey::Home),
    ("clear-display", EditorKey::Control('l')),
    ("clear-screen", EditorKey::Control('l')),
    ("complete", EditorKey::Tab),
    ("delete-char", EditorKey::Delete),
    ("delete-char-or-list", EditorKey::Delete),
    ("end-of-history", EditorKey::Alt('>')),
    ("end-of-line", EditorKey::End),
    ("forward-backward-delete-char", EditorKey::Delete),
    ("forward-char", EditorKey::Right),
    ("forward-search-history", EditorKey::Control('s')),
    ("forward-word", EditorKey::WordRight),
    ("history-search-backward", EditorKey::PrefixUp),
    ("history-search-forward", EditorKey::PrefixDown),
    ("kill-line", EditorKey::Control('k')),
    ("kill-whole-line", EditorKey::DeleteLine),
    ("kill-word", EditorKey::DeleteWord),
    ("menu-complete", EditorKey::Tab),
    ("menu-complete-backward", EditorKey::BackTab),
    ("next-history", EditorKey::Down),
    ("next-screen-line", EditorKey::Down),
    ("possible-completions", EditorKey::Tab),
    ("previous-history", EditorKey::Up),
    ("previous-screen-line", EditorKey::Up),
    ("redraw-current-line", EditorKey::Resized),
    ("reverse-search-history", EditorKey::Control('r')),
    ("shell-backward-word", EditorKey::WordLeft),
    ("shell-forward-word", EditorKey::WordRight),
    ("transpose-chars", EditorKey::Control('t')),
    ("undo", EditorKey::Control('_')),
    ("unix-line-discard", EditorKey::Control('u')),
    ("unix-word-rubout", EditorKey::Control('w')),
    ("vi-movement-mode", EditorKey::Control('[')),
    ("vi-undo", EditorKey::Control('_')),
    ("yank", EditorKey::Control('y')),
    ("yank-last-arg", EditorKey::Alt('.')),
];

/// The bindings that differ from the default ones. Keys whose binding was removed, and functions that the editor does not have, do
/// nothing.
pub(super) fn of(session: &mut Session) -> KeyBindings {
    let EditorBindings { is_vi, insertion, command } = session.editor_bindings().unwrap_or_default();
    let table = |changes: Vec<(Vec<u8>, Option<KeyBinding>)>| {
        changes.into_iter().map(|(keys, binding)| (keys, action(binding))).collect()
    };
    KeyBindings { is_vi, insertion: table(insertion), command: table(command) }
}

fn action(binding: Option<KeyBinding>) -> BoundAction {
    match binding {
        None => BoundAction::Key(EditorKey::Unknown),
        Some(KeyBinding::Function("self-insert")) => BoundAction::Insert,
        Some(KeyBinding::Function(name)) => {
            let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
            BoundAction::Key(known.map_or(EditorKey::Unknown, |(_, key)| key.clone()))
        }
        Some(KeyBinding::Macro(keys)) => BoundAction::Keys(keys.to_vec()),
        Some(KeyBinding::Command(text)) => BoundAction::Command(text.lossy().into_owned()),
    }
}
