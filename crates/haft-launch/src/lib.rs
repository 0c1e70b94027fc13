//! Assembles an agent's role and prompt, and plans its launch.
//!
//! A launch has five steps. Each produces a value that can be inspected before the next:
//!
//! ```text
//!  sources ─▶ Catalogue ─▶ LaunchSelection ─▶ PromptAssembly ─▶ AssembledPrompt ─▶ LaunchPlan
//!  TOML       parsed and   names            files read,       role and          arguments,
//!  layers     checked      resolved         commands listed   prompt            variables, files
//! ```
//!
//! The only programs that run during these steps are the commands of roles, contexts and tasks.
//! [`run_commands`] runs them in parallel under supervision. The caller decides what to do with a
//! [`LaunchPlan`]; the `haft` binary writes the files and replaces itself with the agent.
//!
//! ```
//! use haft_config::{Layer, ConfigSource};
//! use haft_launch::{PromptAssembly, Catalogue, LaunchPlan, LaunchRequest, HostFacts};
//!
//! let text = r#"
//! [[agent]]
//! name = "echo"
//! command = ["{bin}", ["--model", "{model}"], ["--", "{prompt}"]]
//! "#;
//! let source = ConfigSource { layer: Layer::User, name: "config.toml".into(), path: None, text: text.into() };
//! let catalogue = Catalogue::read([source])?;
//!
//! let request = LaunchRequest {
//!     agent: Some("echo".into()),
//!     instructions: Some(b"say {model}, $(date)".to_vec()),
//!     ..LaunchRequest::default()
//! };
//! let facts = HostFacts { working_directory: "/".into(), ..HostFacts::default() };
//! let selection = catalogue.select(&request, &facts)?;
//! let assembly = PromptAssembly::new(&selection, &request, &facts);
//! assert!(assembly.commands().is_empty());
//! let prompt = assembly.finish(&[])?;
//! let plan = LaunchPlan::new(&selection, &request, &prompt, &facts, "/tmp/launch".as_ref())?;
//! assert_eq!(plan.argv, ["echo", "--", "say {model}, $(date)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Values are inserted once: text from a file, a command or the user is never searched for placeholders, and
//! a shell never parses it.
//!
//! # Limits
//!
//! haft does not verify an agent's definition. It reads at most 16 MiB of a file and uses at most 1 MiB of a
//! command's output. Prompts are bytes; where an agent needs a JSON string (`{role:json}`), invalid UTF-8 is
//! replaced.

mod agent;
mod assembly;
mod catalogue;
mod config_types;
mod context_command;
mod describe;
mod error;
mod host_facts;
mod invocation;
mod launch_files;
mod mcp_config;
mod name_lookup;
mod plan;
mod selection;
mod template;
mod text_file;
mod text_source;
mod trust;

pub use agent::{Agent, PromptDelivery};
pub use assembly::{AssembledPrompt, PromptAssembly, PromptPiece};
pub use catalogue::{AgentRole, Catalogue, LaunchTask, PromptContext, embedded};
pub use context_command::{CommandResult, ContextCommand, run_commands};
pub use error::{Error, ErrorKind};
pub use host_facts::HostFacts;
pub use launch_files::{LaunchFiles, remove_stale_files};
pub use mcp_config::{McpConfig, mcp_agent_kinds, mcp_config};
pub use plan::LaunchPlan;
pub use selection::{LaunchKind, LaunchRequest, LaunchSelection};
pub use template::{AGENT_PLACEHOLDERS, TEMPLATE_PLACEHOLDERS};
pub use text_source::{DEFAULT_TIMEOUT, TextSource};
pub use trust::trust_status;
