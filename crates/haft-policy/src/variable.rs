//! Rules on environment variables.

use crate::decision::{Decision, PolicyVerdict, RulePlace};
use crate::wildcard;

/// The rules of one layer on variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableLimits {
    /// Names that pass; empty for all.
    pub(crate) pass: Vec<VariableRule>,
    pub(crate) withhold: Vec<VariableRule>,
    /// Where the policy says that names that look like secrets are withheld.
    pub(crate) withhold_secrets: Option<RulePlace>,
}

/// A pattern on the names of variables.
#[derive(Clone, Debug)]
pub(crate) struct VariableRule {
    pub(crate) pattern: String,
    /// The key and the pattern as they are written.
    pub(crate) text: String,
    pub(crate) place: RulePlace,
}

impl VariableRule {
    fn matches(&self, name: &[u8]) -> bool {
        wildcard::matches(self.pattern.as_bytes(), name)
    }

    fn decision(&self, verdict: PolicyVerdict, reason: String) -> Decision {
        let (rule, place) = (Some(self.text.clone()), Some(self.place.clone()));
        Decision { verdict, rule, place, reason, allowed_instead: None }
    }
}

impl VariableLimits {
    pub(crate) fn decide(&self, name: &[u8], looks_secret: bool) -> Decision {
        let shown = String::from_utf8_lossy(name);
        if let Some(rule) = self.withhold.iter().find(|rule| rule.matches(name)) {
            return rule.decision(PolicyVerdict::Deny, format!("the variable '{shown}' is withheld"));
        }
        let passing = self.pass.iter().find(|rule| rule.matches(name));
        let named = self.pass.iter().find(|rule| rule.pattern.as_bytes() == name);
        if let (true, None, Some(place)) = (looks_secret, named, &self.withhold_secrets) {
            return Decision {
                verdict: PolicyVerdict::Deny,
                rule: Some("secrets = \"withhold\"".to_owned()),
                place: Some(place.clone()),
                reason: format!("the variable '{shown}' looks like a secret"),
                allowed_instead: None,
            };
        }
        match (passing, self.pass.first()) {
            (Some(rule), _) => rule.decision(PolicyVerdict::Allow, String::new()),
            (None, None) => Decision::allowed(),
            (None, Some(_)) => Decision {
                verdict: PolicyVerdict::Deny,
                reason: format!("no rule passes the variable '{shown}'"),
                ..Decision::default()
            },
        }
    }
}
