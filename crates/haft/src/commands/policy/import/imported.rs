//! Rules of an agent, in terms of a policy.

use std::fmt::Write as _;

use haft_policy::PolicyVerdict;
use schemars::JsonSchema;
use serde::Serialize;

/// The rules of an agent.
#[derive(Debug, Default)]
pub(super) struct ImportedRules {
    /// The decision about commands without a rule.
    pub(super) default: PolicyVerdict,
    pub(super) commands: Vec<ImportedCommand>,
    /// Lists of paths, by their key in `[policy.files]`.
    pub(super) files: Vec<(&'static str, Vec<String>)>,
    pub(super) hosts: Vec<String>,
    pub(super) skipped: Vec<SkippedRule>,
}

/// A rule on commands.
#[derive(Debug, Default)]
pub(super) struct ImportedCommand {
    pub(super) decision: PolicyVerdict,
    pub(super) argv: Vec<String>,
    pub(super) exact: bool,
    pub(super) reason: Option<String>,
    pub(super) matches: Vec<String>,
    pub(super) not_match: Vec<String>,
}

/// A rule that a policy cannot express, or only in part.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct SkippedRule {
    /// The rule as the agent writes it.
    pub(super) rule: String,
    /// Why it is missing.
    pub(super) reason: String,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
}

impl ImportedRules {
    /// Notes a rule that is missing.
    pub(super) fn skip(&mut self, rule: &str, reason: &str, line: Option<usize>) {
        self.skipped.push(SkippedRule { rule: rule.to_owned(), reason: reason.to_owned(), line });
    }

    /// Adds a path to a list.
    pub(super) fn add_file(&mut self, key: &'static str, path: String) {
        match self.files.iter_mut().find(|(known, _)| *known == key) {
            Some((_, paths)) => paths.push(path),
            None => self.files.push((key, vec![path])),
        }
    }

    /// The number of rules.
    pub(super) fn count(&self) -> usize {
        let files: usize = self.files.iter().map(|(_, paths)| paths.len()).sum();
        self.commands.len() + files + self.hosts.len()
    }

    /// The policy in TOML.
    pub(super) fn to_toml(&self, file: &str) -> String {
        let mut text = format!("# Imported from {}\n[policy.commands]\n", file.replace('\n', " "));
        let _ = writeln!(text, "default = {}", quoted(self.default.as_str()));
        let plain = |rule: &&ImportedCommand| rule.is_plain();
        for decision in [PolicyVerdict::Deny, PolicyVerdict::Ask, PolicyVerdict::Allow] {
            let rules = self.commands.iter().filter(plain).filter(|rule| rule.decision == decision);
            let rules: Vec<String> = rules.map(|rule| format!("    {},\n", list(&rule.argv))).collect();
            if !rules.is_empty() {
                let _ = writeln!(text, "{decision} = [\n{}]", rules.concat());
            }
        }
        self.commands.iter().filter(|rule| !plain(rule)).for_each(|rule| text += &rule.to_toml());
        if !self.files.is_empty() {
            text += "\n[policy.files]\n";
            self.files.iter().for_each(|(key, paths)| text += &format!("{key} = {}\n", list(paths)));
        }
        if !self.hosts.is_empty() {
            let _ = write!(text, "\n[policy.network]\nhosts = {}\n", list(&self.hosts));
        }
        text
    }
}

impl ImportedCommand {
    /// Whether the rule is only a list of words.
    fn is_plain(&self) -> bool {
        !self.exact && self.reason.is_none() && self.matches.is_empty() && self.not_match.is_empty()
    }

    fn to_toml(&self) -> String {
        let mut text = format!(
            "\n[[policy.commands.rules]]\ndecision = {}\nargv = {}\n",
            quoted(self.decision.as_str()),
            list(&self.argv)
        );
        if self.exact {
            text += "exact = true\n";
        }
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "reason = {}", quoted(reason));
        }
        for (key, examples) in [("match", &self.matches), ("not_match", &self.not_match)] {
            if !examples.is_empty() {
                let _ = writeln!(text, "{key} = {}", list(examples));
            }
        }
        text
    }
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

/// A string of TOML. It is a string of JSON, in which one more character needs an escape.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
