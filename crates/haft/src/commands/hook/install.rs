//! `haft hook install` and `haft hook uninstall`: edit the settings of an agent.

use std::path::{Path, PathBuf};

use haft_config::printable;
use serde_json::{Value, json};

use super::arguments::{HookInstallArguments, HookTarget};
use crate::commands::mcp::install::{ConfigChange, apply, json_array, json_text, own_program};
use crate::commands::script::quote;
use crate::failure::{Failure, print_hint};
use crate::process_context::ProcessContext;

/// The section of all agents' settings that holds hooks.
const SECTION: &str = "hooks";

impl HookTarget {
    fn name(self) -> &'static str {
        match self {
            HookTarget::Claude => "claude",
            HookTarget::Codex => "codex",
            HookTarget::Gemini => "gemini",
            HookTarget::Cursor => "cursor",
        }
    }

    /// The directory of the settings below the home directory or a project, the variable that names another one, and the file.
    fn location(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            HookTarget::Claude => (".claude", Some("CLAUDE_CONFIG_DIR"), "settings.json"),
            HookTarget::Codex => (".codex", Some("CODEX_HOME"), "hooks.json"),
            HookTarget::Gemini => (".gemini", None, "settings.json"),
            HookTarget::Cursor => (".cursor", None, "hooks.json"),
        }
    }

    fn event(self) -> &'static str {
        match self {
            HookTarget::Claude | HookTarget::Codex => "PreToolUse",
            HookTarget::Gemini => "BeforeTool",
            HookTarget::Cursor => "beforeShellExecution",
        }
    }

    /// The entry for a command.
    fn entry(self, command: &str) -> Value {
        let (matcher, timeout) = match self {
            HookTarget::Cursor => return json!({ "command": command }),
            HookTarget::Claude => ("Bash|Read|Edit|MultiEdit|Write|NotebookEdit|WebFetch", 10),
            HookTarget::Codex => ("Bash", 10),
            // Gemini counts milliseconds.
            HookTarget::Gemini => ("run_shell_command|read_file|write_file|replace", 10_000),
        };
        json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
    }

    /// The settings of an agent that has none yet.
    fn initial(self) -> &'static str {
        if self == HookTarget::Cursor { "{\n  \"version\": 1\n}\n" } else { "" }
    }

    fn file(self, project: bool, process: &ProcessContext) -> Result<PathBuf, Failure> {
        let (below, variable, file) = self.location();
        if project {
            let directory = process.working_directory.as_deref().unwrap_or_else(|| Path::new("."));
            return Ok(directory.join(below).join(file));
        }
        let named = variable.and_then(|name| process.variable(name)).map(PathBuf::from);
        let home = || Some(Path::new(process.variable("HOME")?).join(below));
        let directory = named.or_else(home);
        directory
            .map(|directory| directory.join(file))
            .ok_or_else(|| Failure::usage("cannot find the user's settings: HOME is not set"))
    }
}

/// Shows the change of an agent's settings, asks, and writes it.
pub(super) fn run(
    arguments: &HookInstallArguments,
    change: ConfigChange,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let target = arguments.agent;
    let file = target.file(arguments.project, process)?;
    let command = format!("{} hook {}", quote(own_program(arguments.project).as_os_str()), target.name());
    let status = apply(&file, arguments.yes, "the hook", change, |text| {
        changed(target, change, &command, text)
            .map_err(|reason| (reason, format!("edit '{}' by hand", printable(&file))))
    })?;
    if change == ConfigChange::Install && target == HookTarget::Codex {
        print_hint("Codex runs hooks only if its config.toml has [features] hooks = true");
    }
    Ok(status)
}

