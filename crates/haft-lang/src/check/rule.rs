//! Rules, described once: what `--explain` shows, what the documentation lists and what the tests run.

use super::context::{CheckContext, SimpleView};
use super::diagnostic::{Diagnostic, Severity};
use crate::ast::{List, Span, Warning};
use crate::plan::ScriptPlan;
use crate::walk::SyntaxNode;

/// Something that is looked for.
#[derive(Debug)]
pub struct Rule {
    /// Its name: short, stable, words joined by dashes.
    pub code: &'static str,
    /// How bad it is at worst.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Why that is wrong and what to do instead.
    pub explanation: &'static str,
    /// Scripts in which it finds something.
    pub wrong: &'static [&'static str],
    /// Scripts in which it does not.
    pub right: &'static [&'static str],
    pub(super) matcher: Matcher,
}

/// What a rule looks at.
#[derive(Debug)]
pub(super) enum Matcher {
    /// The text, whether or not it could be parsed.
    Text(fn(&[u8], &mut RuleReport<'_>)),
    /// What the parser warned about.
    Warning(fn(&Warning, &[u8], &mut RuleReport<'_>)),
    /// Every node of the tree.
    Node(for<'a> fn(&CheckContext<'a>, SyntaxNode<'a>, &mut RuleReport<'_>)),
    /// Every list of statements.
    List(for<'a> fn(&CheckContext<'a>, &'a List, &mut RuleReport<'_>)),
    /// The plan of the whole script, in which wrappers and text within text are followed.
    Plan(fn(&ScriptPlan, &mut RuleReport<'_>)),
    /// Every simple command that has a name or arguments.
    Simple(for<'a> fn(&CheckContext<'a>, &SimpleView<'a>, &mut RuleReport<'_>)),
}

/// Where a rule puts what it finds.
pub(super) struct RuleReport<'r> {
    pub(super) rule: &'r Rule,
    pub(super) found: &'r mut Vec<Diagnostic>,
}

impl RuleReport<'_> {
    /// Adds what was found, as bad as the rule says.
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

    /// Adds a place that has to do with it.
    pub(super) fn relate(&mut self, span: Span, note: impl Into<String>) -> &mut Self {
        self.related.push((span, note.into()));
        self
    }
}
