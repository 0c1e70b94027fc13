//! Listings of functions, and their attributes.

use std::sync::Arc;

use crate::session::{Definition, Session};
use crate::variables::Attributes;

/// Returns the definition of a function as bash prints it.
pub(super) fn definition(definition: &Definition) -> Vec<u8> {
    let mut text = haft_lang::print_function(&definition.function);
    text.push(b'\n');
    text
}

/// Returns the definitions of all functions that `wanted` accepts, sorted by name.
pub(super) fn all(session: &Session, wanted: impl Fn(&Definition) -> bool) -> Vec<u8> {
    sorted(session).iter().filter(|known| wanted(known)).flat_map(|known| definition(known)).collect()
}

/// Returns all functions, sorted by name.
pub(super) fn sorted(session: &Session) -> Vec<Arc<Definition>> {
    let mut all: Vec<Arc<Definition>> = session.definitions.functions().values().cloned().collect();
    all.sort_by(|left, right| left.function.name.cmp(&right.function.name));
    all
}

/// Returns the letters that `declare -F` shows: `f`, then those of the attributes.
pub(super) fn letters(definition: &Definition) -> String {
    let mut letters = String::from("f");
    for (set, letter) in [(definition.readonly, 'r'), (definition.traced, 't'), (definition.exported, 'x')] {
        if set {
            letters.push(letter);
        }
    }
    letters
}

/// Returns `declare -fx name`.
pub(super) fn declaration(definition: &Definition) -> Vec<u8> {
    [b"declare -", letters(definition).as_bytes(), b" ", &definition.function.name, b"\n"].concat()
}

/// Returns the same, or nothing if the function has no attributes.
pub(crate) fn attributes(definition: &Definition) -> Vec<u8> {
    let has_attributes = definition.readonly || definition.traced || definition.exported;
    if has_attributes { declaration(definition) } else { Vec::new() }
}

/// Whether a function can be exported: its name must be possible in the environment and as a command name there.
pub(super) fn can_export(name: &[u8]) -> bool {
    !name.contains(&b'=') && !name.contains(&b'/')
}

/// Sets and clears attributes of a function.
pub(super) fn set_attributes(
    session: &mut Session,
    known: &Arc<Definition>,
    on: Attributes,
    off: Attributes,
) {
    let change = |value: bool, attribute| (value || on.contains(attribute)) && !off.contains(attribute);
    let changed = Definition {
        exported: change(known.exported, Attributes::EXPORT),
        readonly: change(known.readonly, Attributes::READONLY),
        traced: change(known.traced, Attributes::TRACE),
        ..Definition::clone(known)
    };
    let name = changed.function.name.clone();
    session.definitions.functions_mut().insert(name, Arc::new(changed));
}