/// The text of the settings after the change.
fn changed(target: HookTarget, change: ConfigChange, command: &str, text: &str) -> Result<String, String> {
    let before = if text.trim().is_empty() { target.initial() } else { text };
    let value = if before.trim().is_empty() { Value::Null } else { json_text::parse(before)? };
    let existing = value.get(SECTION).and_then(|hooks| hooks.get(target.event()));
    let own =
        existing.and_then(Value::as_array).into_iter().flatten().position(|entry| is_own(target, entry));
    let new = match (change, existing, own) {
        (ConfigChange::Install, _, Some(_)) | (ConfigChange::Uninstall, _, None) => {
            return Ok(text.to_owned());
        }
        (ConfigChange::Install, None, None) => {
            json_text::set(before, SECTION, target.event(), &json!([target.entry(command)]))?
        }
        (ConfigChange::Install, Some(_), None) => {
            json_array::push(before, [SECTION, target.event()], &target.entry(command))?
        }
        (ConfigChange::Uninstall, _, Some(_))
            if existing.and_then(Value::as_array).is_some_and(|list| list.len() == 1) =>
        {
            json_text::remove(before, SECTION, target.event())?
        }
        (ConfigChange::Uninstall, _, Some(index)) => {
            json_array::remove(before, [SECTION, target.event()], index)?
        }
    };
    json_text::parse(&new).map(|_| new)
}

/// Whether an entry is one that haft added, whatever the path of haft was.
fn is_own(target: HookTarget, entry: &Value) -> bool {
    let command = match target {
        HookTarget::Cursor => &entry["command"],
        _ => &entry["hooks"][0]["command"],
    };
    let ending = format!("haft hook {}", target.name());
    let quoted = format!("haft' hook {}", target.name());
    command.as_str().is_some_and(|command| command.ends_with(&ending) || command.ends_with(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: [HookTarget; 4] =
        [HookTarget::Claude, HookTarget::Codex, HookTarget::Gemini, HookTarget::Cursor];

    #[test]
    fn the_hook_is_added_and_removed_without_another_change() {
        for target in TARGETS {
            let event = target.event();
            for text in [
                "{\n  \"theme\": \"dark\" // at night\n}\n".to_owned(),
                "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n".to_owned(),
                "{\"hooks\": {\"Stop\": [] /* c */}} // end".to_owned(),
                format!(
                    "{{\n  \"hooks\": {{\n    \"{event}\": [\n      {{ \"matcher\": \"x\" }}\n    ]\n  }}\n}}\n"
                ),
                format!("{{\"hooks\": {{\"{event}\": [{{\"a\": 1}}, {{\"b\": [2]}}]}}, \"z\": 1}}"),
                format!("{{\n\t\"hooks\": {{\n\t\t\"{event}\": [\n\t\t\t{{}}, // mine\n\t\t],\n\t}},\n}}\n"),
            ] {
                let command = format!("/usr/bin/haft hook {}", target.name());
                let new = changed(target, ConfigChange::Install, &command, &text).unwrap();
                assert!(json_text::parse(&new).unwrap().to_string().contains(&command), "{new}");
                assert_eq!(
                    changed(target, ConfigChange::Install, &command, &new).unwrap(),
                    new,
                    "it is idempotent"
                );
                assert_eq!(changed(target, ConfigChange::Uninstall, &command, &new).unwrap(), text, "{new}");
            }
        }
    }

    #[test]
    fn an_empty_list_keeps_its_comments() {
        let text = "{\"hooks\": {\"PreToolUse\": [ /* none yet */ ]}}";
        let new = changed(HookTarget::Claude, ConfigChange::Install, "haft hook claude", text).unwrap();
        assert!(
            new.contains("/* none yet */")
                && json_text::parse(&new).unwrap()["hooks"]["PreToolUse"][0].is_object()
        );
    }

    #[test]
    fn new_settings_have_all_that_the_agent_needs() {
        for target in TARGETS {
            let new = changed(target, ConfigChange::Install, "haft hook x", "").unwrap();
            assert_eq!(new.contains("\"version\": 1"), target == HookTarget::Cursor, "{new}");
        }
        assert!(
            changed(HookTarget::Claude, ConfigChange::Install, "x", "{\"hooks\": {\"PreToolUse\": 1}}")
                .is_err()
        );
        assert!(changed(HookTarget::Claude, ConfigChange::Install, "x", "[").is_err());
    }
}
