//! The interface through which [`check`](crate::check) and [`plan`](crate::plan) look up command names.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

/// The meaning of a command name, functions aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A shell builtin, or a command that runs in-process.
    Builtin,
    /// A script that runs in-process.
    Script(PathBuf),
    /// An external program.
    External(PathBuf),
    /// A tool of a backend.
    Tool,
    /// No command has this name.
    Missing,
    /// The resolver does not know.
    Unknown,
}

/// Looks up names. `check` and `plan` do no I/O of their own: everything they know about the system comes
/// from a resolver.
pub trait Resolver {
    /// Looks up a command name: a bare name, or a path with a slash.
    fn resolve(&self, name: &[u8]) -> Resolution;

    /// Whether a variable is set when the script starts; `None` if unknown.
    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        let _ = variable;
        None
    }

    /// Returns the error message for an invalid jq program; `None` if the program is valid or cannot be
    /// checked.
    fn check_jq(&self, program: &[u8]) -> Option<String> {
        let _ = program;
        None
    }

    /// Returns the problem with literal arguments of a command; `None` if they are valid or cannot be checked.
    fn check_arguments(&self, name: &[u8], arguments: &[&[u8]]) -> Option<String> {
        let _ = (name, arguments);
        None
    }
}

/// A resolver that caches the result for each command name.
pub(crate) struct CachingResolver<'a> {
    resolver: &'a dyn Resolver,
    names: RefCell<HashMap<Box<[u8]>, Resolution>>,
}

impl<'a> CachingResolver<'a> {
    pub(crate) fn new(resolver: &'a dyn Resolver) -> Self {
        Self { resolver, names: RefCell::default() }
    }
}

impl Resolver for CachingResolver<'_> {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if let Some(known) = self.names.borrow().get(name) {
            return known.clone();
        }
        let resolution = self.resolver.resolve(name);
        self.names.borrow_mut().insert(name.into(), resolution.clone());
        resolution
    }

    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        self.resolver.is_set(variable)
    }

    fn check_jq(&self, program: &[u8]) -> Option<String> {
        self.resolver.check_jq(program)
    }

    fn check_arguments(&self, name: &[u8], arguments: &[&[u8]]) -> Option<String> {
        self.resolver.check_arguments(name, arguments)
    }
}

/// A resolver that knows only bash's builtins.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinsOnly;

impl Resolver for BuiltinsOnly {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) { Resolution::Builtin } else { Resolution::Unknown }
    }
}

/// Whether bash has a builtin with this name.
#[must_use]
pub fn is_builtin(name: &[u8]) -> bool {
    BUILTINS.binary_search_by(|builtin| builtin.as_bytes().cmp(name)).is_ok()
}

/// The builtins of bash 5.2, sorted.
pub const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

#[cfg(test)]
mod tests {
    use super::{BUILTINS, is_builtin};

    #[test]
    fn builtins_are_sorted_and_found() {
        assert!(BUILTINS.is_sorted());
        assert!(is_builtin(b"[") && is_builtin(b"wait") && !is_builtin(b"grep"));
    }
}
