//! Examples that rules carry, and their tests.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use haft_lang::plan::{StepAction, plan};
use haft_lang::{BuiltinsOnly, ParseOptions, Script};
use schemars::JsonSchema;
use serde::Serialize;

use crate::command::{DispatchKind, JudgedCommand, JudgedWord};
use crate::command_rule::{CommandRule, RuleMatch};
use crate::decision::RulePlace;
use crate::layer::PolicyLayer;
use crate::path_pattern::normalized;
use crate::policy::Policy;

/// A command line that a rule must match, or must not match.
#[derive(Clone, Debug)]
pub(crate) struct RuleExample {
    pub(crate) rule_index: usize,
    pub(crate) expected: bool,
    pub(crate) text: String,
    pub(crate) place: RulePlace,
}

/// The result of one example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExampleResult {
    /// The rule.
    pub rule: String,
    /// The command line.
    pub command: String,
    /// Whether the rule must match it.
    pub expected: bool,
    /// Whether the example holds.
    pub passed: bool,
    /// The syntax error of the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where the example is written.
    pub place: RulePlace,
}

impl Policy {
    /// Tests the examples of all rules.
    #[must_use]
    pub fn test_examples(&self) -> Vec<ExampleResult> {
        let test = |layer: &PolicyLayer| -> Vec<_> {
            layer.examples.iter().map(|example| self.test(layer, example)).collect()
        };
        self.layers.iter().flat_map(test).collect()
    }

    fn example_path(&self, name: &[u8]) -> Option<PathBuf> {
        let directory = self.context.project.as_deref().unwrap_or(Path::new("/"));
        name.contains(&b'/').then(|| normalized(&directory.join(OsStr::from_bytes(name))))
    }

    fn test(&self, layer: &PolicyLayer, example: &RuleExample) -> ExampleResult {
        // An example has no file, except one that its name spells out.
        let rule = &CommandRule { paths: None, ..layer.commands[example.rule_index].clone() };
        let source = example.text.as_bytes();
        let script = Script::parse(source, &ParseOptions::default());
        let plan = plan(&script.program(), source, &BuiltinsOnly);
        let matched = plan.steps.iter().any(|step| {
            let is_command = matches!(step.action, StepAction::Command { .. });
            let words: Vec<_> = step.argv.iter().map(JudgedWord::planned).collect();
            // An example says nothing about kinds, so it stands for one of the rule's.
            let kind = rule.kinds.first().copied().unwrap_or(DispatchKind::External);
            let path = step.argv.first().and_then(|name| self.example_path(name.literal()?));
            let command = JudgedCommand { kind, words, path };
            is_command && rule.matches(&command, &self.context) == RuleMatch::Yes
        });
        let error = script.error().map(ToString::to_string);
        ExampleResult {
            rule: rule.text.clone(),
            command: example.text.clone(),
            expected: example.expected,
            passed: error.is_none() && matched == example.expected,
            error,
            place: example.place.clone(),
        }
    }
}
