//! `haft policy explain`: the policy in force, and where its rules come from.

use std::fmt::Write as _;

use haft_policy::{Budgets, GitCapabilities, Policy, Preset, RuleDescription, SandboxRules};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::PolicyReportArguments;
use crate::commands::print::{print_json, print_text};
use crate::enforcement::{self, Enforced};
use crate::failure::Failure;
use crate::policy;
use crate::process_context::ProcessContext;

/// A policy in force.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PolicyReport {
    /// Whether there are no rules at all.
    unlimited: bool,
    /// The presets that it starts from.
    presets: Vec<Preset>,
    /// All rules. The strictest that matches wins.
    rules: Vec<RuleDescription>,
    /// The limits of a run.
    budgets: Budgets,
    /// Capabilities that git uses.
    git: GitCapabilities,
    /// The paths and ports that programs may use, in terms of a sandbox.
    sandbox: SandboxRules,
    /// How far this machine enforces the policy for programs.
    enforced: Enforced,
}

impl PolicyReport {
    fn new(policy: &Policy) -> Result<PolicyReport, Failure> {
        Ok(PolicyReport {
            unlimited: policy.is_unlimited(),
            presets: policy.presets().collect(),
            rules: policy.describe(),
            budgets: policy.budgets(),
            git: policy.git(),
            sandbox: policy.sandbox(),
            enforced: enforcement::enforceable(policy)?,
        })
    }

    fn text(&self) -> String {
        if self.unlimited {
            return "no policy: everything is allowed\n".to_owned();
        }
        let mut text = String::new();
        for preset in &self.presets {
            let _ = writeln!(text, "preset {preset}");
        }
        for rule in &self.rules {
            let reason = rule.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            let rule_text = rule.rule.strip_prefix(rule.verdict.as_str()).unwrap_or(&rule.rule).trim_start();
            let _ = writeln!(
                text,
                "{:11} {:5} {}{reason}  # {}",
                rule.section, rule.verdict, rule_text, rule.place
            );
        }
        text + &self.budget_lines() + &self.sandbox_lines() + &self.enforced_line()
    }

    fn budget_lines(&self) -> String {
        let budgets = &self.budgets;
        let times = [("wall", budgets.wall), ("cpu", budgets.cpu)];
        let times = times.map(|(name, time)| (name, time.map(|time| format!("{} s", time.as_secs_f64()))));
        let sizes = [("memory", budgets.memory), ("disk", budgets.disk), ("output", budgets.output)];
        let sizes = sizes.map(|(name, size)| (name, size.map(|size| format!("{size} bytes"))));
        let counts = [("processes", budgets.processes), ("calls", budgets.calls)];
        let counts = counts.map(|(name, count)| (name, count.map(|count| count.to_string())));
        let all = times.into_iter().chain(sizes).chain(counts);
        all.filter_map(|(name, limit)| Some(format!("{:11} {name} {}\n", "budgets", limit?))).collect()
    }

    /// How far this machine enforces the policy.
    fn enforced_line(&self) -> String {
        let Enforced { level, files, network, .. } = &self.enforced;
        let files = if *files { "enforced" } else { "not enforced" };
        format!("{:11} level {}, files {files}, network {network}\n", "enforced", level.as_str())
    }

    /// The rules that programs are not held to, because a sandbox knows no patterns.
    fn sandbox_lines(&self) -> String {
        let rules = self.sandbox.inexpressible.iter();
        rules
            .map(|rule| format!("{:11} only for commands of haft, not for programs: {rule}\n", "sandbox"))
            .collect()
    }
}

/// Prints the policy.
pub(crate) fn run(arguments: &PolicyReportArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let policy = policy::load(arguments.policy.policy.as_deref(), process)?;
    let report = PolicyReport::new(&policy)?;
    Ok(if arguments.json { print_json(&report, 0) } else { print_text(&report.text(), 0) })
}
