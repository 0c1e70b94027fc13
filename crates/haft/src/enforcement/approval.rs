//! Asks a person about what a policy does not simply allow.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use haft_policy::Decision;

/// The answer of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approval {
    /// Yes.
    Once,
    /// Yes, also to the same rule later.
    Always,
    /// No.
    Refused,
    /// There is no person to ask.
    Unavailable,
}

/// A way to ask a person.
pub(super) trait Asker: Debug + Send + Sync {
    /// Shows what is about to happen and the rule, and waits for the answer.
    fn ask(&self, subject: &str, rule: &str) -> Approval;
}

/// A person who can be asked, and the rules that were approved for good.
#[derive(Debug)]
pub(super) struct Approvals {
    asker: Box<dyn Asker>,
    always: Mutex<Vec<String>>,
}

impl Approvals {
    pub(super) fn by(asker: impl Asker + 'static) -> Approvals {
        Approvals { asker: Box::new(asker), always: Mutex::default() }
    }

    /// Asks about one thing at a time, unless the rule was approved for good.
    pub(super) fn ask(&self, subject: &str, decision: &Decision) -> Approval {
        let mut always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = decision.to_string();
        if always.contains(&rule) {
            return Approval::Always;
        }
        let approval = self.asker.ask(subject, &rule);
        if approval == Approval::Always {
            always.push(rule);
        }
        approval
    }
}
