//! The calls that agents send to a hook.

use std::path::{Path, PathBuf};

use haft_policy::FileAccess;
use serde_json::{Map, Value};

/// The format of an agent's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookFormat {
    Claude,
    Codex,
    Gemini,
    Cursor,
    Copilot,
}

impl HookFormat {
    /// The name of the agent in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            HookFormat::Claude => "claude",
            HookFormat::Codex => "codex",
            HookFormat::Gemini => "gemini",
            HookFormat::Cursor => "cursor",
            HookFormat::Copilot => "copilot",
        }
    }
}

/// A call that an agent is about to make.
#[derive(Debug)]
pub(super) struct HookCall {
    /// The event, as the agent names it.
    pub(super) event: String,
    pub(super) subject: HookSubject,
    /// The directory in which it would run.
    pub(super) directory: Option<PathBuf>,
    /// The arguments of the tool, for an answer that changes them.
    pub(super) input: Map<String, Value>,
}

/// The subject of a call.
#[derive(Debug)]
pub(super) enum HookSubject {
    /// A script for bash.
    Script(String),
    /// A file that a tool of the agent uses.
    File(FileAccess, PathBuf),
    /// A host and port that a tool of the agent connects to.
    Host(String, u16),
}

/// The names of tools that take a path, with the use of the file and the name of the argument.
const FILE_TOOLS: &[(&str, FileAccess, &str)] = &[
    ("Read", FileAccess::Read, "file_path"),
    ("Edit", FileAccess::Write, "file_path"),
    ("MultiEdit", FileAccess::Write, "file_path"),
    ("Write", FileAccess::Write, "file_path"),
    ("NotebookEdit", FileAccess::Write, "notebook_path"),
    ("read_file", FileAccess::Read, "file_path"),
    ("write_file", FileAccess::Write, "file_path"),
    ("replace", FileAccess::Write, "file_path"),
    ("view", FileAccess::Read, "path"),
    ("edit", FileAccess::Write, "path"),
    ("create", FileAccess::Create, "path"),
];
/// The names of tools that run a script.
const SCRIPT_TOOLS: &[&str] = &["Bash", "bash", "Shell", "run_shell_command"];
/// The names of tools that fetch a URL.
const FETCH_TOOLS: &[&str] = &["WebFetch"];

impl HookCall {
    /// Reads the JSON of a hook. Returns `None` for events and tools that a policy says nothing about.
    pub(super) fn read(format: HookFormat, json: &Value) -> Option<HookCall> {
        let event = match format {
            HookFormat::Copilot => "preToolUse",
            _ => text(json, "hook_event_name")?,
        };
        let events: &[&str] = match format {
            HookFormat::Claude | HookFormat::Codex => &["PreToolUse", "PermissionRequest"],
            HookFormat::Gemini => &["BeforeTool"],
            HookFormat::Cursor => &["beforeShellExecution", "beforeReadFile", "preToolUse"],
            HookFormat::Copilot => &["preToolUse"],
        };
        if !events.contains(&event) {
            return None;
        }
        let (subject, input) = match (format, event) {
            (HookFormat::Cursor, "beforeShellExecution") => {
                (HookSubject::Script(text(json, "command")?.to_owned()), Map::new())
            }
            (HookFormat::Cursor, "beforeReadFile") => {
                (HookSubject::File(FileAccess::Read, text(json, "file_path")?.into()), Map::new())
            }
            _ => tool_call(format, json)?,
        };
        let directory = input.get("directory").and_then(Value::as_str).or_else(|| text(json, "cwd"));
        let directory = directory.map(PathBuf::from).filter(|directory| directory.is_absolute());
        Some(HookCall { event: event.to_owned(), subject, directory, input })
    }
}

/// The subject and the arguments of a call of a tool.
fn tool_call(format: HookFormat, json: &Value) -> Option<(HookSubject, Map<String, Value>)> {
    let (name, input) = match format {
        HookFormat::Copilot => ("toolName", "toolArgs"),
        _ => ("tool_name", "tool_input"),
    };
    let name = text(json, name)?;
    let input = match json.get(input)? {
        Value::Object(input) => input.clone(),
        // Copilot sends the arguments as text.
        Value::String(written) => serde_json::from_str(written).ok()?,
        _ => return None,
    };
    let argument = |key: &str| input.get(key).and_then(Value::as_str);
    let subject = if SCRIPT_TOOLS.contains(&name) {
        HookSubject::Script(argument("command")?.to_owned())
    } else if FETCH_TOOLS.contains(&name) {
        let (host, port) = host(argument("url")?)?;
        HookSubject::Host(host, port)
    } else {
        let (_, access, key) = FILE_TOOLS.iter().find(|(tool, _, _)| *tool == name)?;
        HookSubject::File(*access, Path::new(argument(key)?).to_path_buf())
    };
    Some((subject, input))
}

fn text<'j>(json: &'j Value, key: &str) -> Option<&'j str> {
    json.get(key)?.as_str()
}

/// The host and port of a URL.
fn host(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let default = if scheme.eq_ignore_ascii_case("http") { 80 } else { 443 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, default),
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_urls() {
        for (url, expected) in [
            ("https://example.org/x", Some(("example.org", 443))),
            ("http://a:b@example.org:8080?q", Some(("example.org", 8080))),
            ("http://[::1]/", Some(("[::1]", 80))),
            ("nothing", None),
            ("https://", None),
        ] {
            let expected = expected.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
