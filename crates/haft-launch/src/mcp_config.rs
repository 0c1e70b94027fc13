//! MCP configuration in the forms that agents read, each giving them `haft mcp`.

use std::path::Path;

use serde_json::{Value, json};

/// The name that agents know the server by.
const SERVER: &str = "haft";

/// A form of MCP configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum McpFormat {
    /// A JSON object `mcpServers`, which most agents read.
    #[default]
    McpServers,
    /// The same, with what GitHub's agent wants to know besides.
    Copilot,
    /// TOML tables `mcp_servers`.
    Codex,
    /// A JSON object `mcp`.
    Opencode,
    /// YAML `extensions`.
    Goose,
}

impl McpFormat {
    pub(crate) const NAMES: [&str; 5] = ["mcpServers", "copilot", "codex", "opencode", "goose"];

    pub(crate) fn named(name: &str) -> Option<McpFormat> {
        Some(match name {
            "mcpServers" => McpFormat::McpServers,
            "copilot" => McpFormat::Copilot,
            "codex" => McpFormat::Codex,
            "opencode" => McpFormat::Opencode,
            "goose" => McpFormat::Goose,
            _ => return None,
        })
    }

    /// The configuration that names the program at `haft`.
    pub(crate) fn render(self, haft: &Path) -> McpConfig {
        let haft = haft.to_string_lossy();
        let (extension, text) = match self {
            McpFormat::McpServers => ("json", pretty(&json!({"mcpServers": {SERVER: server(&haft)}}))),
            McpFormat::Copilot => {
                let mut server = server(&haft);
                server["type"] = "local".into();
                server["tools"] = json!(["*"]);
                ("json", pretty(&json!({"mcpServers": {SERVER: server}})))
            }
            McpFormat::Codex => {
                ("toml", format!("[mcp_servers.{SERVER}]\ncommand = {}\nargs = [\"mcp\"]\n", quote(&haft)))
            }
            McpFormat::Opencode => {
                let server = json!({"type": "local", "command": [haft, "mcp"], "enabled": true});
                (
                    "json",
                    pretty(&json!({"$schema": "https://opencode.ai/config.json", "mcp": {SERVER: server}})),
                )
            }
            McpFormat::Goose => ("yaml", goose(&haft)),
        };
        McpConfig { file_name: format!("mcp.{extension}"), text }
    }
}

/// A generated MCP configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfig {
    /// What a file of it is best called.
    pub file_name: String,
    /// The configuration itself.
    pub text: String,
}

impl McpConfig {
    /// The same on top of another one, which keeps everything that is not about haft.
    ///
    /// # Errors
    /// In a few words, why the two cannot be put together.
    pub(crate) fn over(&self, base: &[u8]) -> Result<McpConfig, String> {
        let cannot = |error: serde_json::Error| format!("it is not plain JSON: {error}");
        let mut all: Value = serde_json::from_slice(base).map_err(cannot)?;
        if !all.is_object() {
            return Err("it is no JSON object".to_owned());
        }
        merge(&mut all, serde_json::from_str(&self.text).map_err(cannot)?);
        Ok(McpConfig { file_name: self.file_name.clone(), text: pretty(&all) })
    }
}

/// Puts a value over another, key by key.
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

/// The MCP configuration that gives an agent of some kind `haft mcp`, where `haft` is the path of the program. The kind is
/// the name of an agent that is known by default, or of a form; `None` if it is neither, or has no MCP.
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

/// The kinds of agents that [`mcp_config`] knows.
pub fn mcp_agent_kinds() -> impl Iterator<Item = &'static str> {
    ["claude", "gemini", "qwen", "cursor", "windsurf", "cline"].into_iter().chain(McpFormat::NAMES)
}

fn server(haft: &str) -> Value {
    json!({"command": haft, "args": ["mcp"]})
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// A string as JSON, TOML and YAML all read it.
fn quote(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn goose(haft: &str) -> String {
    let haft = quote(haft);
    format!(
        "extensions:\n  {SERVER}:\n    name: {SERVER}\n    type: stdio\n    enabled: true\n    cmd: {haft}\n    \
         args: [\"mcp\"]\n    envs: {{}}\n    timeout: 300\n"
    )
}
