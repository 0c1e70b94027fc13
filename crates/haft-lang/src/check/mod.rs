//! What is certainly or probably wrong with a script, found before anything runs.
//!
//! Each thing that is looked for is a [`Rule`]: a code, a severity, words that explain it, examples that show it, and a
//! function that finds it. The examples are the rules' tests. [`check`] reads a script, collects what is true of it as a
//! whole (which functions it defines, which variables it assigns), walks the tree once and lets every rule
//! look at every node.
//!
//! A false alarm is worse than a miss: a rule keeps silent wherever the text leaves a doubt that the author may know
//! better. An *error* is what cannot work and what the script gets to whatever happens, or what destroys the system; a
//! *warning* is what most probably is not meant; a *note* is worth knowing.
//!
//! The rules about dangerous commands look at the [plan](crate::plan) of the script, which follows wrappers and text
//! within text and knows the files that commands use.

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
use crate::{ParseOptions, parse_script};

pub use diagnostic::{Diagnostic, LocatedDiagnostic, Severity};
pub use rule::Rule;
pub use rules::RULES;

use context::{CheckContext, SimpleView};
use facts::Facts;
use rule::{Matcher, RuleReport};

/// Checks a script: what is wrong with it, in the order of the text.
///
/// If it cannot be parsed, the syntax error is in the list, and what can be said of the text without its structure.
///
/// ```
/// use haft_lang::{BuiltinsOnly, ParseOptions, check};
///
/// let found = check::check(b"make test 2>1", &ParseOptions::default(), &BuiltinsOnly);
/// assert_eq!(found[0].code, "redirect-number");
/// ```
#[must_use]
pub fn check(source: &[u8], options: &ParseOptions, resolver: &dyn Resolver) -> Vec<Diagnostic> {
    let script = parse_script(source, options);
    match &script.error {
        None => check_program(&script.program, source, resolver),
        Some(error) => {
            let mut found = vec![Diagnostic::from(error)];
            look_at_text(source, &mut found);
            sorted(found)
        }
    }
}

/// Checks a program that was parsed already: `source` is the text it was parsed from.
#[must_use]
pub fn check_program(program: &Program, source: &[u8], resolver: &dyn Resolver) -> Vec<Diagnostic> {
    let facts = Facts::of(program, source);
    let mut found = Vec::new();
    look_at_text(source, &mut found);
    look_at_warnings(program, source, &mut found);
    let resolver = CachingResolver::new(resolver);
    let context = CheckContext { source, facts: &facts, resolver: &resolver, parents: Vec::new() };
    let mut runner = RuleRunner { context, found, left: false };
    runner.visit(SyntaxNode::List(&program.body));
    look_at_plan(&crate::plan::plan(program, source, &resolver), &mut runner.found);
    sorted(runner.found)
}

/// The rule of this code.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

/// Rules whose finding is told once, where it is seen first, and not at each repetition.
const ONCE: &[&str] = &["command-not-found", "unset-variable"];

fn sorted(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    let mut seen = BTreeSet::new();
    found.retain(|diagnostic| {
        !ONCE.contains(&diagnostic.code) || seen.insert((diagnostic.code, diagnostic.message.clone()))
    });
    found.dedup_by(|later, earlier| later.code == earlier.code && later.span.range() == earlier.span.range());
    found
}

fn look_at_text(source: &[u8], found: &mut Vec<Diagnostic>) {
    for rule in RULES {
        if let Matcher::Text(matches) = rule.matcher {
            matches(source, &mut RuleReport { rule, found });
        }
    }
}

fn look_at_warnings(program: &Program, source: &[u8], found: &mut Vec<Diagnostic>) {
    for rule in RULES {
        if let Matcher::Warning(matches) = rule.matcher {
            program
                .warnings
                .iter()
                .for_each(|warning| matches(warning, source, &mut RuleReport { rule, found }));
        }
    }
}

fn look_at_plan(plan: &ScriptPlan, found: &mut Vec<Diagnostic>) {
    for rule in RULES {
        if let Matcher::Plan(matches) = rule.matcher {
            matches(plan, &mut RuleReport { rule, found });
        }
    }
}

struct RuleRunner<'a> {
    context: CheckContext<'a>,
    found: Vec<Diagnostic>,
    /// Whether a statement before always leaves.
    left: bool,
}

impl<'a> RuleRunner<'a> {
    fn visit(&mut self, node: SyntaxNode<'a>) {
        self.matches(node);
        self.context.parents.push(node);
        let left = self.left;
        node.children(&mut |child| {
            self.visit(child);
            self.left |=
                matches!(child, SyntaxNode::Statement(statement) if rules::leaves(&self.context, statement));
        });
        self.left = left;
        self.context.parents.pop();
    }

    fn matches(&mut self, node: SyntaxNode<'a>) {
        let simple = match node {
            SyntaxNode::Command(command) => SimpleView::of(command),
            _ => None,
        };
        let before = self.found.len();
        for rule in RULES {
            let mut report = RuleReport { rule, found: &mut self.found };
            match (&rule.matcher, node, &simple) {
                (Matcher::Node(matches), ..) => matches(&self.context, node, &mut report),
                (Matcher::List(matches), SyntaxNode::List(list), _) => {
                    matches(&self.context, list, &mut report);
                }
                (Matcher::Simple(matches), _, Some(simple)) => matches(&self.context, simple, &mut report),
                _ => {}
            }
        }
        self.temper(before, node);
    }

    /// What the script may never get to does not keep it from running: it is a warning, however wrong it is.
    fn temper(&mut self, before: usize, node: SyntaxNode<'a>) {
        let new = self.found.get_mut(before..).unwrap_or_default();
        let mut errors = new.iter_mut().filter(|found| found.severity == Severity::Error).peekable();
        if errors.peek().is_some() && (self.left || !self.context.is_reached(node)) {
            errors.for_each(|found| found.severity = Severity::Warning);
        }
    }
}
