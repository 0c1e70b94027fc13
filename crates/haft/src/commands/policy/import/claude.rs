//! Rules of Claude Code: `permissions` in `settings.json`.

use haft_policy::PolicyVerdict;
use serde_json::Value;

use super::imported::{ImportedCommand, ImportedRules};

/// Reads the permissions of a settings file.
///
/// # Errors
/// Returns the reason if the text is not an object with permissions.
pub(super) fn read(text: &str) -> Result<ImportedRules, String> {
    let settings: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let permissions =
        settings.get("permissions").and_then(Value::as_object).ok_or("it has no 'permissions'")?;
    let mut rules = ImportedRules { default: PolicyVerdict::Ask, ..ImportedRules::default() };
    for (key, value) in permissions {
        let decision = match key.as_str() {
            "allow" => PolicyVerdict::Allow,
            "ask" => PolicyVerdict::Ask,
            "deny" => PolicyVerdict::Deny,
            "defaultMode" => {
                default_mode(&mut rules, value);
                continue;
            }
            _ => {
                rules.skip(&format!("{key}: {value}"), "this setting has no counterpart", None);
                continue;
            }
        };
        let written = value.as_array().ok_or_else(|| format!("'permissions.{key}' is not a list"))?;
        for rule in written {
            match rule.as_str() {
                Some(rule) => add(&mut rules, decision, rule),
                None => rules.skip(&rule.to_string(), "it is not a string", None),
            }
        }
    }
    Ok(rules)
}

fn default_mode(rules: &mut ImportedRules, mode: &Value) {
    match mode.as_str() {
        Some("bypassPermissions") => rules.default = PolicyVerdict::Allow,
        Some("dontAsk") => rules.default = PolicyVerdict::Deny,
        Some("default") => {}
        _ => rules.skip(&format!("defaultMode: {mode}"), "commands without a rule are asked about", None),
    }
}

/// Adds a rule of the form `Tool` or `Tool(specifier)`.
fn add(rules: &mut ImportedRules, decision: PolicyVerdict, rule: &str) {
    let (tool, specifier) =
        match rule.split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?))) {
            Some((tool, specifier)) => (tool, Some(specifier)),
            None => (rule, None),
        };
    match tool {
        "Bash" => add_command(rules, decision, rule, specifier.unwrap_or("*")),
        "Read" | "Glob" | "Grep" | "LS" => {
            add_path(rules, decision, rule, specifier, ["deny_read", "ask_read"]);
        }
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            add_path(rules, decision, rule, specifier, ["deny_write", "ask_write"]);
        }
        "WebFetch" => add_host(rules, decision, rule, specifier),
        _ => rules.skip(rule, "it is about a tool of the agent, not about commands or files", None),
    }
}

fn add_command(rules: &mut ImportedRules, decision: PolicyVerdict, rule: &str, text: &str) {
    /// Characters with a meaning in a shell. A policy decides about single commands after expansion.
    const SHELL: &[char] =
        &['|', '&', ';', '<', '>', '(', ')', '$', '`', '"', '\'', '\\', '{', '}', '#', '\n'];
    if text.contains(SHELL) {
        return rules.skip(
            rule,
            "it contains shell syntax, and a policy decides about single commands",
            None,
        );
    }
    // `:*` at the end means the same as a blank and `*`.
    let text = text.strip_suffix(":*").map_or_else(|| text.to_owned(), |prefix| format!("{prefix} *"));
    let mut argv: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let Some(last) = argv.last().cloned() else { return rules.skip(rule, "it is empty", None) };
    let inner = &argv[..argv.len() - 1];
    if inner.iter().any(|word| word.contains('*')) {
        if decision != PolicyVerdict::Allow {
            return rules.skip(
                rule,
                "'*' in the middle may stand for several words, here only for one",
                None,
            );
        }
        rules.skip(rule, "imported, but '*' in the middle stands for one word only", None);
    }
    // A word that ends in `*` also matches further words.
    let is_open = last.ends_with('*');
    if argv.len() == 1 && last == "*" {
        argv = vec!["*".to_owned()];
    }
    rules.commands.push(ImportedCommand { decision, argv, exact: !is_open, ..ImportedCommand::default() });
}

