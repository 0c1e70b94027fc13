//! The description of a rule. `--explain`, the documentation and the tests all use it.

use super::context::{CheckContext, SimpleView};
use super::diagnostic::{Diagnostic, Severity};
use crate::ast::{List, Span, Warning};
use crate::plan::ScriptPlan;
use crate::walk::SyntaxNode;

/// A rule that finds one kind of mistake.
#[derive(Debug)]
pub struct Rule {
    /// Its stable name: words joined by dashes.
    pub code: &'static str,
    /// Its highest severity.
    pub severity: Severity,
    /// A one-line summary.
    pub summary: &'static str,
    /// Why this is a mistake, and what to do instead.
    pub explanation: &'static str,
    /// Example scripts with the mistake.
    pub wrong: &'static [&'static str],
    /// Example scripts without the mistake.
    pub right: &'static [&'static str],
    pub(super) matcher: RuleMatcher,
}

/// The function of a rule, and the kind of input it examines.
#[derive(Debug)]
pub(super) enum RuleMatcher {
    /// The text, even if it cannot be parsed.
    Text(fn(&[u8], &mut RuleReport<'_>)),
    /// Each warning of the parser.
    Warning(fn(&Warning, &[u8], &mut RuleReport<'_>)),
    /// Each node of the tree.
    Node(for<'a> fn(&CheckContext<'a>, SyntaxNode<'a>, &mut RuleReport<'_>)),
    /// Each list of statements.
    List(for<'a> fn(&CheckContext<'a>, &'a List, &mut RuleReport<'_>)),
    /// The plan of the whole script, which includes nested scripts and commands run by wrappers.
    Plan(fn(&ScriptPlan, &mut RuleReport<'_>)),
    /// Each simple command with a name.
    Simple(for<'a> fn(&CheckContext<'a>, &SimpleView<'a>, &mut RuleReport<'_>)),
}

/// Collects the findings of a rule.
pub(super) struct RuleReport<'r> {
    pub(super) rule: &'r Rule,
    pub(super) found: &'r mut Vec<Diagnostic>,
}

impl RuleReport<'_> {
    /// Adds a finding with the rule's severity.
    pub(super) fn add(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.found.push(Diagnostic {
            code: self.rule.code,
            severity: self.rule.severity,
            span,
            message: message.into(),
            hint: None,
            related: Vec::new(),
            incomplete: false,
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }
}

impl Diagnostic {
    /// Adds a hint.
    pub(super) fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a related source range.
    pub(super) fn relate(&mut self, span: Span, note: impl Into<String>) -> &mut Self {
        self.related.push((span, note.into()));
        self
    }
}
