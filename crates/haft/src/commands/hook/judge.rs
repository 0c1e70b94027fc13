//! Judges a call by the policy.

use haft_lang::{ParseOptions, Script};
use haft_policy::{Decision, Policy, PolicyVerdict, StepDecision};

use super::call::{HookCall, HookSubject};
use super::settings::HookSettings;
use crate::commands::policy::check;
use crate::commands::script::{NameResolver, quote};
use crate::policy;
use crate::process_context::ProcessContext;

/// The judgement of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HookJudgement {
    pub(super) verdict: PolicyVerdict,
    pub(super) reason: String,
    /// The command that runs the script under haft instead.
    pub(super) rewritten: Option<String>,
}

/// Judges a call. Returns `None` if the policy has no opinion: no rule is about it, or the script cannot be parsed.
pub(super) fn judge(
    call: &HookCall,
    policy: &Policy,
    settings: &HookSettings,
    process: &ProcessContext,
) -> Option<HookJudgement> {
    match &call.subject {
        HookSubject::Script(text) => judge_script(text, policy, settings, process),
        HookSubject::File(access, path) => {
            let directory = process.directory_or_link().unwrap_or_default();
            explicit(&policy.decide_file(*access, &policy::resolve(&directory.join(path))))
        }
        HookSubject::Host(host, port) => explicit(&policy.decide_network(host, *port)),
    }
}

/// A decision that a rule made. An allowed call keeps the agent's own behaviour, because the policy limits what may happen
/// and does not answer for the agent's tools.
fn explicit(decision: &Decision) -> Option<HookJudgement> {
    let is_limit = decision.verdict != PolicyVerdict::Allow;
    is_limit.then(|| HookJudgement {
        verdict: decision.verdict,
        reason: described(decision),
        rewritten: None,
    })
}

fn judge_script(
    text: &str,
    policy: &Policy,
    settings: &HookSettings,
    process: &ProcessContext,
) -> Option<HookJudgement> {
    let script = Script::parse(text.as_bytes(), &ParseOptions::default());
    if script.error().is_some() {
        return None;
    }
    let names = NameResolver::without_tools(process);
    let decisions = check::decide(policy, &script, text.as_bytes(), &names, process);
    let strictest = decisions.iter().max_by_key(|step| step.verdict())?;
    let verdict = strictest.verdict();
    if verdict != PolicyVerdict::Allow {
        // The agent asks. Under haft the same rule would ask again, where nobody can answer.
        return Some(HookJudgement { verdict, reason: reason(strictest), rewritten: None });
    }
    let rewritten = settings.rewrite.then(|| rewrite(text, &decisions, settings)).flatten();
    if decisions.iter().all(|step| step.vouched) {
        let reason = "allowed by the policy of haft".to_owned();
        return Some(HookJudgement { verdict, reason, rewritten });
    }
    // No rule allows it, so the user sees the command that runs instead.
    let reason = "runs under haft".to_owned();
    rewritten.map(|command| HookJudgement { verdict: PolicyVerdict::Ask, reason, rewritten: Some(command) })
}

/// The reason of a decision about a command or one of its files.
fn reason(step: &StepDecision) -> String {
    let file = step.files.iter().find(|file| file.decision.verdict == step.verdict());
    let decision = match file {
        Some(file) if step.decision.verdict != step.verdict() => &file.decision,
        _ => &step.decision,
    };
    format!("'{}': {}", step.command, described(decision))
}

fn described(decision: &Decision) -> String {
    let verb = if decision.verdict == PolicyVerdict::Deny { "denied" } else { "needs confirmation" };
    format!("{verb} by the policy of haft: {}", decision.to_string().trim_start())
}

/// The command that runs a script under haft. A script that changes the directory of the agent's shell is left alone, and
/// so is one that already runs under haft.
fn rewrite(text: &str, decisions: &[StepDecision], settings: &HookSettings) -> Option<String> {
    let names = decisions.iter().filter_map(|step| step.command.split(' ').next());
    let is_own =
        |name: &str| matches!(name, "cd" | "pushd" | "popd") || name == "haft" || name.ends_with("/haft");
    if names.clone().any(is_own) {
        return None;
    }
    let own = std::fs::read_link("/proc/self/exe").ok()?;
    let options: String =
        settings.options.iter().map(|option| format!(" {}", quote(option.as_ref()))).collect();
    Some(format!("{} run{options} -c {}", quote(own.as_os_str()), quote(text.as_ref())))
}
