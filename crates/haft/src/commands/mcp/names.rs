//! Resolves command names for `check` and `plan`.

use haft_lang::{Resolution, Resolver};
use haft_tools::Registry;

use crate::commands::script::NameResolver;
use crate::process_context::ProcessContext;

/// A [`NameResolver`] that owns its context.
pub(super) struct OwnedNameResolver(pub(super) ProcessContext, pub(super) Registry);

impl OwnedNameResolver {
    fn names(&self) -> NameResolver<'_> {
        NameResolver::with(&self.0, self.1.clone())
    }
}

impl Resolver for OwnedNameResolver {
    fn resolve(&self, name: &[u8]) -> Resolution {
        self.names().resolve(name)
    }

    fn is_set(&self, variable: &[u8]) -> Option<bool> {
        self.names().is_set(variable)
    }

    fn check_jq(&self, program: &[u8]) -> Option<String> {
        self.names().check_jq(program)
    }

    fn check_arguments(&self, name: &[u8], arguments: &[&[u8]]) -> Option<String> {
        self.names().check_arguments(name, arguments)
    }
}
