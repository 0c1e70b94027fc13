//! Decisions, and the rules that they come from.

use std::fmt;

use haft_config::{Layer, SourceLocation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of a policy. The strictest is the greatest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PolicyVerdict {
    /// It may happen.
    #[default]
    Allow,
    /// It may happen if the user agrees.
    Ask,
    /// It may not happen.
    Deny,
}

impl PolicyVerdict {
    /// The name in messages and results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyVerdict::Allow => "allow",
            PolicyVerdict::Ask => "ask",
            PolicyVerdict::Deny => "deny",
        }
    }
}

impl fmt::Display for PolicyVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The place where a rule is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RulePlace {
    /// The file, or the preset.
    pub file: String,
    /// The line, starting at 1.
    pub line: usize,
    /// The layer of the file.
    pub layer: Layer,
}

impl From<&SourceLocation> for RulePlace {
    fn from(location: &SourceLocation) -> RulePlace {
        RulePlace { file: location.source().name.clone(), line: location.line(), layer: location.layer() }
    }
}

/// Writes `file:line`.
impl fmt::Display for RulePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// A decision, with the rule that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decision {
    /// The answer.
    pub verdict: PolicyVerdict,
    /// The rule as it is written; `None` if no rule applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where the rule is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<RulePlace>,
    /// The reason, which completes the message "denied: …".
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Something that is allowed and serves the same purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_instead: Option<String>,
}

impl Decision {
    /// Allows something that no rule mentions.
    pub(crate) fn allowed() -> Decision {
        Decision::default()
    }

    /// Whether the verdict is [`PolicyVerdict::Allow`].
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.verdict == PolicyVerdict::Allow
    }

    /// Returns the stricter of two decisions; of equally strict ones the one that names a rule.
    #[must_use]
    pub fn stricter(self, other: Decision) -> Decision {
        let rank = |decision: &Decision| (decision.verdict, decision.rule.is_some());
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// Writes the reason, the rule with its place, and what is allowed instead.
impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)?;
        if let (Some(rule), Some(place)) = (&self.rule, &self.place) {
            let space = if self.reason.is_empty() { "" } else { " " };
            write!(formatter, "{space}(rule {rule}, {place})")?;
        }
        if let Some(instead) = &self.allowed_instead {
            write!(formatter, "; allowed instead: {instead}")?;
        }
        Ok(())
    }
}
