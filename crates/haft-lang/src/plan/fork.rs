//! Detects fork bombs: functions that always start themselves in parallel.

use crate::ast::{CommandKind, Function, List, Statement};
use crate::walk::SyntaxNode;

/// Whether each call of the function unconditionally starts it again in a pipeline or in the background.
pub(super) fn forks_itself(function: &Function) -> bool {
    match &function.body.kind {
        CommandKind::Group(body) | CommandKind::Subshell(body) => list(function, body, false),
        _ => false,
    }
}

fn list(function: &Function, list: &List, parallel: bool) -> bool {
    for one in &*list.statements {
        if may_exit(one) {
            return false;
        }
        if statement(function, one, parallel) {
            return true;
        }
    }
    false
}

/// Whether the first pipeline of a statement starts the function in parallel.
fn statement(function: &Function, statement: &Statement, parallel: bool) -> bool {
    let stages = &statement.first.stages;
    let parallel = parallel || statement.background || stages.len() > 1;
    stages.iter().any(|stage| match &stage.kind {
        CommandKind::Simple(simple) => parallel && simple.name() == Some(&*function.name),
        CommandKind::Group(body) | CommandKind::Subshell(body) => list(function, body, parallel),
        CommandKind::Loop(repeated) => {
            endless(&repeated.condition) && list(function, &repeated.body, parallel)
        }
        _ => false,
    })
}

/// Whether a condition is `true` or `:`.
fn endless(condition: &List) -> bool {
    let [statement] = &*condition.statements else { return false };
    let [stage] = &*statement.first.stages else { return false };
    matches!(&stage.kind, CommandKind::Simple(simple) if matches!(simple.name(), Some(b"true" | b":")))
}

/// Whether anything in a statement may exit the function or the shell.
fn may_exit(statement: &Statement) -> bool {
    let mut leaves = false;
    SyntaxNode::Statement(statement).descend(&mut |node| {
        if let SyntaxNode::Command(command) = node
            && let CommandKind::Simple(simple) = &command.kind
        {
            leaves |= matches!(simple.name(), Some(b"return" | b"exit" | b"exec" | b"break"));
        }
    });
    leaves
}
