//! Typed arguments of haft's commands and of tools.

use crate::ast::Argument;
use crate::check::context::{CheckContext, SimpleView};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};

/// `spawn comand=make`. The resolver checks the arguments.
pub(super) static BAD_ARGUMENTS: Rule = Rule {
    code: "bad-arguments",
    severity: Severity::Warning,
    summary: "invalid arguments of a command or a tool",
    explanation: "The literal arguments of `spawn`, `scatter`, `gather` or a tool do not fit its schema: it would \
        fail before it does anything.",
    wrong: &["spawn comand=make", "spawn command=make timeout=5s", "spawn timeout=1 nope=2 make"],
    right: &[
        "spawn command=make timeout=5000",
        "spawn command=make argv=[\"a\", \"$b\"]",
        "spawn command=make timeout=$limit",
        "spawn make nope=2",
        "spawn() { :; }; spawn comand=make",
    ],
    matcher: RuleMatcher::Simple(bad_arguments),
};

fn bad_arguments(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    if command.name.is_empty() || context.is_defined_here(command.name) {
        return;
    }
    let arguments = command.simple.arguments.iter().skip(1).map(|argument| literal(context, argument));
    let Some(arguments) = arguments.collect::<Option<Vec<&[u8]>>>() else { return };
    if let Some(problem) = context.resolver.check_arguments(command.name, &arguments) {
        let shown = String::from_utf8_lossy(command.name);
        report.add(command.command.span, format!("{shown}: {problem}"));
    }
}

/// The text of an argument without expansions.
fn literal<'a>(context: &CheckContext<'a>, argument: &'a Argument) -> Option<&'a [u8]> {
    match argument {
        Argument::Word(word) => word.literal(),
        Argument::Json(json) => {
            let text = json.span.of(context.source);
            (!text.iter().any(|byte| b"$`\\".contains(byte))).then_some(text)
        }
        Argument::Assignment(_) => None,
    }
}
