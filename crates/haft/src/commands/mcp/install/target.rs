//! The files in which agents keep their MCP servers.

use std::path::{Path, PathBuf};

use crate::process_context::ProcessContext;

/// An agent whose configuration can be edited.
#[derive(Debug)]
pub(super) struct InstallTarget {
    /// The name of the agent, which is also the name of its format.
    pub(super) agent: &'static str,
    /// The user's file: the directory, and the path below it.
    user: (ConfigBase, &'static str),
    /// The file in a project directory.
    project: Option<&'static str>,
}

/// The directory of an agent's configuration.
#[derive(Clone, Copy, Debug)]
enum ConfigBase {
    Home,
    /// `$XDG_CONFIG_HOME`, or `~/.config`.
    Config,
    /// The directory in an environment variable, or one below the home directory.
    Variable(&'static str, &'static str),
}

/// All agents whose configuration can be edited.
pub(super) const TARGETS: [InstallTarget; 10] = [
    InstallTarget {
        agent: "claude",
        user: (ConfigBase::Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json"),
        project: Some(".mcp.json"),
    },
    InstallTarget {
        agent: "codex",
        user: (ConfigBase::Variable("CODEX_HOME", ".codex"), "config.toml"),
        project: Some(".codex/config.toml"),
    },
    InstallTarget {
        agent: "cursor",
        user: (ConfigBase::Home, ".cursor/mcp.json"),
        project: Some(".cursor/mcp.json"),
    },
    InstallTarget {
        agent: "vscode",
        user: (ConfigBase::Config, "Code/User/mcp.json"),
        project: Some(".vscode/mcp.json"),
    },
    InstallTarget {
        agent: "zed",
        user: (ConfigBase::Config, "zed/settings.json"),
        project: Some(".zed/settings.json"),
    },
    InstallTarget {
        agent: "gemini",
        user: (ConfigBase::Home, ".gemini/settings.json"),
        project: Some(".gemini/settings.json"),
    },
    InstallTarget {
        agent: "qwen",
        user: (ConfigBase::Home, ".qwen/settings.json"),
        project: Some(".qwen/settings.json"),
    },
    InstallTarget {
        agent: "copilot",
        user: (ConfigBase::Variable("COPILOT_HOME", ".copilot"), "mcp-config.json"),
        project: None,
    },
    InstallTarget {
        agent: "opencode",
        user: (ConfigBase::Config, "opencode/opencode.json"),
        project: Some("opencode.json"),
    },
    InstallTarget {
        agent: "windsurf",
        user: (ConfigBase::Home, ".codeium/windsurf/mcp_config.json"),
        project: None,
    },
];

/// The configuration file of an agent that is not in [`TARGETS`].
const OTHER_FILES: [(&str, &str); 2] = [
    ("goose", "~/.config/goose/config.yaml"),
    ("cline", "cline_mcp_settings.json, which the MCP servers view of Cline opens"),
];

impl InstallTarget {
    pub(super) fn named(agent: &str) -> Option<&'static InstallTarget> {
        TARGETS.iter().find(|target| target.agent == agent)
    }

    /// The user's file. `None` without a home directory.
    pub(super) fn user_file(&self, process: &ProcessContext) -> Option<PathBuf> {
        let variable = |name: &str| process.variable(name).filter(|value| !value.is_empty());
        let home = || variable("HOME").map(PathBuf::from);
        let (base, path) = self.user;
        let base = match base {
            ConfigBase::Home => home(),
            ConfigBase::Config => {
                variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(home()?.join(".config")))
            }
            ConfigBase::Variable(name, below) => {
                variable(name).map(PathBuf::from).or_else(|| Some(home()?.join(below)))
            }
        };
        Some(base?.join(path))
    }

    /// The file in a project directory. `None` if the agent has none.
    pub(super) fn project_file(&self, directory: &Path) -> Option<PathBuf> {
        self.project.map(|path| directory.join(path))
    }
}

/// Describes where the configuration of an agent belongs.
pub(crate) fn describe_files(agent: &str, process: &ProcessContext) -> Option<String> {
    if let Some((_, file)) = OTHER_FILES.iter().find(|(name, _)| *name == agent) {
        return Some((*file).to_owned());
    }
    let target = InstallTarget::named(agent)?;
    let user = target.user_file(process)?;
    let user = haft_config::printable(&user).to_string();
    Some(match target.project {
        Some(project) => format!("{user}, or {project} in a project"),
        None => user,
    })
}
