//! Finds mistakes in a script before it runs.
//!
//! Each kind of mistake has a [`Rule`]: a code, a severity, an explanation, examples, and a function that
//! finds it. The examples are the tests of the rule. [`check`] parses a script, collects facts about the
//! whole script (defined functions, assigned variables), walks the tree once and applies every rule to every
//! node.
//!
//! A false alarm is worse than a missed mistake, so a rule reports nothing if the author may have had a
//! reason. An *error* always fails and is always reached, or destroys the system. A *warning* is probably a
//! mistake. A *note* is worth knowing.
//!
//! The rules about dangerous commands use the [plan](crate::plan) of the script, which follows wrappers and
//! nested scripts and knows the files that commands use.

mod context;
mod diagnostic;
mod facts;
mod rule;
mod rules;

use std::collections::BTreeSet;

use crate::ast::Program;
use crate::plan::ScriptPlan;
use crate::resolve::{CachingResolver, Resolver};
use crate::walk::SyntaxNode;
use crate::{ParseOptions, Script};

pub use diagnostic::{Diagnostic, LocatedDiagnostic, Severity};
pub use rule::Rule;
pub use rules::RULES;

use context::{CheckContext, SimpleView};
use facts::Facts;
use rule::{RuleMatcher, RuleReport};

/// Checks a script and returns the problems in source order.
///
/// If the script cannot be parsed, the result contains the syntax error and the findings of rules that need
/// no parse tree.
///
/// ```
/// use haft_lang::{BuiltinsOnly, ParseOptions, check};
///
/// let found = check::check(b"make test 2>1", &ParseOptions::default(), &BuiltinsOnly);
/// assert_eq!(found[0].code, "redirect-number");
/// ```
#[must_use]
pub fn check(source: &[u8], options: &ParseOptions, resolver: &dyn Resolver) -> Vec<Diagnostic> {
    let script = Script::parse(source, options);
    match script.error() {
        None => check_program(&script.program(), source, resolver),
        Some(error) => {
            let mut found = vec![Diagnostic::from(error)];
            check_text(source, &mut found);
            sorted(found)
        }
    }
}

/// Checks a parsed program. `source` is the text it was parsed from.
#[must_use]
pub fn check_program(program: &Program, source: &[u8], resolver: &dyn Resolver) -> Vec<Diagnostic> {
    let facts = Facts::of(program, source);
    let mut found = Vec::new();
    check_text(source, &mut found);
    check_warnings(program, source, &mut found);
    let resolver = CachingResolver::new(resolver);
    let context = CheckContext { source, facts: &facts, resolver: &resolver, parents: Vec::new() };
    let mut runner = RuleRunner { context, found, exited: false };
    runner.visit(SyntaxNode::List(&program.body));
    check_plan(&crate::plan::plan(program, source, &resolver), &mut runner.found);
    sorted(runner.found)
}

/// Returns the rule with a code.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

/// Rules that report each message only once, at its first occurrence.
const REPORTED_ONCE: &[&str] = &["command-not-found", "unset-variable"];

fn sorted(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    let mut seen = BTreeSet::new();
    found.retain(|diagnostic| {
        !REPORTED_ONCE.contains(&diagnostic.code)
            || seen.insert((diagnostic.code, diagnostic.message.clone()))
    });
    found.dedup_by(|later, earlier| later.code == earlier.code && later.span.range() == earlier.span.range());
    found
}

fn check_text(source: &[u8], found: &mut Vec<Diagnostic>) {
    for rule in RULES {
        if let RuleMatcher::Text(matches) = rule.matcher {
            matches(source, &mut RuleReport { rule, found });
        }
    }
}

fn check_warnings(program: &Program, source: &[u8], found: &mut Vec<Diagnostic>) {
    for rule in RULES {
        if let RuleMatcher::Warning(matches) = rule.matcher {
            program
                .warnings
                .iter()
                .for_each(|warning| matches(warning, source, &mut RuleReport { rule, found }));
        }
    }
}

fn check_plan(plan: &ScriptPlan, found: &mut Vec<Diagnostic>) {
    for rule in RULES {
        if let RuleMatcher::Plan(matches) = rule.matcher {
            matches(plan, &mut RuleReport { rule, found });
        }
    }
}

struct RuleRunner<'a> {
    context: CheckContext<'a>,
    found: Vec<Diagnostic>,
    /// Whether an earlier statement always exits.
    exited: bool,
}

impl<'a> RuleRunner<'a> {
    fn visit(&mut self, node: SyntaxNode<'a>) {
        self.apply_rules(node);
        self.context.parents.push(node);
        let exited = self.exited;
        node.children(&mut |child| {
            self.visit(child);
            self.exited |=
                matches!(child, SyntaxNode::Statement(statement) if rules::always_exits(&self.context, statement));
        });
        self.exited = exited;
        self.context.parents.pop();
    }

    fn apply_rules(&mut self, node: SyntaxNode<'a>) {
        let simple = match node {
            SyntaxNode::Command(command) => SimpleView::of(command),
            _ => None,
        };
        let before = self.found.len();
        for rule in RULES {
            let mut report = RuleReport { rule, found: &mut self.found };
            match (&rule.matcher, node, &simple) {
                (RuleMatcher::Node(matches), ..) => matches(&self.context, node, &mut report),
                (RuleMatcher::List(matches), SyntaxNode::List(list), _) => {
                    matches(&self.context, list, &mut report);
                }
                (RuleMatcher::Simple(matches), _, Some(simple)) => {
                    matches(&self.context, simple, &mut report);
                }
                _ => {}
            }
        }
        self.lower_unreached(before, node);
    }

    /// Lowers errors to warnings in commands that the script may never reach.
    fn lower_unreached(&mut self, before: usize, node: SyntaxNode<'a>) {
        let new = self.found.get_mut(before..).unwrap_or_default();
        let mut errors = new.iter_mut().filter(|found| found.severity == Severity::Error).peekable();
        if errors.peek().is_some() && (self.exited || !self.context.is_always_reached(node)) {
            errors.for_each(|found| found.severity = Severity::Warning);
        }
    }
}
