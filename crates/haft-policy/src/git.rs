//! Capabilities that git uses.

use schemars::JsonSchema;
use serde::Serialize;

/// Capabilities that are easily given away by accident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GitCapabilities {
    /// The hooks of a repository may change.
    pub hooks: bool,
    /// Programs can use the ssh agent.
    pub ssh_agent: bool,
    /// Programs can use gpg and its agent.
    pub gpg: bool,
    /// Programs can use stored credentials and helpers that ask for them.
    pub credentials: bool,
}

impl Default for GitCapabilities {
    fn default() -> GitCapabilities {
        GitCapabilities { hooks: true, ssh_agent: true, gpg: true, credentials: true }
    }
}

impl GitCapabilities {
    /// Returns the capabilities that both have.
    #[must_use]
    pub fn and(self, other: GitCapabilities) -> GitCapabilities {
        GitCapabilities {
            hooks: self.hooks && other.hooks,
            ssh_agent: self.ssh_agent && other.ssh_agent,
            gpg: self.gpg && other.gpg,
            credentials: self.credentials && other.credentials,
        }
    }
}
