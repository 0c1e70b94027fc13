//! How far a policy is enforced on this machine.

use schemars::JsonSchema;
use serde::Serialize;

use super::guard::RecordedDecision;

/// The strongest means by which the kernel enforces a policy.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EnforcementLevel {
    /// Only haft itself: programs can do what they like.
    Haft,
    /// Seccomp filters, but no rules on files.
    Seccomp,
    /// Landlock and seccomp.
    Landlock,
    /// Landlock, seccomp and a network namespace.
    Namespaces,
}

impl EnforcementLevel {
    /// The name in messages and results.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            EnforcementLevel::Haft => "haft",
            EnforcementLevel::Seccomp => "seccomp",
            EnforcementLevel::Landlock => "landlock",
            EnforcementLevel::Namespaces => "namespaces",
        }
    }
}

/// Limits that the kernel enforces for programs.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct Enforced {
    /// The strongest means.
    pub(crate) level: EnforcementLevel,
    /// Whether the rules on files bind programs.
    pub(crate) files: bool,
    /// Whether the directories that programs may execute from bind programs.
    pub(crate) exec: bool,
    /// How far programs can reach: nothing, a loopback interface of their own, listed hosts through a proxy, listed ports, or all.
    pub(crate) network: &'static str,
    /// Rules that do not bind programs; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unenforced: Vec<String>,
}

/// The policy of a run in its result.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct EnforcementReport {
    /// How far the policy was enforced.
    pub(crate) enforced: Enforced,
    /// Actions that the policy denied or asked about; omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) decisions: Vec<RecordedDecision>,
}
