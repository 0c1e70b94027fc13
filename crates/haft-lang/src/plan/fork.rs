//! Fork bombs: functions that start themselves in parallel, whatever happens.

use crate::ast::{CommandKind, Function, List, Statement};
use crate::walk::SyntaxNode;

/// Whether each call of the function starts it again in a pipeline or in the background, without a condition.
pub(super) fn forks_itself(function: &Function) -> bool {
    match &function.body.kind {
        CommandKind::Group(body) | CommandKind::Subshell(body) => list(function, body, false),
        _ => false,
    }
}

fn list(function: &Function, list: &List, apart: bool) -> bool {
    for one in &*list.statements {
        if may_leave(one) {
            return false;
        }
        if statement(function, one, apart) {
            return true;
        }
    }
    false
}

/// Whether the first pipeline of a statement starts the function beside what goes on.
fn statement(function: &Function, statement: &Statement, apart: bool) -> bool {
    let stages = &statement.first.stages;
    let apart = apart || statement.background || stages.len() > 1;
    stages.iter().any(|stage| match &stage.kind {
        CommandKind::Simple(simple) => apart && simple.name() == Some(&*function.name),
        CommandKind::Group(body) | CommandKind::Subshell(body) => list(function, body, apart),
        CommandKind::Loop(repeated) => endless(&repeated.condition) && list(function, &repeated.body, apart),
        _ => false,
    })
}

/// Whether a condition is `true` or `:`.
fn endless(condition: &List) -> bool {
    let [statement] = &*condition.statements else { return false };
    let [stage] = &*statement.first.stages else { return false };
    matches!(&stage.kind, CommandKind::Simple(simple) if matches!(simple.name(), Some(b"true" | b":")))
}

/// Whether anything in a statement may end the function or the shell.
fn may_leave(statement: &Statement) -> bool {
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
