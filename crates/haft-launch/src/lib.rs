//! Assembles the context of an agent and becomes it.
//!
//! A launch has five steps, and each is a value that can be looked at before the next:
//!
//! ```text
//!  sources ─▶ Catalogue ─▶ LaunchSelection ─▶ PromptAssembly ─▶ AssembledPrompt ─▶ LaunchPlan
//!  layers     read,        names        files       role and    every argument,
//!  of TOML    checked      found        read        prompt      variable and file
//! ```
//!
//! Only the commands that contexts are made of are run on the way, [side by side](run_commands) under supervision. What becomes
//! of a [`LaunchPlan`] is up to the program: haft's own writes the files and replaces itself by the agent.
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
//! let material = assembly.finish(&[])?;
//! let plan = LaunchPlan::new(&selection, &request, &material, &facts, "/tmp/launch".as_ref())?;
//! assert_eq!(plan.argv, ["echo", "--", "say {model}, $(date)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! PlaceholderValues are inserted once. Whatever a file, a command or a user says, it is not looked at for placeholders again, and it is
//! never text for a shell.
//!
//! # Limits
//!
//! What an agent's definition says about its program is believed. A file is read up to 16 MiB, a command's output up to one.
//! Prompts are bytes; where an agent wants a JSON string (`{role:json}`), what is no UTF-8 is replaced.

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
pub use assembly::{AssembledPrompt, PromptAssembly};
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
