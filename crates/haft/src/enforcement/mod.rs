//! Enforces a policy: the commands that haft runs itself are judged one by one, and programs get a sandbox.
//!
//! [`apply`] is called once, before a command starts anything. The [`ProcessContext`] that it returns carries the policy:
//! every kernel, host and program that is made with it is limited.

mod active;
mod approval;
mod enforced;
mod guard;
mod network;
mod options;
mod prompt;
mod proxy;

pub(crate) use active::ActivePolicy;
pub(crate) use enforced::{Enforced, EnforcementReport};
pub(crate) use options::PolicyOptions;

use haft_policy::Policy;

use crate::failure::Failure;
use crate::policy;
use crate::process_context::ProcessContext;

/// Returns how far this machine can enforce a policy.
///
/// # Errors
/// If the kernel refuses a sandbox.
pub(crate) fn enforceable(policy: &Policy) -> Result<Enforced, Failure> {
    let options = PolicyOptions { best_effort: true, ..PolicyOptions::default() };
    Ok(ActivePolicy::new(policy.clone(), &options)?.report().enforced)
}

/// Applies the policy of the configuration and the options. Returns the context of this process with the policy, and without
/// the variables that the policy withholds.
///
/// # Errors
/// If a policy is invalid, or this machine cannot enforce it.
pub(crate) fn apply(options: &PolicyOptions, process: &ProcessContext) -> Result<ProcessContext, Failure> {
    let mut surroundings = process.clone();
    if let (Some(directory), Some(base)) = (&options.directory, &process.working_directory) {
        surroundings.working_directory = Some(base.join(directory));
    }
    let policy = policy::load(options.policy.as_deref(), &surroundings)?;
    if policy.is_unlimited() {
        return Ok(process.clone());
    }
    let mut limited = process.clone();
    limited.withhold(|name, is_secret| !policy.decide_variable(name, is_secret).is_allowed());
    let active = ActivePolicy::new(policy, options)?;
    for (name, value) in active.proxy_variables() {
        let _ = limited.environment.set(name, value);
    }
    limited.policy = Some(active);
    Ok(limited)
}
