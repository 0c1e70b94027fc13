//! Keys that are bound to something else than by default.

use std::collections::BTreeMap;
use std::io;

use super::keys::{Byte, EditorKey, SEQUENCE_TIMEOUT};
use super::terminal::KeyInput;

/// The action of a bound key sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BoundAction {
    /// The same as this key.
    Key(EditorKey),
    /// It inserts itself.
    Insert,
    /// It stands for these keys.
    Keys(Vec<u8>),
    /// It runs a shell command that can change the text.
    Command(String),
}

/// The editing mode, and key sequences that differ from the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyBindings {
    pub(crate) is_vi: bool,
    /// Sequences of the emacs mode, or of the insertion mode of vi.
    pub(crate) insertion: BTreeMap<Vec<u8>, BoundAction>,
    /// Sequences of the command mode of vi.
    pub(crate) command: BTreeMap<Vec<u8>, BoundAction>,
}

/// How many macros may follow one another without a typed key.
const MAX_MACROS: usize = 1000;

/// Reads a bound key sequence. Returns `None`, and leaves the keys for the decoder, if the next keys are not bound.
pub(super) fn read(
    input: &KeyInput<'_>,
    table: &BTreeMap<Vec<u8>, BoundAction>,
) -> io::Result<Option<EditorKey>> {
    if table.is_empty() {
        return Ok(None);
    }
    let mut keys = Vec::new();
    let mut matched: Option<(usize, &BoundAction)> = None;
    loop {
        let timeout = if keys.is_empty() { None } else { Some(SEQUENCE_TIMEOUT) };
        match input.byte(timeout)? {
            Some(Byte::Is(byte)) => keys.push(byte),
            Some(Byte::End) if keys.is_empty() => return Ok(Some(EditorKey::Gone)),
            None if keys.is_empty() => return Ok(Some(super::keys::other_event(input))),
            _ => break,
        }
        if let Some(action) = table.get(&keys) {
            matched = Some((keys.len(), action));
        }
        let next = table.range(keys.clone()..).find(|(known, _)| **known != keys);
        if !next.is_some_and(|(known, _)| known.starts_with(&keys)) {
            break;
        }
    }
    let used = matched.map_or(0, |(used, _)| used);
    input.push_back(&keys[used..]);
    Ok(matched.map(|(used, action)| perform(input, action, &keys[..used])))
}

/// The key that a bound sequence stands for.
fn perform(input: &KeyInput<'_>, action: &BoundAction, keys: &[u8]) -> EditorKey {
    match action {
        BoundAction::Key(key) => key.clone(),
        BoundAction::Insert => EditorKey::Paste(String::from_utf8_lossy(keys).into_owned()),
        BoundAction::Command(command) => EditorKey::Run(command.clone()),
        BoundAction::Keys(keys) => {
            if input.count_macro() > MAX_MACROS {
                input.drop_pending();
                return EditorKey::Unknown;
            }
            input.push_back(keys);
            EditorKey::Replayed
        }
    }
}
