//! Named things that a script defines and that are not variables: functions, aliases, completions, disabled builtins.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use haft_lang::AliasTable;
use haft_lang::ast::Function;
use haft_text::Bytes;

use super::completion::CompletionTable;

/// Functions by name.
pub(crate) type Functions = HashMap<Bytes, Arc<Definition>, RandomState>;

/// A function as it was defined.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its syntax tree.
    pub function: Arc<Function>,
    /// The file it was defined in, for `BASH_SOURCE`.
    pub source: Bytes,
    /// The text that it is part of.
    pub text: Option<Arc<[u8]>>,
    /// `declare -fx`.
    pub exported: bool,
    /// `declare -fr`.
    pub readonly: bool,
    /// `declare -ft`.
    pub traced: bool,
}

/// Functions, aliases and other definitions of a script. Subshells share the tables until one of them changes one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    functions: Arc<Functions>,
    aliases: Arc<AliasTable>,
    /// The completion specifications, by command.
    completions: Arc<CompletionTable>,
    /// Builtins that `enable -n` has turned off.
    disabled_builtins: Arc<Vec<&'static str>>,
}

impl Definitions {
    /// A subshell inherits everything.
    pub(super) fn for_subshell(&self) -> Self {
        self.clone()
    }

    /// The functions.
    #[inline]
    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// The functions, to be changed.
    pub(crate) fn functions_mut(&mut self) -> &mut Functions {
        Arc::make_mut(&mut self.functions)
    }

    /// Removes all functions and aliases, for a script that runs as a shell of its own.
    pub(crate) fn clear_functions_and_aliases(&mut self) {
        self.functions = Arc::default();
        self.aliases = Arc::default();
    }

    /// The aliases.
    pub(crate) fn aliases(&self) -> &Arc<AliasTable> {
        &self.aliases
    }

    /// The aliases, to be changed.
    pub(crate) fn aliases_mut(&mut self) -> &mut AliasTable {
        Arc::make_mut(&mut self.aliases)
    }

    /// The completion specifications, by command.
    pub(crate) fn completions(&self) -> &Arc<CompletionTable> {
        &self.completions
    }

    /// The completion specifications, to be changed.
    pub(crate) fn completions_mut(&mut self) -> &mut CompletionTable {
        Arc::make_mut(&mut self.completions)
    }

    /// The builtins that `enable -n` has turned off.
    #[inline]
    pub(crate) fn disabled_builtins(&self) -> &[&'static str] {
        &self.disabled_builtins
    }

    /// The builtins that are turned off, to be changed.
    pub(crate) fn disabled_builtins_mut(&mut self) -> &mut Vec<&'static str> {
        Arc::make_mut(&mut self.disabled_builtins)
    }
}