/// Adds a path. Lists of a policy say what is allowed and nothing else, so an `allow` rule has no counterpart.
fn add_path(
    rules: &mut ImportedRules,
    decision: PolicyVerdict,
    rule: &str,
    path: Option<&str>,
    [deny, ask]: [&'static str; 2],
) {
    let key = match decision {
        PolicyVerdict::Deny => deny,
        PolicyVerdict::Ask => ask,
        PolicyVerdict::Allow => {
            return rules.skip(rule, "files are allowed unless a list in [policy.files] excludes them", None);
        }
    };
    match pattern(path.unwrap_or("//")) {
        Some(path) => rules.add_file(key, path),
        None => rules.skip(rule, "the path has no counterpart", None),
    }
}

/// A path pattern: `//` starts an absolute path, `/` one in the project, and a bare name matches in every directory.
fn pattern(path: &str) -> Option<String> {
    if path.is_empty() || path.split('/').any(|part| part == "..") || path.contains(['[', '{', '!']) {
        return None;
    }
    let path = path.strip_suffix("/**").filter(|path| !path.is_empty()).unwrap_or(path);
    Some(match path {
        "**" | "*" | "." | "./" => "./".to_owned(),
        _ if path.starts_with("//") => path[1..].to_owned(),
        _ if path.starts_with('/') => format!(".{path}"),
        _ if path.starts_with("~/") || path.starts_with("./") || path.starts_with("**/") => path.to_owned(),
        _ if path.contains('/') => format!("./{path}"),
        _ => path.to_owned(),
    })
}

fn add_host(rules: &mut ImportedRules, decision: PolicyVerdict, rule: &str, specifier: Option<&str>) {
    let host = specifier.and_then(|specifier| specifier.strip_prefix("domain:"));
    match (host, decision) {
        (Some(host), PolicyVerdict::Allow) => rules.hosts.push(host.to_owned()),
        (Some(_), _) => rules.skip(rule, "hosts are denied unless [policy.network] lists them", None),
        (None, _) => rules.skip(rule, "set the level in [policy.network] instead", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(permissions: &str) -> (String, usize) {
        let rules = read(&format!("{{\"permissions\": {permissions}}}")).unwrap();
        (rules.to_toml("settings.json"), rules.skipped.len())
    }

    #[test]
    fn rules_on_commands_become_rules_on_words() {
        let (text, skipped) = toml(
            r#"{"allow": ["Bash(git status)", "Bash(npm run test *)", "Bash(ls*)"], "deny": ["Bash(git push:*)", "Bash"]}"#,
        );
        assert_eq!(skipped, 0);
        for part in [
            "default = \"ask\"",
            "deny = [\n    [\"git\", \"push\", \"*\"],\n    [\"*\"],\n]",
            "allow = [\n    [\"npm\", \"run\", \"test\", \"*\"],\n    [\"ls*\"],\n]",
            "decision = \"allow\"\nargv = [\"git\", \"status\"]\nexact = true",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn paths_and_hosts_become_lists() {
        let (text, skipped) = toml(
            r#"{"deny": ["Read(./secrets/**)", "Read(.env)", "Edit(//etc/**)", "Write(/src/x)"],
                "ask": ["Edit(~/.bashrc)"], "allow": ["WebFetch(domain:example.org)"]}"#,
        );
        assert_eq!(skipped, 0);
        for part in [
            "deny_read = [\"./secrets\", \".env\"]",
            "deny_write = [\"/etc\", \"./src/x\"]",
            "ask_write = [\"~/.bashrc\"]",
            "hosts = [\"example.org\"]",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn rules_without_counterpart_are_reported() {
        let (_, skipped) = toml(
            r#"{"allow": ["Read(./x)", "mcp__github__*", "WebSearch", 3], "additionalDirectories": ["../x"],
                "deny": ["Bash(curl * | bash)", "Bash(git * main)", "WebFetch(domain:x)", "Read(../y)"], "defaultMode": "plan"}"#,
        );
        assert_eq!(skipped, 10);
        assert!(read("[]").is_err() && read("{").is_err());
    }
}
