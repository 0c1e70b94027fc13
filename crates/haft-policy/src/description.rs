//! Describes a policy: its rules and their places.

use schemars::JsonSchema;
use serde::Serialize;

use crate::decision::{PolicyVerdict, RulePlace};
use crate::layer::PolicyLayer;
use crate::policy::Policy;

/// A rule of a policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RuleDescription {
    /// The section: `commands`, `files`, `network` or `environment`.
    pub section: &'static str,
    /// Its verdict.
    pub verdict: PolicyVerdict,
    /// The rule as it is written.
    pub rule: String,
    /// The reason that it gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it is written.
    pub place: RulePlace,
}

impl Policy {
    /// The rules of all layers, in the order of the sections.
    #[must_use]
    pub fn describe(&self) -> Vec<RuleDescription> {
        let sections = [commands, files, network, variables];
        self.layers.iter().flat_map(|layer| sections.into_iter().flat_map(|section| section(layer))).collect()
    }
}

fn commands(layer: &PolicyLayer) -> Vec<RuleDescription> {
    let rule = |verdict, rule: &str, reason: Option<&String>, place: &RulePlace| RuleDescription {
        section: "commands",
        verdict,
        rule: rule.to_owned(),
        reason: reason.cloned(),
        place: place.clone(),
    };
    let rules =
        layer.commands.iter().map(|one| rule(one.verdict, &one.text, one.reason.as_ref(), &one.place));
    let default = layer.default_place.iter();
    let default =
        default.map(|place| rule(layer.default, &format!("default = \"{}\"", layer.default), None, place));
    let exec = layer.exec.iter().flatten().map(|one| rule(PolicyVerdict::Allow, &one.text, None, &one.place));
    rules.chain(default).chain(exec).collect()
}

fn files(layer: &PolicyLayer) -> Vec<RuleDescription> {
    let files = &layer.files;
    let lists = [&files.read, &files.write, &files.create, &files.delete];
    let allowed = lists.into_iter().flatten().flatten().map(|rule| (PolicyVerdict::Allow, rule));
    let exceptions = files.exceptions.iter().map(|exception| (exception.verdict, &exception.rule));
    let described = allowed.chain(exceptions).map(|(verdict, rule)| RuleDescription {
        section: "files",
        verdict,
        rule: rule.text.clone(),
        reason: None,
        place: rule.place.clone(),
    });
    described.collect()
}

fn network(layer: &PolicyLayer) -> Vec<RuleDescription> {
    let network = &layer.network;
    let ports: Vec<String> = network.ports.iter().map(u16::to_string).collect();
    let listed = [network.hosts.as_slice(), ports.as_slice()].concat().join(", ");
    let rule = format!("level \"{}\" {listed}", network.level.as_str());
    let described = network.place.iter().map(|place| RuleDescription {
        section: "network",
        verdict: PolicyVerdict::Allow,
        rule: rule.trim_end().to_owned(),
        reason: None,
        place: place.clone(),
    });
    described.collect()
}

fn variables(layer: &PolicyLayer) -> Vec<RuleDescription> {
    let variables = &layer.variables;
    let passed = variables.pass.iter().map(|rule| (PolicyVerdict::Allow, rule.text.clone(), &rule.place));
    let withheld =
        variables.withhold.iter().map(|rule| (PolicyVerdict::Deny, rule.text.clone(), &rule.place));
    let secrets = variables.withhold_secrets.iter();
    let secrets = secrets.map(|place| (PolicyVerdict::Deny, "secrets = \"withhold\"".to_owned(), place));
    let all = passed.chain(withheld).chain(secrets);
    let described = all.map(|(verdict, rule, place)| RuleDescription {
        section: "environment",
        verdict,
        rule,
        reason: None,
        place: place.clone(),
    });
    described.collect()
}
