//! Rules, described once: what `--explain` shows, what the documentation lists and what the tests run.

use super::diagnostic::{Diagnostic, Severity};
use super::scene::{Scene, Simple};
use crate::ast::{List, Span, Warning};
use crate::plan::Plan;
use crate::walk::Node;

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
    pub(super) look: Look,
}

/// What a rule looks at.
#[derive(Debug)]
pub(super) enum Look {
    /// The text, whether or not it could be parsed.
    Text(fn(&[u8], &mut Report<'_>)),
    /// What the parser warned about.
    Warning(fn(&Warning, &[u8], &mut Report<'_>)),
    /// Every node of the tree.
    Node(for<'a> fn(&Scene<'a>, Node<'a>, &mut Report<'_>)),
    /// Every list of statements.
    List(for<'a> fn(&Scene<'a>, &'a List, &mut Report<'_>)),
    /// The plan of the whole script, in which wrappers and text within text are followed.
    Plan(fn(&Plan, &mut Report<'_>)),
    /// Every simple command that has a name or arguments.
    Simple(for<'a> fn(&Scene<'a>, &Simple<'a>, &mut Report<'_>)),
}

/// Where a rule puts what it finds.
pub(super) struct Report<'r> {
    pub(super) rule: &'r Rule,
    pub(super) found: &'r mut Vec<Diagnostic>,
}

impl Report<'_> {
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
