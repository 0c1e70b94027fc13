//! What the names of commands mean, asked of whoever knows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

/// What a name that stands for a command means, functions aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A builtin of the shell, or a command that runs in-process.
    Builtin,
    /// A script that runs in-process.
    Script(PathBuf),
    /// A program.
    External(PathBuf),
    /// A tool, reached through its backend.
    Tool,
    /// Nothing has that name.
    Missing,
    /// There is no telling.
    Unknown,
}

/// Who knows what names mean. `check` and `plan` do no input or output of their own: all they learn of the world, they
/// learn here.
pub trait Resolver {
    /// What a command's name means: a bare name, or a path with a slash.
    fn resolve(&self, name: &[u8]) -> Resolution;

    /// Whether a variable is set when the script starts; `None` if there is no telling.
    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        let _ = variable;
        None
    }

    /// What is wrong with a jq program, if that is known.
    fn check_jq(&self, program: &[u8]) -> Option<String> {
        let _ = program;
        None
    }
}

/// Asks somebody for each name once.
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
}

/// Knows bash's builtins and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinsOnly;

impl Resolver for BuiltinsOnly {
    fn resolve(&self, name: &[u8]) -> Resolution {
        if is_builtin(name) { Resolution::Builtin } else { Resolution::Unknown }
    }
}

/// Whether bash has a builtin of this name.
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
