//! Mistakes in the operands of `[` and `test`.

use crate::ast::{Parameter, ParameterOperator, PartKind, SpecialParameter, Word, WordFlags, WordPart};
use crate::check::context::{CheckContext, SimpleView, unquoted};
use crate::check::diagnostic::Severity;
use crate::check::facts::prints_one_word;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};

/// Returns the operands and operators of a test, without `]`.
fn operands<'a>(command: &SimpleView<'a>) -> Option<Vec<&'a Word>> {
    let mut words = command.words.clone();
    match command.name {
        b"test" => {}
        b"[" if words.last()?.literal() == Some(b"]") => drop(words.pop()),
        _ => return None,
    }
    Some(words)
}

fn is_text_operator(word: &Word) -> bool {
    matches!(word.literal(), Some(b"=" | b"==" | b"!=" | b"<" | b">"))
}

fn is_number_operator(word: &Word) -> bool {
    matches!(word.literal(), Some(b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge"))
}

/// Whether the expansion is certainly exactly one word.
pub(super) fn is_safe(context: &CheckContext<'_>, part: &WordPart) -> bool {
    match &part.kind {
        PartKind::Variable(name) => context.facts.is_one_word(name),
        PartKind::Parameter(expansion) => match (&expansion.parameter, &expansion.operator) {
            (_, ParameterOperator::Length) => true,
            (Parameter::Special(special), _) => {
                !matches!(special, SpecialParameter::At | SpecialParameter::Star)
            }
            (_, ParameterOperator::Default { word, or_empty: true }) => {
                word.literal().is_some_and(|text| !text.is_empty())
            }
            _ => false,
        },
        PartKind::Arithmetic(_) => true,
        PartKind::Command(substitution) => prints_one_word(&substitution.body),
        _ => false,
    }
}

/// `[ $a = b ]`.
pub(super) static UNQUOTED: Rule = Rule {
    code: "test-unquoted",
    severity: Severity::Warning,
    summary: "an unquoted variable in a comparison in \"[ ]\"",
    explanation: "If the variable is empty, the operand disappears and \"[\" fails. If it contains blanks or a \
        pattern, there are too many operands. Quote it, or use [[ ]].",
    wrong: &["[ $1 = start ]", "read -r a; test $a == b && :"],
    right: &[
        "[ \"$1\" = start ]",
        "[[ $1 = start ]]",
        "[ $# = 2 ]",
        "a=yes; [ $a = yes ]",
        "[ x$1 = xstart ]",
        "[ ${1:-no} = yes ]",
    ],
    matcher: RuleMatcher::Simple(unquoted_operand),
};

fn unquoted_operand(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(words) = operands(command) else { return };
    for (at, operator) in words.iter().enumerate().filter(|(_, word)| is_text_operator(word)) {
        let _ = operator;
        let sides = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| words.get(at));
        for word in sides {
            let [part] = word.parts() else { continue };
            if unquoted(word).next().is_none()
                || is_safe(context, part)
                || !word.flags.contains(WordFlags::SPLIT)
            {
                continue;
            }
            let text = context.text(word.span);
            let found = report.add(
                word.span,
                format!("unquoted \"{text}\": the test fails if it is empty or several words"),
            );
            found.hint("use double quotes, or [[ ]]");
        }
    }
}

/// `[ -n $a ]`.
pub(super) static ALWAYS_TRUE: Rule = Rule {
    code: "test-always-true",
    severity: Severity::Warning,
    summary: "\"[ -n $x ]\" is true even if x is empty",
    explanation: "An empty unquoted variable disappears, and [ -n ] tests whether the string \"-n\" is empty. \
        Quote the variable.",
    wrong: &["[ -n $x ]", "test -n $(ls)"],
    right: &["[ -n \"$x\" ]", "[[ -n $x ]]", "[ -z \"$x\" ]"],
    matcher: RuleMatcher::Simple(always_true),
};

fn always_true(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(words) = operands(command) else { return };
    for pair in words.windows(2) {
        let [part] = pair[1].parts() else { continue };
        if pair[0].literal() == Some(b"-n") && unquoted(pair[1]).next().is_some() && !is_safe(context, part) {
            let text = context.text(pair[1].span);
            let found = report.add(
                pair[1].span,
                format!("always true, because the unquoted \"{text}\" disappears if it is empty"),
            );
            found.hint("use double quotes");
        }
    }
}

/// `[ "$a" = *.txt ]`.
pub(super) static GLOB: Rule = Rule {
    code: "test-pattern",
    severity: Severity::Warning,
    summary: "a pattern in a comparison in \"[ ]\" expands to file names",
    explanation: "\"[\" compares strings. The shell replaces an unquoted pattern with the matching file names. \
        Use [[ $a == *.txt ]] or case.",
    wrong: &["[ \"$a\" = *.txt ]", "test \"$a\" != x*"],
    right: &["[[ $a = *.txt ]]", "[ \"$a\" = '*' ]", "[ \"$a\" = x ]"],
    matcher: RuleMatcher::Simple(pattern),
};

fn pattern(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(words) = operands(command) else { return };
    for pair in words.windows(2) {
        if is_text_operator(pair[0]) && pair[1].flags.contains(WordFlags::GLOB) {
            let text = context.text(pair[1].span);
            let found =
                report.add(pair[1].span, format!("\"{text}\" expands to file names instead of matching"));
            found.hint("use [[ ]] to match patterns");
        }
    }
}

/// `[ abc -eq 1 ]`.
pub(super) static NOT_A_NUMBER: Rule = Rule {
    code: "test-not-a-number",
    severity: Severity::Error,
    summary: "an integer comparison in \"[ ]\" with a string",
    explanation: "-eq, -lt and similar operators compare integers. With any other operand, \"[\" fails with \
        status 2. Use = and != for strings.",
    wrong: &["[ \"$a\" -eq yes ]", "test 1.5 -gt 1"],
    right: &["[ \"$a\" = yes ]", "[ \"$a\" -eq 10 ]", "[ -1 -lt \"$b\" ]", "[[ a -eq 1 ]]"],
    matcher: RuleMatcher::Simple(not_a_number),
};

fn not_a_number(context: &CheckContext<'_>, command: &SimpleView<'_>, report: &mut RuleReport<'_>) {
    let Some(words) = operands(command) else { return };
    let [left, operator, right] = words.as_slice() else { return };
    if !is_number_operator(operator) {
        return;
    }
    for word in [left, right] {
        let Some(text) = word.literal() else { continue };
        let trimmed = text.trim_ascii();
        let digits = trimmed.strip_prefix(b"-").or(trimmed.strip_prefix(b"+")).unwrap_or(trimmed);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            let shown = context.text(word.span);
            report
                .add(word.span, format!("\"{shown}\" is not an integer"))
                .hint("use \"=\" to compare strings");
        }
    }
}
