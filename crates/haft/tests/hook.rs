//! `haft hook` from end to end.

use haft_test_support::{FinishedHaft, Haft, Scratch};
use serde_json::{Value, json};

const POLICY: &str = "[policy.commands]
allow = [['git', 'status'], ['ls']]
ask = [['git', 'push']]
deny = [['curl']]

[policy.files]
deny = ['.env']

[policy.network]
hosts = ['example.org']
";

/// A home directory with a configuration, and a project.
fn scratch(configuration: &str) -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.file("home/.config/haft")).expect("a directory");
    std::fs::create_dir_all(scratch.file("project")).expect("a directory");
    std::fs::write(scratch.file("home/.config/haft/config.toml"), configuration).expect("a file");
    scratch
}

fn haft(scratch: &Scratch) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft"))
        .env("HOME", scratch.file("home"))
        .env("XDG_CONFIG_HOME", "")
        .env("XDG_STATE_HOME", "")
        .env("CLAUDE_CONFIG_DIR", "")
        .directory(scratch.file("project"))
        .arg("hook")
}

fn ask(scratch: &Scratch, agent: &str, call: &Value) -> FinishedHaft {
    haft(scratch).arg(agent).input(call.to_string()).run().status(0)
}

/// The answer to a call of Claude Code's tool for commands.
fn claude(scratch: &Scratch, command: &str) -> Value {
    let call = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": scratch.file("project"), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t",
        "tool_input": { "command": command, "description": "a test", "timeout": 1000 },
    });
    let answer = ask(scratch, "claude", &call);
    if answer.output().is_empty() { Value::Null } else { answer.json()["hookSpecificOutput"].clone() }
}

#[test]
fn claude_gets_decisions_with_reasons() {
    let scratch = scratch(POLICY);
    let allowed = claude(&scratch, "x=1; cd sub && git status 2>/dev/null | ls 2>&1");
    assert_eq!(
        (&allowed["permissionDecision"], &allowed["hookEventName"]),
        (&json!("allow"), &json!("PreToolUse"))
    );
    let asked = claude(&scratch, "git status && git push");
    assert_eq!(asked["permissionDecision"], json!("ask"));
    let denied = claude(&scratch, "ls; sh -c 'curl x'");
    assert_eq!(denied["permissionDecision"], json!("deny"));
    let reason = denied["permissionDecisionReason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("'curl x': denied by the policy of haft") && reason.contains("config.toml:4"),
        "{reason}"
    );
}

#[test]
fn without_a_rule_the_agent_decides() {
    let scratch = scratch(POLICY);
    for command in [
        "make",
        "git status && make",
        "ls > ~/.bashrc",
        "> x",
        "GIT_PAGER=./x git status",
        "export GIT_PAGER=./x; git status",
        "PAGER=./x; git status",
        "source ./x; ls",
        "sudo ls",
        "# nothing",
        "if true",
        "",
        "\u{0}",
    ] {
        assert_eq!(claude(&scratch, command), Value::Null, "{command}");
    }
    let none = self::scratch("");
    assert_eq!(claude(&none, "git push"), Value::Null);
}

#[test]
fn unknown_input_never_blocks() {
    let scratch = scratch(POLICY);
    for text in [
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"hook_event_name\": \"Stop\"}",
        "{\"hook_event_name\": \"PreToolUse\"}",
    ] {
        for agent in ["claude", "codex", "gemini", "cursor", "copilot"] {
            let _ = haft(&scratch).arg(agent).input(text).run().status(0).stdout("");
        }
    }
    let unknown =
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Task", "tool_input": { "command": "curl" } });
    let _ = ask(&scratch, "claude", &unknown).stdout("");
    let broken = self::scratch("[policy.commands]\ndeney = []\n");
    let call =
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "curl" } });
    let _ = ask(&broken, "claude", &call).stdout("").stderr_has("did you mean 'deny'?");
}

#[test]
fn files_and_hosts_of_the_agents_tools_are_judged() {
    let scratch = scratch(POLICY);
    let call = |tool: &str, input: Value| {
        let call = json!({
            "hook_event_name": "PreToolUse", "cwd": scratch.file("project"), "tool_name": tool, "tool_input": input,
        });
        let answer = ask(&scratch, "claude", &call);
        if answer.output().is_empty() {
            Value::Null
        } else {
            answer.json()["hookSpecificOutput"]["permissionDecision"].clone()
        }
    };
    assert_eq!(call("Read", json!({ "file_path": "sub/.env" })), json!("deny"));
    assert_eq!(call("Edit", json!({ "file_path": "x.rs" })), Value::Null);
    assert_eq!(call("WebFetch", json!({ "url": "https://other.org/x" })), json!("deny"));
    assert_eq!(call("WebFetch", json!({ "url": "https://example.org/x" })), Value::Null);
}

