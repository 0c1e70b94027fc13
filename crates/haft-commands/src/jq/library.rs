//! Functions that are written in the language itself.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::parser::parse_definitions;
use super::syntax::Definition;

const SOURCE: &str = include_str!("library.jq");

/// The definition of a library function.
pub(super) fn find(name: &str, arity: usize) -> Option<&'static Definition> {
    definitions().get(&(name, arity)).copied()
}

/// The names of the functions, with the numbers of their parameters.
pub(super) fn names() -> impl Iterator<Item = (&'static str, usize)> {
    definitions().keys().copied()
}

fn definitions() -> &'static HashMap<(&'static str, usize), &'static Definition> {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    static BY_NAME: OnceLock<HashMap<(&'static str, usize), &'static Definition>> = OnceLock::new();
    let all = DEFINITIONS.get_or_init(|| parse_definitions(SOURCE).unwrap_or_default());
    BY_NAME.get_or_init(|| {
        all.iter()
            .map(|definition| ((definition.name.as_str(), definition.parameters.len()), definition))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_library_is_valid() {
        let parsed = super::parse_definitions(super::SOURCE);
        assert!(parsed.is_ok_and(|definitions| definitions.len() > 50));
    }
}
