//! The restricted shell: `set -r`, `-r`, `--restricted`.

use std::fmt::Display;

use crate::session::Session;
use crate::variables::Attributes;

/// Variables that a restricted shell cannot change.
const FIXED_VARIABLES: [&[u8]; 4] = [b"PATH", b"SHELL", b"ENV", b"BASH_ENV"];

impl Session {
    /// Makes the shell a restricted one. There is no way back.
    pub fn restrict(&mut self) {
        self.identity.restrict();
        for name in FIXED_VARIABLES {
            let attributes = self.variables.entry(name).attributes;
            self.variables.set_attributes(name, attributes.union(Attributes::READONLY));
        }
    }

    /// Whether the shell is a restricted one.
    #[inline]
    pub(crate) fn is_restricted(&self) -> bool {
        self.identity.is_restricted()
    }

    /// Whether a restricted shell refuses something, which is reported: `what` precedes the word "restricted".
    pub(crate) fn refuses(&mut self, is_forbidden: bool, what: impl Display) -> bool {
        let refused = is_forbidden && self.is_restricted();
        if refused {
            self.report(format_args!("{what}: restricted"));
        }
        refused
    }
}
