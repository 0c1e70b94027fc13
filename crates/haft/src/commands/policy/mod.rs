//! `haft policy`: check scripts against a policy, and explain, test and import policies.

pub(crate) mod arguments;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod show;
pub(crate) mod test;

use self::arguments::{PolicyAction, PolicyArguments};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// Runs an action of `haft policy`.
pub(crate) fn run(arguments: PolicyArguments, process: &ProcessContext) -> Result<i32, Failure> {
    match arguments.action {
        PolicyAction::Check(arguments) => check::run(arguments, process),
        PolicyAction::Explain(arguments) => explain::run(&arguments, process),
        PolicyAction::Test(arguments) => test::run(&arguments, process),
        PolicyAction::Show(arguments) => Ok(show::run(&arguments)),
        PolicyAction::Import(arguments) => import::run(&arguments, process),
    }
}