#[test]
fn every_agent_gets_its_own_form() {
    let scratch = scratch(POLICY);
    let answer = |agent: &str, call: Value| ask(&scratch, agent, &call).json();
    let tool = |event: &str, name: &str| json!({ "hook_event_name": event, "tool_name": name, "tool_input": { "command": "curl x" } });
    let codex = answer("codex", tool("PreToolUse", "Bash"));
    assert_eq!(codex["hookSpecificOutput"]["permissionDecision"], json!("deny"));
    let request = answer("codex", tool("PermissionRequest", "Bash"));
    assert_eq!(request["hookSpecificOutput"]["decision"]["behavior"], json!("deny"));
    assert_eq!(answer("gemini", tool("BeforeTool", "run_shell_command"))["decision"], json!("deny"));
    let shell = json!({ "hook_event_name": "beforeShellExecution", "command": "git push", "cwd": "/" });
    assert_eq!(answer("cursor", shell)["permission"], json!("ask"));
    let copilot = json!({ "cwd": "/", "toolName": "bash", "toolArgs": "{\"command\": \"curl x\"}" });
    assert_eq!(answer("copilot", copilot)["permissionDecision"], json!("deny"));
    // Codex and Gemini cannot ask.
    let pushed = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "git push" } });
    let _ = ask(&scratch, "codex", &pushed).stdout("");
}

#[test]
fn a_command_is_rewritten_to_run_under_haft() {
    let scratch = scratch(&format!("[hook]\nrewrite = true\noptions = ['--timeout', '10m']\n{POLICY}"));
    let answer = claude(&scratch, "ls 'a b'");
    assert_eq!(answer["permissionDecision"], json!("allow"));
    let command = answer["updatedInput"]["command"].as_str().expect("a command");
    assert!(command.ends_with(" run --timeout 10m -c 'ls '\\''a b'\\'''"), "{command}");
    assert_eq!(answer["updatedInput"]["timeout"], json!(1000));
    // The directory of the agent's shell would not change, and a denied command does not run at all.
    assert_eq!(claude(&scratch, "cd x && ls")["updatedInput"], Value::Null);
    assert_eq!(claude(&scratch, "curl x")["updatedInput"], Value::Null);
}

#[test]
fn the_hook_is_installed_and_removed() {
    let scratch = scratch("");
    let settings = scratch.file("home/.claude/settings.json");
    std::fs::create_dir(scratch.file("home/.claude")).expect("a directory");
    let before = "{\n  \"model\": \"x\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Task\", \"hooks\": [] }\n    ]\n  }\n}\n";
    std::fs::write(&settings, before).expect("a file");
    let _ = haft(&scratch).args(["install", "claude"]).run().status(1).stderr_has("no terminal to ask at");
    assert_eq!(std::fs::read_to_string(&settings).expect("a file"), before);

    let shown = haft(&scratch).args(["install", "claude", "--yes"]).run().status(0).output_text();
    assert!(shown.contains("+") && shown.contains("hook claude"), "{shown}");
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(&settings).expect("a file")).expect("JSON");
    assert_eq!(written["hooks"]["PreToolUse"].as_array().map(Vec::len), Some(2));
    let _ = haft(&scratch).args(["install", "claude", "--yes"]).run().status(0).stderr_has("is already in");

    let _ = haft(&scratch).args(["uninstall", "claude", "--yes"]).run().status(0);
    assert_eq!(std::fs::read_to_string(&settings).expect("a file"), before);
    let _ = haft(&scratch).args(["install", "codex", "--project", "--yes"]).run().status(0);
    let written = std::fs::read_to_string(scratch.file("project/.codex/hooks.json")).expect("a file");
    assert!(written.contains("\"command\": \"haft hook codex\""), "{written}");
}

#[test]
fn calls_are_recorded_with_the_answer() {
    let scratch = scratch(POLICY);
    claude(&scratch, "git status && curl example.com");
    let call = json!({ "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": { "file_path": "/x/.env" } });
    ask(&scratch, "claude", &call);
    let log =
        Haft::new(env!("CARGO_BIN_EXE_haft")).env("HOME", scratch.file("home")).env("XDG_STATE_HOME", "");
    let log = log.args(["log", "--json"]).run().status(0).output_text();
    assert!(log.contains("\"kind\":\"hook\"") || log.contains("\"kind\": \"hook\""), "{log}");
    assert!(log.contains("curl example.com"), "{log}");
    let journals = std::fs::read_dir(scratch.file("home/.local/state/haft/records")).expect("a directory");
    let text: String = journals
        .filter_map(Result::ok)
        .filter_map(|file| std::fs::read_to_string(file.path()).ok())
        .collect();
    assert!(text.contains("deny: 'curl example.com'") && text.contains("/x/.env"), "{text}");
}
