//! Rules of Codex: calls of `prefix_rule` in a file of Starlark.

use haft_policy::PolicyVerdict;

use super::imported::{ImportedCommand, ImportedRules};
use super::starlark::{self, StarlarkCall, StarlarkValue};
use crate::commands::script::quote;

/// A rule with more alternatives is not expanded.
const MAX_ALTERNATIVES: usize = 256;

/// Reads a file of rules.
///
/// # Errors
/// Returns the reason if the text is not a list of calls.
pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    let mut rules = ImportedRules { default: PolicyVerdict::Ask, ..ImportedRules::default() };
    for call in starlark::parse(text)? {
        let added = match call.name.as_str() {
            "prefix_rule" => add_prefix_rule(&mut rules, &call),
            "network_rule" => add_network_rule(&mut rules, &call),
            _ => Err("this function has no counterpart".to_owned()),
        };
        if let Err(reason) = added {
            rules.skip(&call.to_string(), &reason, Some(call.line));
        }
    }
    Ok(rules)
}

fn add_prefix_rule(rules: &mut ImportedRules, call: &StarlarkCall) -> Result<(), String> {
    let decision = decision(call)?;
    let pattern = call.argument("pattern").and_then(StarlarkValue::list).ok_or("it has no list 'pattern'")?;
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for element in pattern {
        let choices = choices(element)
            .ok_or("'pattern' has an element that is neither a string nor a list of strings")?;
        all = all
            .iter()
            .flat_map(|argv| choices.iter().map(|word| [argv.as_slice(), &[escaped(word)]].concat()))
            .collect();
        if all.len() > MAX_ALTERNATIVES {
            return Err(format!("it stands for more than {MAX_ALTERNATIVES} rules"));
        }
    }
    if all.iter().any(Vec::is_empty) {
        return Err("'pattern' is empty".to_owned());
    }
    let reason = call.argument("justification").and_then(StarlarkValue::text).map(str::to_owned);
    // Examples are about all alternatives together, so they go with a rule only if there is one.
    let is_single = all.len() == 1;
    let examples = |key| if is_single { examples(call, key) } else { Vec::new() };
    let (matches, not_match) = (examples("match"), examples("not_match"));
    for argv in all {
        rules.commands.push(ImportedCommand {
            decision,
            argv,
            exact: false,
            reason: reason.clone(),
            matches: matches.clone(),
            not_match: not_match.clone(),
        });
    }
    Ok(())
}

fn add_network_rule(rules: &mut ImportedRules, call: &StarlarkCall) -> Result<(), String> {
    let host = call.argument("host").and_then(StarlarkValue::text).ok_or("it has no string 'host'")?;
    match decision(call)? {
        PolicyVerdict::Allow => rules.hosts.push(host.to_owned()),
        _ => return Err("hosts are denied unless [policy.network] lists them".to_owned()),
    }
    Ok(())
}

fn decision(call: &StarlarkCall) -> Result<PolicyVerdict, String> {
    match call.argument("decision").map(StarlarkValue::text) {
        None | Some(Some("allow")) => Ok(PolicyVerdict::Allow),
        Some(Some("prompt")) => Ok(PolicyVerdict::Ask),
        Some(Some("forbidden" | "deny")) => Ok(PolicyVerdict::Deny),
        Some(other) => Err(format!("unknown decision '{}'", other.unwrap_or_default())),
    }
}

fn choices(element: &StarlarkValue) -> Option<Vec<&str>> {
    match element {
        StarlarkValue::Text(text) => Some(vec![text]),
        StarlarkValue::List(list) => list.iter().map(StarlarkValue::text).collect(),
        StarlarkValue::Other(_) => None,
    }
}

/// Codex compares words as they are, so characters with a meaning in patterns get a backslash.
fn escaped(word: &str) -> String {
    word.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?")
}

/// Examples as command lines.
fn examples(call: &StarlarkCall, key: &str) -> Vec<String> {
    let line = |example: &StarlarkValue| match example {
        StarlarkValue::Text(text) => Some(text.clone()),
        StarlarkValue::List(words) => {
            let words: Option<Vec<&str>> = words.iter().map(StarlarkValue::text).collect();
            Some(words?.iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(" "))
        }
        StarlarkValue::Other(_) => None,
    };
    call.argument(key).and_then(StarlarkValue::list).into_iter().flatten().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_rules_become_rules() {
        let text = r#"
# Comments stay out.
prefix_rule(
    pattern = ["git", ["push", 'fetch']],  # two
    decision = "prompt",
)
prefix_rule(pattern=["rm", "-rf", "*"], decision="forbidden", justification="use \"trash\"",
    match=[["rm", "-rf", "*"], "rm -rf '*' x"], not_match=["rm x"])
prefix_rule(pattern = ["ls"])
network_rule(host = "api.github.com", protocol = "https", decision = "allow")
host_executable(name = "git", paths = ["/usr/bin/git"])
"#;
        let rules = read(text).unwrap();
        let toml = rules.to_toml("default.rules");
        for part in [
            "ask = [\n    [\"git\", \"push\"],\n    [\"git\", \"fetch\"],\n]",
            "allow = [\n    [\"ls\"],\n]",
            "argv = [\"rm\", \"-rf\", \"\\\\*\"]\nreason = \"use \\\"trash\\\"\"",
            "match = [\"rm -rf '*'\", \"rm -rf '*' x\"]\nnot_match = [\"rm x\"]",
            "hosts = [\"api.github.com\"]",
        ] {
            assert!(toml.contains(part), "{part}\n{toml}");
        }
        assert_eq!(rules.skipped.len(), 1);
        assert_eq!(rules.skipped[0].line, Some(11));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["prefix_rule(", "x = 1", "prefix_rule(pattern=[\"a\")", "def f(): pass", "\"text\""] {
            assert!(read(text).is_err(), "{text}");
        }
        let rules = read(
            "prefix_rule(pattern=[])\nprefix_rule(pattern=[1])\nprefix_rule(pattern=['a'], decision='x')",
        );
        assert_eq!(rules.unwrap().skipped.len(), 3);
    }
}
