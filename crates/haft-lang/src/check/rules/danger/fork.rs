//! Fork bombs.

use super::step_tree::{name, words};
use crate::check::diagnostic::Severity;
use crate::check::rule::{Rule, RuleMatcher, RuleReport};
use crate::plan::{Expansion, PlanStep, PlannedWord, ScriptPlan, StepAction, StepRole, WordPiece, is_shell};

/// `:(){ :|:& };:`.
pub(in crate::check::rules) static FORK_BOMB: Rule = Rule {
    code: "fork-bomb",
    severity: Severity::Error,
    summary: "a function or script that starts copies of itself without end",
    explanation: "Each call starts the same code again in a pipeline or in the background, without a condition \
        that ends it. The number of processes doubles until the machine can start no more.",
    wrong: &[
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
        "f() { f & f; }\nf",
        "f() { echo x; ( f & ); f; }",
        "function f { while true; do f & done; }",
        "bash -c ':(){ :|:& };:'",
        "eval ':(){ :|:& };:'",
        "$0 & $0",
        "\"$0\" | \"$0\" &",
        "bash $0 & bash $0 &",
        "perl -e 'fork while 1'",
        "python3 -c 'import os\nwhile True: os.fork()'",
    ],
    right: &[
        "f() { [ $# -gt 0 ] || return; f \"${@:2}\" & }",
        "f() { if [ -d \"$1\" ]; then f \"$1/x\" & fi; }",
        "f() { g | g & }; f",
        "f() { f; }",
        "f() { [ \"$1\" ] && f & }",
        "\"$0\" --child & wait",
        "exec \"$0\" \"$@\"",
        "sleep 1 & sleep 2 &",
        "perl -e 'my $pid = fork; exit unless $pid'",
    ],
    matcher: RuleMatcher::Plan(fork_bomb),
};

fn fork_bomb(plan: &ScriptPlan, report: &mut RuleReport<'_>) {
    const ENDLESS: &str = "this starts copies of itself until the machine can start no more processes";
    for step in &plan.steps {
        if matches!(step.action, StepAction::Define { forks_itself: true, .. }) || forks_in_language(step) {
            report.add(step.span, ENDLESS);
        }
    }
    let selves: Vec<&PlanStep> = plan.steps.iter().filter(|step| starts_itself(step)).collect();
    let apart = |step: &&&PlanStep| step.conditions.background || step.stage.is_some();
    if let Some(first) = selves.iter().find(apart).filter(|_| selves.len() > 1) {
        report.add(first.span, ENDLESS);
    }
}

/// Whether a step always runs the script itself, without arguments.
fn starts_itself(step: &PlanStep) -> bool {
    let is_script = |item: &PlannedWord| match item.pieces.as_slice() {
        [WordPiece::Dynamic { by: Expansion::Parameter, source }] => {
            matches!(&**source, b"$0" | b"${0}" | b"$BASH_SOURCE")
        }
        _ => false,
    };
    let itself = match step.argv.as_slice() {
        [only] => is_script(only),
        [_, script] => is_shell(name(step)) && is_script(script),
        _ => false,
    };
    itself && step.role == StepRole::Statement && !step.conditions.conditional
}

/// Whether a step is a Perl, Python or Ruby fork bomb.
fn forks_in_language(step: &PlanStep) -> bool {
    let program =
        words(step).into_iter().find(|word| word.len() > 4 && !word.starts_with(b"-")).unwrap_or_default();
    let has = |text: &[u8]| memchr::memmem::find(program, text).is_some();
    match crate::plan::interpreter_name(name(step)) {
        b"perl" | b"ruby" => {
            has(b"fork while 1")
                || has(b"fork while fork")
                || has(b"fork while true")
                || has(b"while(1){fork")
                || has(b"loop{fork")
                || has(b"loop { fork")
        }
        b"python" | b"python2" | b"python3" => {
            has(b"os.fork()") && (has(b"while True:") || has(b"while 1:")) && !has(b"if ") && !has(b"break")
        }
        _ => false,
    }
}
