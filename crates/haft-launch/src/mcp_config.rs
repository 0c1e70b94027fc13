//! MCP configuration files that give agents the `haft mcp` server.

use std::path::Path;

use serde_json::{Value, json};

/// Name of the server in the configuration.
pub(crate) const SERVER_NAME: &str = "haft";

/// Format of an agent's MCP configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum McpFormat {
    /// A JSON object with `mcpServers`, which most agents read.
    #[default]
    McpServers,
    /// Like `McpServers`, with the fields that GitHub Copilot requires.
    Copilot,
    /// TOML tables `mcp_servers`.
    Codex,
    /// A JSON object with `mcp`.
    Opencode,
    /// YAML with `extensions`.
    Goose,
    /// A JSON object with `servers`.
    Vscode,
    /// A JSON object with `context_servers`.
    Zed,
}

impl McpFormat {
    pub(crate) const NAMES: [&str; 7] =
        ["mcpServers", "copilot", "codex", "opencode", "goose", "vscode", "zed"];

    pub(crate) fn named(name: &str) -> Option<McpFormat> {
        Some(match name {
            "mcpServers" => McpFormat::McpServers,
            "copilot" => McpFormat::Copilot,
            "codex" => McpFormat::Codex,
            "opencode" => McpFormat::Opencode,
            "goose" => McpFormat::Goose,
            "vscode" => McpFormat::Vscode,
            "zed" => McpFormat::Zed,
            _ => return None,
        })
    }

    /// Renders the configuration; `haft` is the path of the executable.
    pub(crate) fn render(self, haft: &Path) -> McpConfig {
        let haft = haft.to_string_lossy();
        let (extension, text) = match self {
            McpFormat::McpServers => ("json", pretty(&json!({"mcpServers": {SERVER_NAME: server(&haft)}}))),
            McpFormat::Copilot => {
                let mut server = server(&haft);
                server["type"] = "local".into();
                server["tools"] = json!(["*"]);
                ("json", pretty(&json!({"mcpServers": {SERVER_NAME: server}})))
            }
            McpFormat::Codex => (
                "toml",
                format!("[mcp_servers.{SERVER_NAME}]\ncommand = {}\nargs = [\"mcp\"]\n", quote(&haft)),
            ),
            McpFormat::Opencode => {
                let server = json!({"type": "local", "command": [haft, "mcp"], "enabled": true});
                (
                    "json",
                    pretty(
                        &json!({"$schema": "https://opencode.ai/config.json", "mcp": {SERVER_NAME: server}}),
                    ),
                )
            }
            McpFormat::Goose => ("yaml", goose(&haft)),
            McpFormat::Vscode => {
                let mut server = server(&haft);
                server["type"] = "stdio".into();
                ("json", pretty(&json!({"servers": {SERVER_NAME: server}})))
            }
            McpFormat::Zed => {
                let mut server = server(&haft);
                server["env"] = json!({});
                ("json", pretty(&json!({"context_servers": {SERVER_NAME: server}})))
            }
        };
        McpConfig { file_name: format!("mcp.{extension}"), text }
    }
}

/// A generated MCP configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// Suggested file name.
    pub file_name: String,
    /// The text of the file.
    pub text: String,
}

impl McpConfig {
    /// Merges this configuration into an existing one, keeping all unrelated entries.
    ///
    /// # Errors
    /// Returns the reason if the existing configuration is not a JSON object.
    pub(crate) fn over(&self, base: &[u8]) -> Result<McpConfig, String> {
        let cannot = |error: serde_json::Error| format!("it is not plain JSON: {error}");
        let mut all: Value = serde_json::from_slice(base).map_err(cannot)?;
        if !all.is_object() {
            return Err("it is not a JSON object".to_owned());
        }
        merge(&mut all, serde_json::from_str(&self.text).map_err(cannot)?);
        Ok(McpConfig { file_name: self.file_name.clone(), text: pretty(&all) })
    }
}

/// Merges `over` into `base`, recursively.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

/// Returns the MCP configuration that gives an agent the `haft mcp` server, where `haft` is the path of the
/// executable. `agent_kind` is a known agent or the name of a format. Returns `None` if it is neither.
///
/// ```
/// let config = haft_launch::mcp_config("codex", "/usr/bin/haft".as_ref()).unwrap();
/// assert_eq!(config.text, "[mcp_servers.haft]\ncommand = \"/usr/bin/haft\"\nargs = [\"mcp\"]\n");
/// ```
pub fn mcp_config(agent_kind: &str, haft: &Path) -> Option<McpConfig> {
    let format = match agent_kind {
        "claude" | "gemini" | "qwen" | "cursor" | "cursor-agent" | "windsurf" | "cline" => {
            McpFormat::McpServers
        }
        other => McpFormat::named(other)?,
    };
    Some(format.render(haft))
}

/// All values that [`mcp_config`] accepts.
pub fn mcp_agent_kinds() -> impl Iterator<Item = &'static str> {
    ["claude", "gemini", "qwen", "cursor", "windsurf", "cline"].into_iter().chain(McpFormat::NAMES)
}

fn server(haft: &str) -> Value {
    json!({"command": haft, "args": ["mcp"]})
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Quotes a string in a way that is valid in JSON, TOML and YAML.
fn quote(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn goose(haft: &str) -> String {
    let haft = quote(haft);
    format!(
        "extensions:\n  {SERVER_NAME}:\n    name: {SERVER_NAME}\n    type: stdio\n    enabled: true\n    cmd: {haft}\n    \
         args: [\"mcp\"]\n    envs: {{}}\n    timeout: 300\n"
    )
}
